import { expect, it } from 'vitest';
import { createKeyedMutex } from './keyed-mutex.ts';

it('runs work under one key in order, work under other keys meanwhile, and goes on after a failure', async () => {
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
