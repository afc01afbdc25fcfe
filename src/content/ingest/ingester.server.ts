/**
 * Ingests documents off the main thread: sanitizing a document takes milliseconds, and rendering must not wait for it. One thread stays
 * warm, so that a publish is fast; a second helps during a back-fill and stops when it is idle.
 */
import { availableParallelism } from 'node:os';
import type { DocumentType } from '../../lib/content/model.ts';
import type { Logger } from '../../lib/logging.ts';
import { createWorkerPool } from '../../lib/workers/pool.server.ts';
import type { IngestedComment, IngestedDocument } from './document.ts';
import type { IngestContext, Ingested } from './ingest.server.ts';
import type { MainThreadRequest, Task, TaskResult, TaskRunner } from './task.server.ts';

/** Once it is closed, an ingester with threads throws PoolClosed: the document isn't the cause. */
export interface Ingester {
  document(type: DocumentType, raw: unknown, preview?: boolean): Promise<Ingested<IngestedDocument>>;
  comment(raw: unknown): Promise<Ingested<IngestedComment>>;
  /** The plain text of each piece of markup, on one line. */
  lines(texts: readonly string[]): Promise<string[]>;
  close(): Promise<void>;
}

/** The methods of an ingester, over a function that performs tasks. */
const methodsOver = (run: (task: Task) => Promise<TaskResult>): Omit<Ingester, 'close'> => ({
  document: (type, raw, preview = false) =>
    run({ kind: 'document', type, raw, preview }) as Promise<Ingested<IngestedDocument>>,
  comment: (raw) => run({ kind: 'comment', raw }) as Promise<Ingested<IngestedComment>>,
  lines: (texts) => run({ kind: 'lines', texts }) as Promise<string[]>,
});

/** Performs tasks in the calling thread. The first one loads the DOM: a process with worker threads never needs its 60 MB. */
function createLocalRunner(context: IngestContext) {
  let runner: Promise<TaskRunner> | null = null;
  return {
    async perform(task: Task): Promise<TaskResult> {
      runner ??= import('./task.server.ts').then(({ createTaskRunner }) => createTaskRunner(context));
      return (await runner).perform(task);
    },
    async close(): Promise<void> {
      (await runner)?.close();
    },
  };
}

/** Ingests in the calling thread. */
export function createLocalIngester(context: IngestContext): Ingester {
  const { perform, close } = createLocalRunner(context);
  return { ...methodsOver(perform), close };
}

/** Documents that a thread processes concurrently: measuring pictures is mostly waiting. */
const tasksPerThread = 4;

/**
 * Ingests in worker threads.
 *
 * @param module the module of a thread; tests use another one
 */
export function createThreadedIngester(
  context: IngestContext,
  log: Logger,
  module: URL = new URL('./ingest.worker.ts', import.meta.url),
): Ingester {
  const { wordpress, site, frameHosts, mediaHosts } = context;
  const local = createLocalRunner(context);
  const pool = createWorkerPool<Task, TaskResult>({
    name: 'ingest',
    module,
    workerData: { wordpress, site, frameHosts, mediaHosts },
    resourceLimits: { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 16 },
    maxThreads: Math.max(1, Math.min(2, availableParallelism() - 1)),
    tasksPerThread,
    // A document that crashes its thread twice is given up; otherwise it would crash the thread again and again.
    maxTries: 2,
    runLocally: local.perform,
    onCall: async (request) => {
      const { measure, captions } = request as MainThreadRequest;
      if (measure !== undefined) return context.measure(measure);
      return captions === undefined ? null : (context.captions?.(captions) ?? null);
    },
    log,
  });
  return {
    ...methodsOver(pool.run),
    async close() {
      await pool.close();
      await local.close();
    },
  };
}

// Warms up the ingest thread: V8 optimizes code that has run a few times, and the first publish must be fast, too.

/** An invented story in WordPress's format, with a little of everything that stories contain. */
const story = {
  id: 1,
  slug: 'warm-up',
  status: 'publish',
  date_gmt: '2026-01-01T00:00:00',
  modified_gmt: '2026-01-01T00:00:00',
  title: { rendered: 'Warm-up &#8212; before the first story of the day' },
  excerpt: { rendered: '<p>It is never shown.</p>' },
  content: {
    rendered: [
      '<h2>In the Harbor</h2>',
      ...Array.from({ length: 12 }, (_, number) => {
        const links = `<a href="/article/story-${number}">a story</a>, <em>another</em> and <a href="https://example.org/">a third</a>`;
        return `<p class="wp-block">Paragraph ${number} &#8220;quotes&#8221; somebody, and leads to ${links}.</p>`;
      }),
      '<figure class="wp-block-image"><img src="/wp-content/uploads/none.jpg" alt="None" width="1200" height="800" /><figcaption>None</figcaption></figure>',
      '<ul><li>One</li><li>Another</li></ul><blockquote><p>A quotation.</p></blockquote>',
      '<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>',
      '<script>never()</script><p style="color:red" onclick="never()">Something to be taken out.</p>',
    ].join('\n'),
  },
  acf: {},
};

/** Repetitions after which ingesting an article is about as fast as after hundreds. */
const rounds = 15;

/** Has the thread ingest a story and discards the result; real documents go first. @throws PoolClosed */
export async function warmUpIngest(ingester: Pick<Ingester, 'document'>): Promise<void> {
  for (let round = 0; round < rounds; round++) await ingester.document('articles', story);
}
