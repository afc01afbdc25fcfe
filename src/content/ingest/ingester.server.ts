/**
 * Ingest off the main thread: sanitizing takes milliseconds for each document, and rendering must not wait for it. One thread
 * stays warm, so that a publish is quick; a second helps with a back-fill and goes away when it has nothing to do.
 */
import { availableParallelism } from 'node:os';
import type { DocumentType } from '../../lib/content/model.ts';
import type { Logger } from '../../lib/logging.ts';
import { createWorkerPool, PoolClosed } from '../../lib/workers/pool.server.ts';
import type { IngestedComment, IngestedDocument } from './document.ts';
import type { IngestContext, Ingested } from './ingest.server.ts';
import type { Done, Request, Task } from './messages.ts';
import type { LocalWorker } from './task.server.ts';

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

/** The methods of an ingester, over a function that performs tasks. */
const methodsOver = (run: (what: Task) => Promise<Done>): Omit<Ingester, 'close'> => ({
  document: (type, raw, preview = false) =>
    run({ kind: 'document', type, raw, preview }) as Promise<Ingested<IngestedDocument>>,
  comment: (raw) => run({ kind: 'comment', raw }) as Promise<Ingested<IngestedComment>>,
  lines: (texts) => run({ kind: 'lines', texts }) as Promise<string[]>,
});

/** Ingests in this thread. The DOM is loaded with the first task: a process with threads never needs its 60 MB. */
export function createLocalIngester(context: IngestContext): Ingester {
  let worker: Promise<LocalWorker> | null = null;
  const load = (): Promise<LocalWorker> => {
    worker ??= loadLocalWorker(context);
    return worker;
  };
  return {
    ...methodsOver(async (what) => (await load()).perform(what)),
    async close() {
      if (worker) (await worker).close();
    },
  };
}

/** Documents that one thread has at a time; more than one, because measuring pictures means waiting. */
const tasksPerThread = 4;

/**
 * Ingests in worker threads.
 *
 * @param module what runs in a thread; another one in tests
 */
export function createThreadedIngester(
  context: IngestContext,
  log: Logger,
  module: URL = new URL('./ingest.worker.ts', import.meta.url),
): Ingester {
  const { wordpress, site, frameHosts, mediaHosts } = context;
  /** Stands in where threads can't start. */
  let local: Promise<LocalWorker> | null = null;
  const pool = createWorkerPool<Task, Done>({
    name: 'ingest',
    module,
    workerData: { wordpress, site, frameHosts, mediaHosts },
    resourceLimits: { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 16 },
    maxThreads: Math.max(1, Math.min(2, availableParallelism() - 1)),
    tasksPerThread,
    // A document that takes its thread down twice is given up, or it would do so for ever.
    maxTries: 2,
    runLocally: async (task) => {
      local ??= loadLocalWorker(context);
      return (await local).perform(task);
    },
    onCall: async (request) => {
      const { measure, captions } = request as Request;
      if (measure !== undefined) return context.measure(measure);
      return captions === undefined ? null : (context.captions?.(captions) ?? null);
    },
    log,
  });
  pool.start();
  return {
    ...methodsOver((task) =>
      pool.run(task).catch((error: unknown) => {
        throw error instanceof PoolClosed ? new IngestClosed() : error;
      }),
    ),
    async close() {
      await pool.close();
      (await local)?.close();
    },
  };
}

const loadLocalWorker = async (context: IngestContext): Promise<LocalWorker> =>
  (await import('./task.server.ts')).createLocalWorker(context);
