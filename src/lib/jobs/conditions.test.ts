import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createConditions } from './conditions.ts';

describe('waiting for a condition', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('ends when the condition holds at a check', async () => {
    const conditions = createConditions();
    let number = 1;
    expect(await conditions.until(() => number === 1)).toBe(true);
    const second = conditions.until(() => number === 2, 100);
    const third = conditions.until(() => number === 3);
    number = 2;
    conditions.check();
    expect(await second).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    number = 3;
    conditions.check();
    expect(await third).toBe(true);
  });

  it('ends after the time limit', async () => {
    const conditions = createConditions();
    const waiting = conditions.until(() => false, 100);
    conditions.check();
    await vi.advanceTimersByTimeAsync(100);
    expect(await waiting).toBe(false);
  });
});
