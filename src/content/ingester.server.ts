/**
 * Ingest off the main thread: sanitising takes milliseconds for each document, and rendering must not wait for it. One thread
 * stays warm, so that a publish is quick; a second helps with a back-fill and goes away when it has nothing to do.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../lib/logging.ts';
import type { IngestedComment, IngestedDocument } from './documents.ts';
import type { IngestContext, Ingested } from './ingest.server.ts';
import type { Done, FromWorker, Task, ToWorker } from './ingest-messages.ts';
import type { LocalWorker } from './ingest-task.server.ts';
import type { DocumentType } from './model.ts';

/** The ingester was closed while it had work; the document itself is not to blame. */
export class IngestClosed extends Error {
  constructor() {
    super('ingest is closed');
    this.name = 'IngestClosed';
  }
}

export interface Ingester {
  document(type: DocumentType, raw: unknown, preview?: boolean): Promise<Ingested<IngestedDocument>>;
  comment(raw: unknown): Promise<Ingested<IngestedComment>>;
  /** Plain text of each, one line. */
  lines(texts: readonly string[]): Promise<string[]>;
  close(): Promise<void>;
}

/** The same questions, whatever carries them out. */
const asking = (run: (what: Task) => Promise<Done>): Omit<Ingester, 'close'> => ({
  document: (type, raw, preview = false) =>
    run({ kind: 'document', type, raw, preview }) as Promise<Ingested<IngestedDocument>>,
  comment: (raw) => run({ kind: 'comment', raw }) as Promise<Ingested<IngestedComment>>,
  lines: (texts) => run({ kind: 'lines', texts }) as Promise<string[]>,
});

/** Ingests in this thread. The DOM is loaded with the first task: a process with threads never needs its 60 MB. */
export function createLocalIngester(context: IngestContext): Ingester {
  let worker: Promise<LocalWorker> | null = null;
  const load = (): Promise<LocalWorker> => {
    worker ??= import('./ingest-task.server.ts').then(({ createLocalWorker }) => createLocalWorker(context));
    return worker;
  };
  return {
    ...asking(async (what) => (await load()).perform(what)),
    async close() {
      if (worker) (await worker).close();
    },
  };
}

interface Job {
  readonly what: Task;
  resolve(result: Done): void;
  reject(error: Error): void;
  tries: number;
}

/** Documents that one thread has in hand at a time; more than one, because measuring pictures means waiting. */
const inHand = 4;
const idleMs = 20_000;

/**
 * Ingests in threads of its own.
 *
 * @param module what runs in a thread; another one in tests
 */
export function createThreadedIngester(
  context: IngestContext,
  log: Logger,
  module: URL = new URL('./ingest.worker.ts', import.meta.url),
): Ingester {
  const most = Math.max(1, Math.min(2, availableParallelism() - 1));
  const queue: Job[] = [];
  const threads = new Set<Thread>();
  let closed = false;
  let counter = 0;
  let worked = false;
  /** Stands in where threads cannot start at all. */
  let local: Ingester | null = null;

  interface Thread {
    readonly worker: Worker;
    readonly jobs: Map<number, Job>;
    idle: NodeJS.Timeout | null;
  }

  const feed = (): void => {
    if (closed) return;
    for (const thread of threads) {
      fill(thread);
    }
    if (threads.size === 0 || (queue.length > inHand && threads.size < most)) spawn();
  };

  /** What was in hand when a thread was lost is tried alone, so that the one to blame takes no other with it. */
  const mayTake = (thread: Thread, job: Job): boolean => {
    const alone = job.tries > 0 || [...thread.jobs.values()].some(({ tries }) => tries > 0);
    return thread.jobs.size < (alone ? 1 : inHand);
  };

  const fill = (thread: Thread): void => {
    for (let job = queue[0]; job && mayTake(thread, job); job = queue[0]) {
      queue.shift();
      give(thread, job);
    }
  };

  const give = (thread: Thread, job: Job): void => {
    if (thread.idle) clearTimeout(thread.idle);
    thread.idle = null;
    const task = ++counter;
    thread.jobs.set(task, job);
    thread.worker.ref();
    thread.worker.postMessage({ task, what: job.what } satisfies ToWorker);
  };

  const finish = (thread: Thread, task: number, settle: (job: Job) => void): void => {
    const job = thread.jobs.get(task);
    worked = true;
    thread.jobs.delete(task);
    if (job) settle(job);
    feed();
    if (thread.jobs.size === 0) thread.worker.unref();
    if (thread.jobs.size === 0 && threads.size > 1) {
      thread.idle = setTimeout(() => {
        if (thread.jobs.size > 0 || threads.size === 1) return;
        threads.delete(thread);
        void thread.worker.terminate();
      }, idleMs).unref();
    }
  };

  const spawn = (): void => {
    const { wordpress, site, frameHosts, mediaHosts } = context;
    const worker = new Worker(module, {
      workerData: { wordpress, site, frameHosts, mediaHosts },
      resourceLimits: { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 16 },
    });
    worker.unref();
    const thread: Thread = { worker, jobs: new Map(), idle: null };
    threads.add(thread);
    worker.on('message', (message: FromWorker) => {
      if ('measure' in message) {
        context.measure(message.url).then(
          (size) => worker.postMessage({ measured: message.measure, size } satisfies ToWorker),
          () => worker.postMessage({ measured: message.measure, size: null } satisfies ToWorker),
        );
      } else if ('captions' in message) {
        const answer = (text: string | null): void =>
          worker.postMessage({ captioned: message.captions, text } satisfies ToWorker);
        Promise.resolve(context.captions?.(message.url) ?? null).then(answer, () => answer(null));
      } else if ('result' in message) finish(thread, message.task, (job) => job.resolve(message.result));
      else if ('failure' in message) finish(thread, message.task, (job) => job.reject(new Error(message.failure)));
    });
    const lost = (error: unknown): void => {
      if (!threads.delete(thread) || closed) return;
      if (!worked && !local) {
        log.error({ error: String(error) }, 'ingest: threads do not start here, working without them');
        local = createLocalIngester(context);
        for (const job of [...queue.splice(0), ...thread.jobs.values()]) void runLocally(job);
        return;
      }
      log.error({ error: String(error) }, 'ingest: a thread was lost; its documents are tried again');
      for (const job of thread.jobs.values()) {
        // A document that takes the thread down twice is given up, or it would do so for ever.
        if (++job.tries < 2) queue.unshift(job);
        else job.reject(new Error(`ingest failed: ${String(error)}`));
      }
      thread.jobs.clear();
      if (queue.length > 0) feed();
    };
    worker.on('error', lost);
    worker.on('exit', (code) => lost(`thread ended with ${code}`));
    // A thread that is new has nothing in hand yet.
    fill(thread);
  };

  const runLocally = async ({ what, resolve, reject }: Job): Promise<void> => {
    if (!local) return;
    const done: Promise<Done> =
      what.kind === 'lines'
        ? local.lines(what.texts)
        : what.kind === 'comment'
          ? local.comment(what.raw)
          : local.document(what.type, what.raw, what.preview);
    await done.then(resolve, reject);
  };

  const run = (what: Task): Promise<Done> =>
    new Promise((resolve, reject) => {
      if (closed) return reject(new IngestClosed());
      const job: Job = { what, resolve, reject, tries: 0 };
      if (local) return void runLocally(job);
      queue.push(job);
      feed();
    });

  spawn();
  return {
    ...asking(run),
    async close() {
      closed = true;
      await local?.close();
      for (const job of queue.splice(0)) job.reject(new IngestClosed());
      await Promise.all(
        [...threads].map(async (thread) => {
          for (const job of thread.jobs.values()) job.reject(new IngestClosed());
          await thread.worker.terminate();
        }),
      );
      threads.clear();
    },
  };
}
