import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFairQueue, type FairQueueOptions, QueueFull } from './fair-queue.ts';

/** A queue whose jobs end when the test says so. */
function setUp(options: Partial<FairQueueOptions> = {}) {
  const queue = createFairQueue({ atOnce: 2, perClient: 1, waitingPerClient: 100, waiting: 1000, ...options });
  const started: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const add = (client: string, name: string) => {
    const gate = Promise.withResolvers<void>();
    gates.set(name, gate);
    return queue.run(client, async () => {
      started.push(name);
      await gate.promise;
      return name;
    });
  };
  const end = async (name: string) => {
    gates.get(name)?.resolve();
    await turn();
  };
  return { queue, started, gates, add, end };
}

describe('the fair queue', () => {
  it('starts another client’s job at once while one client has many', async () => {
    const { started, add, end } = setUp();
    for (let number = 0; number < 24; number++) void add('crowd', `c${number}`);
    await turn();
    expect(started).toEqual(['c0']);
    const mine = add('reader', 'r');
    await turn();
    expect(started).toEqual(['c0', 'r']);
    await end('r');
    expect(await mine).toBe('r');
    await end('c0');
    expect(started).toEqual(['c0', 'r', 'c1']);
  });

  it('takes turns among waiting clients', async () => {
    const { started, add, end } = setUp({ atOnce: 1 });
    for (const name of ['a0', 'a1', 'a2', 'b0', 'b1', 'c0']) void add(name.slice(0, 1), name);
    await turn();
    for (let at = 0; at < 6; at++) await end(started[at] ?? '');
    expect(started).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
  });

  it('starts the next job after one fails', async () => {
    const { queue, started, add, end } = setUp({ atOnce: 1 });
    await expect(queue.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    void add('a', 'next');
    await turn();
    expect(started).toEqual(['next']);
    await end('next');
    expect(queue.length).toBe(0);
  });

  it('refuses jobs over the limit per client and over the total limit', async () => {
    const { queue, add } = setUp({ atOnce: 1, waitingPerClient: 2, waiting: 3 });
    for (const name of ['a0', 'a1', 'a2']) void add('a', name);
    await turn();
    await expect(add('a', 'a3')).rejects.toThrow(QueueFull);
    void add('b', 'b0');
    await turn();
    expect(queue.length).toBe(3);
    await expect(add('c', 'c0')).rejects.toThrow(QueueFull);
  });
});
