import { afterEach, describe, expect, it, vi } from 'vitest';
import { silent } from '../logging.ts';
import {
  createWorkerPool,
  PoolBusy,
  PoolClosed,
  ThreadLost,
  type WorkerPool,
  type WorkerPoolOptions,
} from './pool.server.ts';

/** A thread that performs `slow` after 50 ms, ends at `end`, never answers `block`, fails at `throw`, and asks the main thread at `ask`. */
const scripted = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    let asking = null;
    parentPort.on('message', (message) => {
      if ('reply' in message) return parentPort.postMessage({ id: asking, result: message.value });
      const { id, task } = message;
      if (task === 'end') process.exit(1);
      if (task === 'throw') return parentPort.postMessage({ id, failure: 'thrown' });
      if (task === 'ask') {
        asking = id;
        return parentPort.postMessage({ call: 1, request: 'size' });
      }
      if (task === 'block') return;
      const result = task + '!';
      if (task === 'slow') setTimeout(() => parentPort.postMessage({ id, result }), 50);
      else parentPort.postMessage({ id, result });
    });
  `)}`,
);

let pool: WorkerPool<string, unknown> | null = null;
afterEach(async () => {
  vi.restoreAllMocks();
  await pool?.close();
});

function open(options: Partial<WorkerPoolOptions<string, unknown>> = {}): WorkerPool<string, unknown> {
  pool = createWorkerPool<string, unknown>({
    name: 'test',
    module: scripted,
    resourceLimits: {},
    runLocally: (task) => `local ${task}`,
    log: silent,
    ...options,
  });
  return pool;
}

const outcomes = async (runs: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(runs)).map((each) => (each.status === 'fulfilled' ? each.value : each.reason.constructor));

describe('a worker pool', () => {
  it('runs tasks in a thread, passes on failures, and responds to a thread’s requests', async () => {
    const { run } = open({ onCall: async (request) => `${request} of the main thread` });
    expect(await run('a')).toBe('a!');
    await expect(run('throw')).rejects.toThrow('thrown');
    expect(await run('ask')).toBe('size of the main thread');
  });

  it('rejects a task that cannot be cloned for a thread, and continues', async () => {
    const { run } = open({ payload: (task) => (task === 'uncopied' ? () => {} : task) });
    await expect(run('uncopied')).rejects.toThrow('could not be cloned');
    expect(await run('a')).toBe('a!');
  });

  it('starts a second thread when more tasks wait than one thread takes', async () => {
    const { run } = open({ maxThreads: 2 });
    const blocked = outcomes([run('block')]);
    expect(await Promise.all([run('a'), run('b')])).toEqual(['a!', 'b!']);
    await pool?.close();
    expect(await blocked).toEqual([PoolClosed]);
  });

  it('rejects the task that a lost thread was running, and runs the others', async () => {
    const { run } = open();
    await run('a');
    expect(await outcomes([run('end'), run('b')])).toEqual([ThreadLost, 'b!']);
  });

  it('retries a lost thread’s tasks one by one, so that only the faulty one fails', async () => {
    const { run } = open({ tasksPerThread: 3, maxTries: 2 });
    await run('a');
    expect(await outcomes(['slow', 'end', 'b'].map(run))).toEqual(['slow!', ThreadLost, 'b!']);
  });

  it('limits how many tasks wait, and for how long', async () => {
    const { run } = open({ maxWaiting: 1 });
    expect(await outcomes(['slow', 'a', 'b'].map(run))).toEqual(['slow!', 'a!', PoolBusy]);
    await pool?.close();
    // A clock of the test's own: on a busy machine the start of the thread alone may take longer than the limit.
    let clock = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => clock);
    const hasty = open({ maxWaitMs: 1000 });
    const inTime = outcomes(['slow', 'b'].map(hasty.run));
    clock += 1000;
    expect(await inTime).toEqual(['slow!', 'b!']);
    const late = outcomes(['slow', 'b'].map(hasty.run));
    clock += 1001;
    expect(await late).toEqual(['slow!', PoolBusy]);
  });

  it('runs tasks in the calling thread if threads do not start', async () => {
    const { run } = open({ module: new URL('data:text/javascript,throw new Error("no threads")') });
    expect(await outcomes(['a', 'b'].map(run))).toEqual(['local a', 'local b']);
  });

  it('rejects waiting and later tasks once it is closed', async () => {
    const { run, close } = open();
    const left = outcomes(['slow', 'a'].map(run));
    await close();
    expect(await left).toEqual([PoolClosed, PoolClosed]);
    expect(await outcomes([run('a')])).toEqual([PoolClosed]);
  });
});
