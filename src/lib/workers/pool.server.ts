/**
 * Worker pool: runs tasks in threads, so that the main thread continues to render and answer. A lost thread is replaced; where
 * threads can't start at all, tasks run in the calling thread.
 *
 * Why not `piscina`: tasks can call the main thread while they run (`onCall`), a task of a lost thread is retried alone in a new
 * thread, and compressing a page in a pool must cost the main thread less than libuv's own threads do.
 */
import { parentPort, type ResourceLimits, type Transferable, Worker } from 'node:worker_threads';
import type { Logger } from '../logging.ts';

/** The pool was closed before the task was done. */
export class PoolClosed extends Error {
  override readonly name = 'PoolClosed';
}

/** Too many tasks wait, or this one waited too long for a thread. */
export class PoolBusy extends Error {
  override readonly name = 'PoolBusy';
}

/** The thread ended while it performed the task. */
export class ThreadLost extends Error {
  override readonly name = 'ThreadLost';
}

export interface WorkerPoolOptions<Task, Result> {
  /** What the threads do, for the log: `search`. */
  readonly name: string;
  /** A module that calls `serveTasks` (below). */
  readonly module: URL;
  readonly workerData?: unknown;
  readonly resourceLimits: ResourceLimits;
  /** Performs a task in the calling thread; used when no thread has ever started. */
  readonly runLocally: (task: Task) => Result | Promise<Result>;
  /** The data that is sent for a task, made when its turn comes; by default the task itself. */
  readonly payload?: (task: Task) => unknown;
  /** Answers a thread's request during a task. */
  readonly onCall?: (request: unknown) => Promise<unknown>;
  readonly log: Logger;
  /** Default 1. */
  readonly maxThreads?: number;
  /** Tasks that one thread has at a time (default 1). */
  readonly tasksPerThread?: number;
  /** How often a task is tried if its thread is lost (default 1). A second try has its own thread. */
  readonly maxTries?: number;
  /** Tasks that may wait for a thread (default: any number). */
  readonly maxWaiting?: number;
  /** Milliseconds that a task may wait for a thread (default: any time). */
  readonly maxWaitMs?: number;
}

export interface WorkerPool<Task, Result> {
  /** @throws PoolBusy, PoolClosed, ThreadLost, or Error with the message of what the task threw */
  run(task: Task): Promise<Result>;
  /** Ends all threads. Tasks that are not done reject with PoolClosed. */
  close(): Promise<void>;
}

interface Job<Task, Result> {
  readonly task: Task;
  readonly since: number;
  tries: number;
  resolve(result: Result): void;
  reject(error: Error): void;
}

interface Thread<Task, Result> {
  readonly worker: Worker;
  readonly jobs: Map<number, Job<Task, Result>>;
  idle: NodeJS.Timeout | null;
}

interface Pool<Task, Result> {
  readonly options: WorkerPoolOptions<Task, Result>;
  readonly waiting: Job<Task, Result>[];
  readonly threads: Set<Thread<Task, Result>>;
  lastId: number;
  /** Whether any thread has ever finished a task; if not, a lost thread means that threads don't work here. */
  hasWorked: boolean;
  withoutThreads: boolean;
  closed: boolean;
}

/** Creates a pool; its first thread starts with the first task. */
export function createWorkerPool<Task, Result>(options: WorkerPoolOptions<Task, Result>): WorkerPool<Task, Result> {
  const pool: Pool<Task, Result> = {
    options,
    waiting: [],
    threads: new Set(),
    lastId: 0,
    hasWorked: false,
    withoutThreads: false,
    closed: false,
  };
  const { maxWaiting = Number.POSITIVE_INFINITY } = options;
  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        if (pool.closed) return reject(new PoolClosed(`${options.name}: the pool is closed.`));
        if (pool.waiting.length >= maxWaiting) return reject(new PoolBusy(`${options.name}: too many tasks wait.`));
        pool.waiting.push({ task, since: performance.now(), tries: 0, resolve, reject });
        dispatch(pool);
      }),
    close: () => close(pool),
  };
}

/** Gives waiting tasks to threads with room, and starts another thread when more wait than one thread takes. */
function dispatch<Task, Result>(pool: Pool<Task, Result>): void {
  const { maxThreads = 1, tasksPerThread = 1 } = pool.options;
  if (pool.closed) return;
  if (pool.withoutThreads) {
    for (const job of pool.waiting.splice(0)) runHere(pool, job);
    return;
  }
  for (const thread of pool.threads) fillThread(pool, thread);
  const wantsMore = pool.waiting.length > (pool.threads.size === 0 ? 0 : tasksPerThread);
  if (wantsMore && pool.threads.size < maxThreads) startThread(pool);
}

function fillThread<Task, Result>(pool: Pool<Task, Result>, thread: Thread<Task, Result>): void {
  const { name, maxWaitMs = Number.POSITIVE_INFINITY } = pool.options;
  for (let job = pool.waiting[0]; job && hasRoom(pool, thread, job); job = pool.waiting[0]) {
    pool.waiting.shift();
    if (performance.now() - job.since > maxWaitMs) job.reject(new PoolBusy(`${name}: the task waited too long.`));
    else send(pool, thread, job);
  }
}

/** A task whose thread was lost gets its own thread, so that no other task is lost with it. */
function hasRoom<Task, Result>(
  pool: Pool<Task, Result>,
  thread: Thread<Task, Result>,
  job: Job<Task, Result>,
): boolean {
  const alone = job.tries > 0 || [...thread.jobs.values()].some(({ tries }) => tries > 0);
  return thread.jobs.size < (alone ? 1 : (pool.options.tasksPerThread ?? 1));
}

function send<Task, Result>(pool: Pool<Task, Result>, thread: Thread<Task, Result>, job: Job<Task, Result>): void {
  if (thread.idle) clearTimeout(thread.idle);
  thread.idle = null;
  const id = ++pool.lastId;
  try {
    const task = pool.options.payload?.(job.task) ?? job.task;
    thread.worker.postMessage({ id, task } satisfies ToThread<unknown>);
  } catch (error) {
    // Data that can't be copied to a thread is the caller's error; the job's place in the thread is freed.
    job.reject(error as Error);
    return;
  }
  thread.jobs.set(id, job);
  // While a thread has a task, the process must stay alive.
  thread.worker.ref();
}

function startThread<Task, Result>(pool: Pool<Task, Result>): void {
  const { module, workerData, resourceLimits, onCall } = pool.options;
  const worker = new Worker(module, { workerData, resourceLimits });
  worker.unref();
  const thread: Thread<Task, Result> = { worker, jobs: new Map(), idle: null };
  pool.threads.add(thread);
  worker.on('message', (message: FromThread<Result>) => {
    if ('call' in message) {
      const reply = (value: unknown): void =>
        worker.postMessage({ reply: message.call, value } satisfies ToThread<never>);
      Promise.resolve(onCall?.(message.request) ?? null).then(reply, () => reply(null));
    } else finish(pool, thread, message);
  });
  worker.on('error', (error) => onThreadLost(pool, thread, error));
  worker.on('exit', (code) => onThreadLost(pool, thread, `it ended with ${code}`));
  fillThread(pool, thread);
}

function finish<Task, Result>(
  pool: Pool<Task, Result>,
  thread: Thread<Task, Result>,
  message: Exclude<FromThread<Result>, { call: number }>,
): void {
  const job = thread.jobs.get(message.id);
  thread.jobs.delete(message.id);
  pool.hasWorked = true;
  if (job && 'result' in message) job.resolve(message.result);
  else if (job && 'failure' in message) job.reject(new Error(message.failure));
  dispatch(pool);
  if (thread.jobs.size > 0) return;
  thread.worker.unref();
  if (pool.threads.size > 1) thread.idle = setTimeout(() => endIdle(pool, thread), idleMs).unref();
}

function endIdle<Task, Result>(pool: Pool<Task, Result>, thread: Thread<Task, Result>): void {
  if (thread.jobs.size > 0 || pool.threads.size === 1) return;
  pool.threads.delete(thread);
  void thread.worker.terminate();
}

function onThreadLost<Task, Result>(pool: Pool<Task, Result>, thread: Thread<Task, Result>, cause: unknown): void {
  if (!pool.threads.delete(thread) || pool.closed) return;
  const { name, log, maxTries = 1 } = pool.options;
  const jobs = [...thread.jobs.values()];
  thread.jobs.clear();
  if (!pool.hasWorked) {
    pool.withoutThreads = true;
    log.error(
      { pool: name, cause: String(cause) },
      "Worker threads don't start here; the work is done in the main thread",
    );
    pool.waiting.unshift(...jobs);
  } else {
    log.error({ pool: name, cause: String(cause) }, 'A worker thread was lost and is replaced');
    for (const job of jobs) {
      if (++job.tries < maxTries) pool.waiting.unshift(job);
      else job.reject(new ThreadLost(`${name}: the thread was lost: ${String(cause)}`));
    }
  }
  dispatch(pool);
}

function runHere<Task, Result>({ options }: Pool<Task, Result>, { task, resolve, reject }: Job<Task, Result>): void {
  Promise.try(options.runLocally, task).then(resolve, reject);
}

async function close<Task, Result>(pool: Pool<Task, Result>): Promise<void> {
  pool.closed = true;
  const threads = [...pool.threads];
  const left = [...threads.flatMap(({ jobs }) => [...jobs.values()]), ...pool.waiting.splice(0)];
  for (const job of left) job.reject(new PoolClosed(`${pool.options.name}: the pool is closed.`));
  pool.threads.clear();
  await Promise.all(threads.map(({ worker }) => worker.terminate()));
}

// Code for the worker thread: a `*.worker.ts` module calls `serveTasks` once.

/** Milliseconds without a task after which an additional thread ends. */
const idleMs = 20_000;
const calls = new Map<number, (value: unknown) => void>();
let lastCall = 0;

function port(): NonNullable<typeof parentPort> {
  if (!parentPort) throw new Error('A *.worker.ts module runs in a worker thread; a worker pool starts it.');
  return parentPort;
}

/**
 * Performs the tasks that the pool sends. @param transfer memory that is transferred to the main thread with a result instead of being
 * copied
 */
export function serveTasks<Task, Result>(
  perform: (task: Task) => Result | Promise<Result>,
  transfer: (result: Result) => readonly Transferable[] = () => [],
): void {
  const send = (message: FromThread<Result>, list: readonly Transferable[] = []): void =>
    port().postMessage(message, list);

  async function work(id: number, task: Task): Promise<void> {
    try {
      const result = await perform(task);
      send({ id, result }, transfer(result));
    } catch (error) {
      send({ id, failure: error instanceof Error ? error.message : String(error) });
    }
  }

  port().on('message', (message: ToThread<Task>) => {
    if ('task' in message) {
      void work(message.id, message.task);
      return;
    }
    calls.get(message.reply)?.(message.value);
    calls.delete(message.reply);
  });
}

/** Calls the main thread during a task; the pool's `onCall` answers. `null`: no answer. */
export function askMainThread(request: unknown): Promise<unknown> {
  return new Promise((resolve) => {
    calls.set(++lastCall, resolve);
    port().postMessage({ call: lastCall, request } satisfies FromThread<never>);
  });
}

/** A message from the pool to its thread. */
export type ToThread<Task> =
  | { readonly id: number; readonly task: Task }
  | { readonly reply: number; readonly value: unknown };

/** A message from a thread to its pool. */
export type FromThread<Result> =
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly failure: string }
  /** A thread's request to the main thread, see `askMainThread`. */
  | { readonly call: number; readonly request: unknown };
