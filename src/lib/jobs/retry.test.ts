import { describe, expect, it } from 'vitest';
import { backOff, retryAfter } from './retry.ts';

describe('waiting', () => {
  it('grows with the tries, with jitter, up to a bound', () => {
    expect([1, 2, 3, 20, 500].map((attempt) => backOff(attempt, 100, 5000, () => 1))).toEqual([
      100, 200, 400, 5000, 5000,
    ]);
    expect(backOff(3, 100, 5000, () => 0)).toBe(200);
  });
  it('reads Retry-After in seconds and as a date', () => {
    const now = Date.UTC(2026, 10, 21, 12);
    expect(retryAfter('120', now)).toBe(120_000);
    expect(retryAfter('Sat, 21 Nov 2026 12:00:30 GMT', now)).toBe(30_000);
    expect(retryAfter('Sat, 21 Nov 2026 11:00:00 GMT', now)).toBe(0);
    expect(retryAfter('soon', now)).toBeNull();
    expect(retryAfter(null, now)).toBeNull();
  });
});
