import { expect, it } from 'vitest';
import { AcquireTimeoutError, openQueue } from './php-queue.ts';

it('the PHP queue serves callers in order of arrival, those with priority first', async () => {
  const queue = openQueue(1, 10_000);
  const served: string[] = [];
  const visit = async (name: string, priority: boolean) => {
    const release = await queue.acquire(priority);
    served.push(name);
    release();
  };
  const release = await queue.acquire(false);
  const all = Promise.all([
    visit('editor 1', false),
    visit('editor 2', false),
    visit('site 1', true),
    visit('editor 3', false),
    visit('site 2', true),
  ]);
  release();
  await all;
  expect(served).toEqual(['site 1', 'site 2', 'editor 1', 'editor 2', 'editor 3']);
});

it('the PHP queue hands out each instance once, even if a caller releases it twice', async () => {
  const queue = openQueue(2, 10);
  const first = await queue.acquire(false);
  await queue.acquire(false);
  first();
  first();
  await queue.acquire(false);
  await expect(queue.acquire(true)).rejects.toBeInstanceOf(AcquireTimeoutError);
});

it('the PHP queue drops a caller whose wait has timed out', async () => {
  const queue = openQueue(1, 10);
  const release = await queue.acquire(false);
  await expect(queue.acquire(false)).rejects.toThrow('10 ms');
  release();
  (await queue.acquire(false))();
});
