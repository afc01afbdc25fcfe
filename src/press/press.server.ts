/**
 * The press: serves pages from the page cache, and renders them again when their content has changed. Readers get the old page until
 * the new one is stored; withdrawn pages are removed before `invalidate` returns.
 */

import { createBoundedMap } from '../lib/bounded-map.ts';
import type { Encoding } from '../lib/http/negotiation.server.ts';
import type { Logger } from '../lib/logging.ts';
import { createTagChanges, type TagChanges } from './cache/cache-state.ts';
import type { CachedPage, EncodedResponse, HeadersOf, WithDictionary } from './cache/cached-page.ts';
import { createEncoder, type Encoder } from './cache/compressor.server.ts';
import type { DictionaryCoding, PageDictionary } from './cache/dictionary.server.ts';
import type { Choices, Insertion } from './cache/insertions.server.ts';
import { createLru, type Lru } from './cache/lru.ts';
import { createPageCache, type PageCache } from './cache/page-cache.server.ts';
import type { PageShare } from './scheduler/page-share.ts';
import type { Render } from './scheduler/render.server.ts';
import { createScheduler, PressBusy, type Scheduler } from './scheduler/scheduler.server.ts';
import type { FreshPage, RenderOutcome, RetryWaits } from './scheduler/scheduler-state.ts';
import { createWarmUp, type Warmed, type WarmOptions } from './scheduler/warm-up.server.ts';
import { createWriteBatch } from './scheduler/write-batch.ts';
import { type Counters, createStats, type Failure, type Publish, type Refreshed, type Stats } from './stats.ts';
import type { PageStore, StoreSize } from './store/page-store.server.ts';
import { nameOf, type PageRef, type Variant } from './store/stored-page.ts';

export interface PressOptions {
  readonly store: PageStore;
  /** Budget for pages in memory, bytes. */
  readonly memoryBytes: number;
  readonly render: Render;
  /** Pages that other nodes of a cluster have rendered. */
  readonly share?: PageShare | undefined;
  /** Response headers of a stored page: security, caching, tags. Called once for each encoding of a rendering. */
  readonly headersOf?: HeadersOf;
  /** The shared dictionary of pages (default: none). */
  readonly dictionary?: PageDictionary | null;
  /** The forms of pages with choices (default: as they are). */
  readonly choices?: Choices;
  /** Compresses rendered pages (default: a separate thread). */
  readonly encoder?: Encoder | undefined;
  readonly log: Logger;
  /** Wall clock, epoch milliseconds. */
  readonly now?: () => number;
  /** Concurrent renders for changes (default 2), in addition to those for readers of missing pages. */
  readonly concurrency?: number;
  /** Pages that are stored in one transaction (default 1); at most `concurrency`. */
  readonly storeTogether?: number;
  /** First and longest wait before a failed render is tried again, milliseconds. */
  readonly retry?: RetryWaits;
  /** Order of importance, lowest first (default 100 for all); among equals the most read comes first. */
  readonly priority?: (ref: PageRef) => number;
  /**
   * Pages that a change doesn't render: the first reader after the change waits for the render. Meant for rarely read pages
   * whose number grows with the archive, so that the cost of a change doesn't depend on the size of the archive.
   */
  readonly onDemand?: (key: string) => boolean;
  /** The tag of every page. */
  readonly everything?: string;
  /** Called after a page was stored or removed. */
  readonly onFresh?: (page: FreshPage) => void;
  /** Called after each render with its duration in milliseconds. */
  readonly onRender?: (ms: number) => void;
  /** Called with the names of pages that other processes with this store must look up again, see `PageCacheOptions`. */
  readonly onReplaced?: ((names: readonly string[] | 'all') => void) | undefined;
}

export interface Invalidation {
  /** Pages whose tags were withdrawn stop being served before `invalidate` returns. */
  readonly withdrawn?: Iterable<string>;
  /** For the operators' page, e.g. `article 12 updated`. */
  readonly reason?: string;
  /** The other nodes of the cluster don't know about the change, so this node renders the pages itself. */
  readonly unshared?: boolean;
}

export interface PressStats {
  readonly build: string;
  readonly store: StoreSize | null;
  readonly memory: { readonly pages: number; readonly bytes: number; readonly budget: number };
  readonly counters: Readonly<Counters>;
  /** Pages that wait for a render or are being rendered. */
  readonly queue: number;
  /** Pages that couldn't be written to the store. */
  readonly unwritten: number;
  readonly publishes: readonly Publish[];
  readonly failures: readonly Failure[];
}

export interface Press {
  /** A page that is in the cache; `undefined`: call {@link get}, which renders it. */
  peek(key: string, variant: Variant): CachedPage | undefined;
  /** The full variant of a page whose public one is known, as from {@link peek}. */
  peekFull(publicPage: CachedPage): CachedPage | undefined;
  /** @throws RenderFailed, PressBusy */
  get(key: string, variant: Variant): Promise<CachedPage>;
  /**
   * The response in the best of the wanted encodings; `undefined`: the page was just replaced, look it up again.
   */
  encoded(page: CachedPage, wanted: readonly Encoding[]): EncodedResponse | undefined;
  /**
   * The response compressed with the shared dictionary, for a browser that has it.
   *
   * @param available the browser's `Available-Dictionary`
   * @returns `null`: use {@link encoded}; a promise: the page is being compressed; call this again when it resolves, and use {@link
   *   encoded} if it returns a promise again
   */
  withDictionary(page: CachedPage, available: string, coding: DictionaryCoding): WithDictionary;
  /** From its return on, shows an insertion on every page that has a place for it; `null` removes it. */
  insert(insertion: Insertion | null): void;
  /**
   * A page as a reader gets it: with the insertion, if there is one, and in the form for the reader's cookie, if it has several.
   *
   * @param cookie the header `Cookie`
   * @returns a promise while it is being compressed: look the page up again when it resolves
   */
  shown(page: CachedPage, cookie?: string): CachedPage | Promise<void>;
  /** The change is recorded when this returns; the promise resolves when every page is fresh. */
  invalidate(tags: Iterable<string>, how?: Invalidation): Promise<Invalidated>;
  /** Renders pages by key, whatever their tags. */
  refresh(keys: readonly string[], reason?: string): Promise<Invalidated>;
  warm(keys: Iterable<string>, options?: WarmOptions): Promise<Warmed>;
  /** Deletes those pages of other builds that this build has, too. */
  pruneReplaced(): Promise<void>;
  /** Deletes the pages of other builds, and records that this build is warm. */
  finishBuild(): Promise<void>;
  stats(): PressStats;
  /** Whether every change so far outlives this process; `false` while the store can't be written. */
  readonly durable: boolean;
  /** Whether the store has every page as readers may see it; `false` while it can't be written. */
  readonly stored: boolean;
  /** Pages that were marked when the press opened: rendered first. */
  readonly resumed: Promise<Invalidated>;
  /** Waits for running renders and starts no more: what pages show can be closed. Pages in the cache are still served. */
  stopRendering(): Promise<void>;
  /** Waits for running renders and stores the read counts; the caller closes the store. */
  close(): Promise<void>;
}

/** Deletes pages of other builds, in small steps, so that readers don't wait for it. */
async function prune(store: PageStore, which: 'all' | 'replaced'): Promise<void> {
  while (store.pruneSome(which)) await new Promise((resolve) => setTimeout(resolve, 5).unref());
}

const writeReadsEveryMs = 30_000;
/** Most addresses that are known not to exist. */
const mostMissing = 250;

interface PressState {
  readonly now: () => number;
  readonly store: PageStore;
  readonly stats: Stats;
  readonly changes: TagChanges;
  readonly lru: Lru;
  readonly cache: PageCache;
  readonly scheduler: Scheduler;
  /** Pages of addresses that don't exist, until a moment of the monotonic clock. */
  readonly missing: Missing;
}

type Missing = ReturnType<typeof createBoundedMap<{ readonly page: CachedPage; readonly until: number }>>;

export function openPress(options: PressOptions): Press {
  const { store, log, encoder = createEncoder(log) } = options;
  const state = createState(options, encoder.encode);
  const { cache, scheduler, stats } = state;
  const tick = startTick(cache);
  const marked = store.marked();
  const resumed =
    marked.length === 0
      ? Promise.resolve({ refreshed: [], unchanged: 0, failed: 0, late: [], ms: 0 })
      : refreshPages(state, marked, state.changes.latest, {
          reason: 'left over from before the start',
          tags: [],
          withdrawn: [],
        });

  return {
    peek: (key, variant) => peek(state, key, variant),
    peekFull: (publicPage) => peek(state, publicPage.page.key, 'full', publicPage.fullName),
    get: (key, variant) => get(state, key, variant),
    encoded: cache.encoded,
    withDictionary: cache.withDictionary,
    insert: cache.insertions.set,
    shown: cache.insertions.shown,
    invalidate: (tags, how) => invalidate(state, tags, how),
    refresh: (keys, reason) => refresh(state, keys, reason),
    warm: createWarmUp({ cache, scheduler }),
    pruneReplaced: () => prune(store, 'replaced'),
    async finishBuild() {
      await prune(store, 'all');
      // Last, so that a process that is killed during the removal finishes the build at the next start.
      store.markWarm();
    },
    get durable() {
      return cache.recorded;
    },
    get stored() {
      return cache.stored;
    },
    stats: () => ({
      build: store.build,
      store: sizeOf(store, log),
      memory: { pages: state.lru.size, bytes: state.lru.bytes, budget: options.memoryBytes },
      counters: { ...stats.counters },
      queue: scheduler.waiting,
      unwritten: cache.unwritten,
      publishes: [...stats.publishes],
      failures: [...stats.failures],
    }),
    resumed,
    stopRendering: scheduler.stop,
    async close() {
      clearInterval(tick);
      await scheduler.stop();
      await encoder.close();
      cache.catchUp();
      cache.flushReads();
    },
  };
}

/** Milliseconds for which the press remembers that an address doesn't exist. */
const missingMs = 3000;

const defaults = {
  headersOf: ((page) => page.headers) as HeadersOf,
  now: Date.now,
  concurrency: 2,
  storeTogether: 1,
  retry: { baseMs: 500, capMs: 60_000 },
  priority: () => 100,
  onDemand: () => false,
  everything: null,
  onFresh: () => {},
  onRender: () => {},
};

function createState(given: PressOptions, encode: Encoder['encode']): PressState {
  const options = { ...defaults, ...given };
  const { store, memoryBytes, headersOf, log, now, everything, storeTogether } = options;
  const stats = createStats();
  const changes = createTagChanges(everything);
  changes.reach(store.latest());
  const lru = createLru(memoryBytes);
  const unwrittenBytes = Math.max(memoryBytes / 2, 1024 * 1024);
  const { dictionary, choices, onReplaced } = given;
  const cache = createPageCache({
    store,
    lru,
    changes,
    headersOf,
    encode,
    choices,
    dictionary,
    log,
    now,
    everything,
    unwrittenBytes,
    onReplaced,
  });
  const missing: Missing = createBoundedMap(mostMissing);
  const onMissing = (name: string, page: CachedPage): void =>
    missing.set(name, { page, until: performance.now() + missingMs });
  const batch = storeTogether > 1 ? createWriteBatch(storeTogether, store.together) : undefined;
  const scheduler = createScheduler({
    ...options,
    cache,
    changes,
    stats,
    encode,
    batch,
    build: store.build,
    onMissing,
  });
  return { now, store, stats, changes, lru, cache, scheduler, missing };
}

/** Once a second, writes what the store couldn't accept before. */
function startTick(cache: PageCache): NodeJS.Timeout {
  let readsWrittenAt = performance.now();
  return setInterval(() => {
    cache.catchUp();
    if (performance.now() - readsWrittenAt < writeReadsEveryMs) return;
    readsWrittenAt = performance.now();
    cache.flushReads();
  }, 1000).unref();
}

function peek(state: PressState, key: string, variant: Variant, name?: string): CachedPage | undefined {
  const { cache, scheduler, store } = state;
  const page = cache.findInMemory(key, variant, name) ?? cache.find(key, variant);
  if (!page) return undefined;
  page.visited = true;
  page.reads++;
  if (page.build !== store.build && !scheduler.has(nameOf(key, variant)))
    scheduler.refresh({ key, variant }, { last: true });
  return page;
}

async function get(state: PressState, key: string, variant: Variant): Promise<CachedPage> {
  const { stats, scheduler, cache, missing } = state;
  const page = peek(state, key, variant);
  if (page) return page;
  const gone = missing.get(nameOf(key, variant));
  if (gone && gone.until > performance.now()) {
    stats.counters.negativeHits++;
    return gone.page;
  }
  stats.counters.misses++;
  try {
    return await scheduler.request({ key, variant });
  } catch (error) {
    // The old page stays while its render fails, unless it may show withdrawn content.
    const old = error instanceof PressBusy ? undefined : cache.findOutdated(key, variant);
    if (!old) throw error;
    return old;
  }
}

function invalidate(state: PressState, given: Iterable<string>, how: Invalidation = {}): Promise<Invalidated> {
  const tags = [...new Set(given)];
  const withdrawn = [...new Set(how.withdrawn ?? [])];
  const change = state.cache.change(tags, withdrawn);
  state.missing.clear();
  // A withdrawn page has no full variant: it is rendered once, as a 410.
  const gone = new Map(change.withdrawn.map((ref) => [ref.key, { key: ref.key, variant: 'public' as const }]));
  const affected = change.affected.filter((ref) => !gone.has(ref.key));
  const publish = { reason: how.reason ?? '', tags, withdrawn };
  return refreshPages(state, [...gone.values(), ...affected], change.seq, publish, how.unshared);
}

function refresh(state: PressState, keys: readonly string[], reason = 'requested'): Promise<Invalidated> {
  const { cache, missing } = state;
  const { seq } = cache.change([], []);
  missing.clear();
  const refs: PageRef[] = [];
  for (const key of new Set(keys)) {
    refs.push({ key, variant: 'public' });
    if (cache.has({ key, variant: 'full' })) refs.push({ key, variant: 'full' });
  }
  cache.mark(refs, seq);
  return refreshPages(state, refs, seq, { reason, tags: [], withdrawn: [] }, true);
}

function sizeOf(store: PageStore, log: Logger): StoreSize | null {
  try {
    return store.size();
  } catch (error) {
    log.warn({ err: error }, "The size of the page store can't be read");
    return null;
  }
}

export interface Invalidated {
  readonly refreshed: readonly Refreshed[];
  /** Rendered pages whose bytes didn't change. */
  readonly unchanged: number;
  /** Pages that stay as they were and are tried again. */
  readonly failed: number;
  /** The failed pages that still wait. */
  readonly late: readonly PageRef[];
  readonly ms: number;
}

/** Most refreshed pages in the statistics of a publish. */
const keptPages = 20;

/** @param minChange number of the change that the renders must have seen */
async function refreshPages(
  { scheduler, stats, now }: PressState,
  refs: readonly (PageRef & { readonly reads?: number })[],
  minChange: number,
  publish: Pick<Publish, 'reason' | 'tags' | 'withdrawn'>,
  unshared = false,
): Promise<Invalidated> {
  const began = performance.now();
  const refreshed: Refreshed[] = [];
  const late: PageRef[] = [];
  const counts: Record<RenderOutcome, number> = { refreshed: 0, unchanged: 0, failed: 0 };
  const begun: Publish = { ...publish, at: now(), refreshed: [], pages: 0, unchanged: 0, failed: 0, ms: null };
  const record = stats.publish(begun);
  const settled = refs.map(
    ({ key, variant, reads = 0 }) =>
      new Promise<void>((resolve) => {
        const watcher = (ref: PageRef, outcome: RenderOutcome) => {
          counts[outcome]++;
          if (outcome === 'refreshed') refreshed.push({ ...ref, ms: performance.now() - began });
          if (outcome === 'failed') late.push(ref);
          resolve();
        };
        scheduler.refresh({ key, variant }, { minChange, reads, watcher, unshared });
      }),
  );
  await Promise.all(settled);
  const ms = performance.now() - began;
  const { unchanged, failed } = counts;
  const pages = refreshed.length;
  record.done({ ...begun, refreshed: refreshed.slice(0, keptPages), pages, unchanged, failed, ms });
  // Some have been rendered since.
  const stillLate = late.filter(({ key, variant }) => scheduler.has(nameOf(key, variant)));
  return { refreshed, unchanged, failed, late: stillLate, ms };
}
