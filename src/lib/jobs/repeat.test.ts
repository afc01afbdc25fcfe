import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { repeat } from './repeat.ts';

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

it('runs one at a time, and goes on after an error', async () => {
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

it('aborts the run under way and waits for it', async () => {
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
