/**
 * Searches off the main thread. A search for common words reads the index of the whole archive, which takes a tenth of a second and
 * more, and no page must wait for that. The thread runs one search after the other; the number of waiting searches and their wait are
 * limited.
 */
import type { Logger } from '../../lib/logging.ts';
import { SearchBusy } from '../../lib/search/model.ts';
import { createWorkerPool, PoolBusy } from '../../lib/workers/pool.server.ts';
import type { FoundArticles, SearchFilter } from './search.server.ts';

export type LookUp = (text: string, filter: SearchFilter) => FoundArticles;

export interface SearchThread {
  /** @throws SearchBusy when too many searches wait */
  ask(text: string, filter: SearchFilter): Promise<FoundArticles>;
  close(): Promise<void>;
}

export interface SearchThreadOptions {
  /** The content store's file. */
  readonly file: string;
  readonly generation: () => number;
  /** Searches in the calling thread, where worker threads can't start. */
  readonly local: LookUp;
  readonly log: Logger;
  /** The module of the thread; tests use another one. */
  readonly module?: URL;
  /** Most waiting searches, 50 by default. */
  readonly most?: number;
  /** Longest wait for a turn in milliseconds, 3,000 by default: after that the reader has given up. */
  readonly patienceMs?: number;
}

/** The first search starts the thread. */
export function createSearchThread(options: SearchThreadOptions): SearchThread {
  const { file, generation, local, log, most = 50, patienceMs = 3000 } = options;
  const pool = createWorkerPool<{ readonly text: string; readonly filter: SearchFilter }, FoundArticles>({
    name: 'search',
    module: options.module ?? new URL('./search.worker.ts', import.meta.url),
    workerData: { file },
    resourceLimits: { maxOldGenerationSizeMb: 96 },
    maxWaiting: most,
    maxWaitMs: patienceMs,
    runLocally: ({ text, filter }) => local(text, filter),
    payload: (search) => ({ ...search, generation: generation() }) satisfies SearchTask,
    log,
  });
  return {
    ask: (text, filter) =>
      pool.run({ text, filter }).catch((error: unknown) => {
        throw error instanceof PoolBusy ? new SearchBusy() : error;
      }),
    close: () => pool.close(),
  };
}

// A search as the search thread receives it.

export interface SearchTask {
  /** The content store's generation: a rebuild replaces the file. */
  readonly generation: number;
  readonly text: string;
  readonly filter: SearchFilter;
}
