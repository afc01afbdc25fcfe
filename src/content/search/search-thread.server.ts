/**
 * Searches off the main thread. A search for common words reads the index of the whole archive, which takes a tenth of a second and
 * more, and no page must wait for that. The thread runs one search after the other; the number of waiting searches and their wait are
 * limited.
 */
import { type BoundedMap, createBoundedMap } from '../../lib/bounded-map.ts';
import type { Logger } from '../../lib/logging.ts';
import { SearchBusy } from '../../lib/search/model.ts';
import { createWorkerPool, PoolBusy } from '../../lib/workers/pool.server.ts';
import type { ContentStore } from '../store/content-store.server.ts';
import { indexRevision } from './index.server.ts';
import { type FoundIds, type IndexFilter, searchArticles } from './search.server.ts';

export interface SearchThread {
  /** @throws SearchBusy when too many searches wait */
  ask(text: string, filter: IndexFilter): Promise<FoundIds>;
  close(): Promise<void>;
}

export interface SearchThreadOptions {
  /** The content store's file. */
  readonly file: string;
  /** `ContentStore.rebuilds`. */
  readonly rebuilds: () => number;
  /** Searches in the calling thread, where worker threads can't start. */
  readonly searchLocally: (text: string, filter: IndexFilter) => FoundIds;
  readonly log: Logger;
  /** The module of the thread; tests use another one. */
  readonly module?: URL;
  /** Most waiting searches, 50 by default. */
  readonly maxWaiting?: number;
  /** Longest wait for a turn in milliseconds, 3,000 by default: after that the reader has given up. */
  readonly timeoutMs?: number;
}

/** The first search starts the thread. */
export function createSearchThread(options: SearchThreadOptions): SearchThread {
  const { file, rebuilds, searchLocally, log, maxWaiting = 50, timeoutMs = 3000 } = options;
  const pool = createWorkerPool<{ readonly text: string; readonly filter: IndexFilter }, FoundIds>({
    name: 'search',
    module: options.module ?? new URL('./search.worker.ts', import.meta.url),
    workerData: { file },
    resourceLimits: { maxOldGenerationSizeMb: 96 },
    maxWaiting,
    maxWaitMs: timeoutMs,
    runLocally: ({ text, filter }) => searchLocally(text, filter),
    payload: (search) => ({ ...search, rebuilds: rebuilds() }) satisfies SearchTask,
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

/** A search as the search thread receives it. */
export interface SearchTask {
  /** `ContentStore.rebuilds`: the thread opens a new file. */
  readonly rebuilds: number;
  readonly text: string;
  readonly filter: IndexFilter;
}

// A cache of search results, valid until the next write: readers search for the same words, and each typed letter repeats a search.

const mostCached = 500;

interface SearchCache {
  readonly revision: string;
  readonly found: BoundedMap<FoundIds>;
  /** Searches in progress; equal searches share a result. */
  readonly inProgress: Map<string, Promise<FoundIds>>;
}

const caches = new WeakMap<ContentStore, SearchCache>();

function cacheFor(store: ContentStore): SearchCache {
  const revision = indexRevision(store);
  let cache = caches.get(store);
  if (cache?.revision !== revision) {
    cache = { revision, found: createBoundedMap(mostCached), inProgress: new Map() };
    caches.set(store, cache);
  }
  return cache;
}

const cacheKey = (text: string, filter: IndexFilter): string => JSON.stringify([text, filter]);

/** Searches in the calling thread. */
export function searchNow(store: ContentStore, text: string, filter: IndexFilter): FoundIds {
  const cache = cacheFor(store);
  const key = cacheKey(text, filter);
  const known = cache.found.get(key);
  if (known) return known;
  const found = searchArticles(store, text, filter);
  cache.found.set(key, found);
  return found;
}

/** Searches in the search thread. @throws SearchBusy */
export async function searchInThread(
  store: ContentStore,
  thread: SearchThread,
  text: string,
  filter: IndexFilter,
): Promise<FoundIds> {
  // The cache is chosen before the search: a write in the meantime gives later searches a new one, so they don't find this result.
  const cache = cacheFor(store);
  const key = cacheKey(text, filter);
  const known = cache.found.get(key) ?? cache.inProgress.get(key);
  if (known) return known;
  const searching = thread
    .ask(text, filter)
    .then((found) => {
      cache.found.set(key, found);
      return found;
    })
    .finally(() => cache.inProgress.delete(key));
  cache.inProgress.set(key, searching);
  return searching;
}
