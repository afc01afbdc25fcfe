/**
 * The press: hands out pages, and renders them again when what they show has changed. Readers get the old page until the
 * new one is on the shelf; what is withdrawn is gone before `invalidate` returns.
 */
import type { Logger } from '../lib/logging.ts';
import { createRecent } from './cache/bounded-map.ts';
import { chooseEncoding, type Dress, type Entry, type Ready } from './cache/cached-page.ts';
import { createEncoder } from './cache/compressor.server.ts';
import { createMemory } from './cache/lru.ts';
import { createShelf } from './cache/page-cache.server.ts';
import { createChanges } from './cache/tag-changes.ts';
import type { Render } from './scheduler/render.server.ts';
import {
  createDesk,
  type FreshPage,
  type Outcome,
  PressBusy,
  type RetryWaits,
  type Watcher,
} from './scheduler/scheduler.server.ts';
import { createSchedule } from './scheduler/timed-changes.ts';
import { createWarming, type Warmed, type WarmOptions } from './scheduler/warm-up.server.ts';
import { type Counters, createFigures, type Failure, type PressEvent, type Publish, type Refreshed } from './stats.ts';
import type { PageStore, StoreSize } from './store/page-store.server.ts';
import { type AccessLevel, type Encoding, mayRead, nameOf, type PageRef, type Variant } from './store/stored-page.ts';

export interface PressOptions {
  readonly store: PageStore;
  /** Bytes of pages in memory. */
  readonly memoryBytes: number;
  readonly render: Render;
  /** Headers of a stored page's answers: security, caching, tags. Called once for each rendering. */
  readonly dress?: Dress;
  readonly log: Logger;
  /** Wall clock, epoch milliseconds. */
  readonly now?: () => number;
  /** Renders for changes at a time (default 2) and for readers of missing pages (default 8). */
  readonly concurrency?: number;
  readonly readerConcurrency?: number;
  /** Readers that may wait for missing pages at a time (default 2000). */
  readonly mostReaders?: number;
  /** Milliseconds that a render may take (default 20,000). */
  readonly timeoutMs?: number;
  /** Waits before a failed render is tried again: first and longest, milliseconds. */
  readonly retry?: RetryWaits;
  /** Order of importance, lowest first (default 100 for all); among equals the most read comes first. */
  readonly priority?: (ref: PageRef) => number;
  /**
   * Pages that a change does not have rendered: whoever asks for one after the change waits for its render. Meant for what
   * grows with the archive and is seldom read, so that a change costs the same however long the archive is.
   */
  readonly onDemand?: (key: string) => boolean;
  /** The tag that stands for every page. */
  readonly everything?: string;
  /** Milliseconds for which an address is remembered not to exist (default 3000). */
  readonly missingMs?: number;
  /** After a page was put on the shelf or taken off it. */
  readonly onFresh?: (page: FreshPage) => void;
  readonly onEvent?: (event: PressEvent) => void;
}

export interface Invalidation {
  /** Pages whose tags were withdrawn stop being served before `invalidate` returns. */
  readonly withdrawn?: Iterable<string>;
  /** For the operators' page, e.g. `article 12 updated`. */
  readonly reason?: string;
}

export interface Invalidated {
  readonly refreshed: readonly Refreshed[];
  /** Pages whose bytes came out the same. */
  readonly unchanged: number;
  /** Pages that stay as they were and are tried again. */
  readonly failed: number;
  readonly ms: number;
}

export interface PressStats {
  readonly build: string;
  readonly store: StoreSize | null;
  readonly memory: { readonly pages: number; readonly bytes: number; readonly budget: number };
  readonly counters: Readonly<Counters>;
  /** Pages that wait for a render or are being rendered. */
  readonly queue: number;
  /** Pages that the store could not take. */
  readonly unwritten: number;
  readonly scheduled: number;
  readonly publishes: readonly Publish[];
  readonly failures: readonly Failure[];
}

export interface Press {
  /** A page that is ready, at once; `undefined`: ask {@link get}, which renders it. */
  peek(key: string, variant: Variant): Entry | undefined;
  /** The full variant of a page whose public one is at hand, as {@link peek} has it. */
  peekFull(of: Entry): Entry | undefined;
  /** @throws RenderFailed, PressBusy */
  get(key: string, variant: Variant): Promise<Entry>;
  /** The variant that a reader of this level gets of a page with this access level. */
  variantFor(access: AccessLevel | null, level: AccessLevel | null): Variant;
  /** The best of the wanted encodings, ready to send; `undefined`: the page was replaced this moment, look it up again. */
  ready(entry: Entry, wanted: readonly Encoding[]): Ready | undefined;
  /** What is durable is durable when this returns; the promise says when every page is fresh. */
  invalidate(tags: Iterable<string>, how?: Invalidation): Promise<Invalidated>;
  /** Renders pages by key, whatever their tags. */
  refresh(keys: readonly string[], reason?: string): Promise<Invalidated>;
  warm(keys: Iterable<string>, options?: WarmOptions): Promise<Warmed>;
  /** This build is warm: pages of other builds go. */
  finishBuild(): Promise<void>;
  /** Invalidates tags at a moment of the wall clock (epoch milliseconds); kept in memory only. */
  schedule(at: number, tags: Iterable<string>): void;
  stats(): PressStats;
  /** Whether every change so far outlives this process; `false` while the store cannot be written. */
  readonly durable: boolean;
  /** Pages that were marked when the press opened: rendered first. */
  readonly resumed: Promise<Invalidated>;
  /** Lets running renders end and writes down what was read; the store is the caller's to close. */
  close(): Promise<void>;
}

/** Refreshed pages that stats keep of each publish. */
const shown = 20;
const readsEvery = 30_000;

export function openPress(options: PressOptions): Press {
  const { store, log, now = Date.now, everything = null, missingMs = 3000, dress = (page) => page.headers } = options;
  const figures = createFigures();
  const { counters } = figures;
  const changes = createChanges(everything);
  changes.reach(store.latest());
  const memory = createMemory(options.memoryBytes);
  const shelf = createShelf({
    store,
    memory,
    changes,
    dress,
    log,
    now,
    everything,
    unwrittenBytes: Math.max(options.memoryBytes / 2, 1024 * 1024),
  });
  const missing = createRecent<{ readonly entry: Entry; readonly until: number }>(250);
  const onEvent = options.onEvent ?? (() => {});
  const encoder = createEncoder(log);
  const desk = createDesk({
    shelf,
    changes,
    figures,
    render: options.render,
    dress,
    encode: encoder.encode,
    build: store.build,
    log,
    now,
    concurrency: options.concurrency ?? 2,
    readerConcurrency: options.readerConcurrency ?? 8,
    mostReaders: options.mostReaders ?? 2000,
    timeoutMs: options.timeoutMs ?? 20_000,
    retry: options.retry ?? { baseMs: 500, capMs: 60_000 },
    priority: options.priority ?? (() => 100),
    onDemand: options.onDemand ?? (() => false),
    onFresh: options.onFresh ?? (() => {}),
    onMissing: (name, entry) => missing.set(name, { entry, until: performance.now() + missingMs }),
    onEvent,
  });
  const schedule = createSchedule(now, (tags) => void invalidate(tags, { reason: 'the time has come' }));
  let lastReads = performance.now();
  const tick = setInterval(() => {
    schedule.look();
    shelf.tend();
    if (performance.now() - lastReads < readsEvery) return;
    lastReads = performance.now();
    shelf.flushReads();
  }, 1000);
  tick.unref();

  function peek(key: string, variant: Variant, name?: string): Entry | undefined {
    let entry = shelf.inMemory(key, variant, name);
    if (entry) {
      counters.memoryHits++;
    } else {
      entry = shelf.find(key, variant);
      if (!entry) return undefined;
      counters.storeHits++;
    }
    entry.visited = true;
    entry.reads++;
    if (entry.build !== store.build && !desk.has(nameOf(key, variant)))
      desk.refresh({ key, variant }, 0, 0, undefined, true);
    return entry;
  }

  /** Has pages rendered, and says what came of it. */
  function press(
    refs: readonly (PageRef & { readonly reads?: number })[],
    seq: number,
    publish: Pick<Publish, 'reason' | 'tags' | 'withdrawn'>,
  ): Promise<Invalidated> {
    const began = performance.now();
    const refreshed: Refreshed[] = [];
    let unchanged = 0;
    let failed = 0;
    let open = refs.length;
    const begun: Publish = { ...publish, at: now(), refreshed: [], pages: 0, unchanged: 0, failed: 0, ms: null };
    const record = figures.publish(begun);
    counters.publishes++;
    return new Promise((resolve) => {
      const done = (): void => {
        const ms = performance.now() - began;
        record.done({ ...begun, refreshed: refreshed.slice(0, shown), pages: refreshed.length, unchanged, failed, ms });
        onEvent({ kind: 'publish', ms, pages: refreshed.length });
        resolve({ refreshed, unchanged, failed, ms });
      };
      const watcher: Watcher = {
        settled(ref, outcome: Outcome) {
          if (outcome === 'refreshed') refreshed.push({ ...ref, ms: performance.now() - began });
          else if (outcome === 'unchanged') unchanged++;
          else failed++;
          if (--open === 0) done();
        },
      };
      if (open === 0) done();
      for (const ref of refs) desk.refresh({ key: ref.key, variant: ref.variant }, seq, ref.reads ?? 0, watcher);
    });
  }

  function invalidate(given: Iterable<string>, how: Invalidation = {}): Promise<Invalidated> {
    const tags = [...new Set(given)];
    const withdrawn = [...new Set(how.withdrawn ?? [])];
    const change = shelf.change(tags, withdrawn);
    missing.clear();
    // What is gone has no full variant: it is rendered once, to say so.
    const gone = new Map(change.withdrawn.map((ref) => [ref.key, { key: ref.key, variant: 'public' as const }]));
    const affected = change.affected.filter((ref) => !gone.has(ref.key));
    return press([...gone.values(), ...affected], change.seq, { reason: how.reason ?? '', tags, withdrawn });
  }

  function refresh(keys: readonly string[], reason = 'asked for'): Promise<Invalidated> {
    const { seq } = shelf.change([], []);
    missing.clear();
    const refs: PageRef[] = [];
    for (const key of new Set(keys)) {
      refs.push({ key, variant: 'public' });
      if (shelf.has({ key, variant: 'full' })) refs.push({ key, variant: 'full' });
    }
    shelf.mark(refs, seq);
    return press(refs, seq, { reason, tags: [], withdrawn: [] });
  }

  const marked = store.marked();
  const resumed =
    marked.length === 0
      ? Promise.resolve({ refreshed: [], unchanged: 0, failed: 0, ms: 0 })
      : press(marked, changes.latest, { reason: 'left over from before the start', tags: [], withdrawn: [] });

  return {
    peek: (key, variant) => peek(key, variant),
    peekFull: (of) => peek(of.page.key, 'full', of.fullName),
    async get(key, variant) {
      const entry = peek(key, variant);
      if (entry) return entry;
      const gone = missing.get(nameOf(key, variant));
      if (gone && gone.until > performance.now()) {
        counters.negativeHits++;
        return gone.entry;
      }
      counters.misses++;
      try {
        return await desk.ask({ key, variant });
      } catch (error) {
        // The old page stays while its render fails, unless it may show what has been withdrawn.
        const old = error instanceof PressBusy ? undefined : shelf.findOutdated(key, variant);
        if (!old) throw error;
        return old;
      }
    },
    variantFor: (access, level) => (access !== null && mayRead(access, level) ? 'full' : 'public'),
    ready(entry, wanted) {
      const [first = 'identity'] = wanted;
      return entry.ready[first] ?? shelf.ready(entry, chooseEncoding(entry.page, wanted));
    },
    invalidate,
    refresh,
    warm: createWarming({ shelf, desk, find: (key) => shelf.find(key, 'public') }),
    async finishBuild() {
      store.markWarm();
      // In small steps, so that readers do not wait for the tidying.
      while (store.pruneSome()) await new Promise((resolve) => setTimeout(resolve, 5).unref());
    },
    schedule: (at, tags) => schedule.add(at, [...tags]),
    get durable() {
      return shelf.noted;
    },
    stats() {
      let size: StoreSize | null = null;
      try {
        size = store.size();
      } catch (error) {
        log.warn({ err: error }, 'The size of the page store cannot be told');
      }
      return {
        build: store.build,
        store: size,
        memory: { pages: memory.size, bytes: memory.bytes, budget: options.memoryBytes },
        counters: { ...counters },
        queue: desk.waiting,
        unwritten: shelf.unwritten,
        scheduled: schedule.size,
        publishes: [...figures.publishes],
        failures: [...figures.failures],
      };
    },
    resumed,
    async close() {
      clearInterval(tick);
      await desk.stop();
      await encoder.close();
      shelf.tend();
      shelf.flushReads();
    },
  };
}
