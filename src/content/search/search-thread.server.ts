/**
 * Searches off the main thread. A search of common words goes through the words of the whole archive, a tenth of a second and more,
 * and no page must wait for that. One question is answered after the other; how many wait, and how long, is bounded.
 */
import type { Logger } from '../../lib/logging.ts';
import { SearchBusy } from '../../lib/search/model.ts';
import { createWorkerPool, PoolBusy } from '../../lib/workers/pool.server.ts';
import type { FoundArticles, SearchFilter } from './search.server.ts';

export type LookUp = (text: string, filter: SearchFilter) => FoundArticles;

export interface SearchThread {
  /** @throws SearchBusy when too much is asked at once */
  ask(text: string, filter: SearchFilter): Promise<FoundArticles>;
  close(): Promise<void>;
}

export interface SearchThreadOptions {
  /** The content store's file. */
  readonly file: string;
  readonly generation: () => number;
  /** Searches in this thread, where others cannot start. */
  readonly local: LookUp;
  readonly log: Logger;
  /** What runs in the thread; another one in tests. */
  readonly module?: URL;
  /** Questions that may wait, 50 by default. */
  readonly most?: number;
  /** Milliseconds that one may wait for its turn, 3,000 by default: after that the reader has given up. */
  readonly patienceMs?: number;
}

/** The thread starts with the first search. */
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

// A search as it is sent to the search thread.

export interface SearchTask {
  /** Of the content store: after a rebuild the file is another one. */
  readonly generation: number;
  readonly text: string;
  readonly filter: SearchFilter;
}
