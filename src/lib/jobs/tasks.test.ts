import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backOff, createKeyedMutex, repeat, repeatAfterPause, withTimeLimit } from './tasks.ts';

describe('a task repeated at an interval', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('runs at regular intervals until it is stopped', async () => {
    const task = vi.fn();
    const repeated = repeat(100, task, () => {});
    await vi.advanceTimersByTimeAsync(350);
    expect(task).toHaveBeenCalledTimes(3);
    await repeated.stop();
    await vi.advanceTimersByTimeAsync(500);
    expect(task).toHaveBeenCalledTimes(3);
  });

  it('never runs twice at the same time, and continues after an error', async () => {
    const first = Promise.withResolvers<void>();
    const task = vi.fn().mockReturnValueOnce(first.promise);
    const onError = vi.fn();
    const repeated = repeat(100, task, onError);
    await vi.advanceTimersByTimeAsync(350);
    expect(task).toHaveBeenCalledTimes(1);
    first.reject(new Error('no'));
    await vi.advanceTimersByTimeAsync(100);
    expect(onError).toHaveBeenCalledWith(new Error('no'));
    expect(task).toHaveBeenCalledTimes(2);
    await repeated.stop();
  });

  it('is aborted and waited for on stop', async () => {
    let ended = false;
    const repeated = repeat(
      100,
      async (signal: AbortSignal) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        ended = true;
      },
      () => {},
    );
    await vi.advanceTimersByTimeAsync(100);
    await repeated.stop();
    expect(ended).toBe(true);
  });

  it('runs at once on request, and once more if requested during a run', async () => {
    const first = Promise.withResolvers<void>();
    const task = vi.fn().mockReturnValueOnce(first.promise);
    const repeated = repeat(100, task, () => {});
    repeated.runNow();
    repeated.runNow();
    repeated.runNow();
    expect(task).toHaveBeenCalledTimes(1);
    first.resolve();
    await vi.advanceTimersByTimeAsync(50);
    expect(task).toHaveBeenCalledTimes(2);
    await repeated.stop();
    repeated.runNow();
    expect(task).toHaveBeenCalledTimes(2);
  });
});

describe('a task repeated after pauses', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('pauses after the end of each run, each time for as long as the caller says', async () => {
    const pauses = [10, 500, 20];
    const first = Promise.withResolvers<void>();
    const task = vi.fn().mockReturnValueOnce(first.promise);
    const repeated = repeatAfterPause(
      () => pauses.shift() ?? 1_000_000,
      task,
      () => {},
    );
    await vi.advanceTimersByTimeAsync(10);
    expect(task).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1000);
    first.resolve();
    await vi.advanceTimersByTimeAsync(499);
    expect(task).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(task).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(20);
    expect(task).toHaveBeenCalledTimes(3);
    await repeated.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('runs early on request, and continues after an error', async () => {
    const task = vi.fn().mockRejectedValueOnce(new Error('no'));
    const onError = vi.fn();
    const repeated = repeatAfterPause(() => 100, task, onError);
    await vi.advanceTimersByTimeAsync(60);
    await repeated.runNow();
    expect(onError).toHaveBeenCalledWith(new Error('no'));
    await vi.advanceTimersByTimeAsync(99);
    expect(task).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(task).toHaveBeenCalledTimes(2);
    await repeated.stop();
    await repeated.runNow();
    await vi.advanceTimersByTimeAsync(1000);
    expect(task).toHaveBeenCalledTimes(2);
  });
});

describe('a time limit', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('passes on the result or failure of work that ends in time', async () => {
    expect(await withTimeLimit(100, Promise.resolve(1), () => 'late')).toBe(1);
    await expect(withTimeLimit(100, Promise.reject(new Error('no')), () => 'late')).rejects.toThrow('no');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('returns a fallback or throws when work takes longer, and ignores the work’s later failure', async () => {
    const work = Promise.withResolvers<number>();
    const answer = withTimeLimit(100, work.promise, () => 'late');
    const failure = withTimeLimit(100, work.promise, () => {
      throw new Error('too late');
    });
    failure.catch(() => {});
    await vi.advanceTimersByTimeAsync(100);
    expect(await answer).toBe('late');
    await expect(failure).rejects.toThrow('too late');
    work.reject(new Error('no'));
    await vi.advanceTimersByTimeAsync(0);
  });
});

describe('waiting before another try', () => {
  it('gets longer with each try, with jitter, up to a maximum', () => {
    expect([1, 2, 3, 20, 500].map((attempt) => backOff(attempt, 100, 5000, () => 1))).toEqual([
      100, 200, 400, 5000, 5000,
    ]);
    expect(backOff(3, 100, 5000, () => 0)).toBe(200);
  });
});

it('a keyed mutex runs work for one key in order, other keys in parallel, and continues after a failure', async () => {
  const withLock = createKeyedMutex();
  const events: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = withLock('a', async () => {
    await gate.promise;
    events.push('first');
    throw new Error('failed');
  });
  const second = withLock('a', async () => {
    events.push('second');
    return 2;
  });
  expect(await withLock('b', async () => events.push('other'))).toBe(1);
  gate.resolve();
  await expect(first).rejects.toThrow('failed');
  expect(await second).toBe(2);
  expect(events).toEqual(['other', 'first', 'second']);
  expect(await withLock('a', async () => 3)).toBe(3);
});
