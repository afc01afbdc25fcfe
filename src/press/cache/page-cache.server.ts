/**
 * Page cache: the LRU in memory over the disk store. Pages that the store can't write (a full disk) stay in memory until it can, so
 * that readers notice neither a full disk nor a damaged file.
 */

import type { Encoding } from '../../lib/http/negotiation.server.ts';
import type { Logger } from '../../lib/logging.ts';
import type { PageStore } from '../store/page-store.server.ts';
import {
  type Bodies,
  type Change,
  nameOf,
  type PageRef,
  type StoredEncoding,
  type StoredPage,
  type Variant,
} from '../store/stored-page.ts';
import {
  type CacheState,
  collectReads,
  createStoreAccess,
  createUnwrittenPages,
  flushReads,
  isStored,
  removePages,
  reportReplaced,
  type TagChanges,
} from './cache-state.ts';
import {
  type CachedPage,
  chooseEncoding,
  createCachedPage,
  type EncodedResponse,
  encodedIn,
  type HeadersOf,
  startWithDictionary,
  type WithDictionary,
} from './cached-page.ts';
import type { Encode } from './compressor.server.ts';
import type { DictionaryCoding, PageDictionary } from './dictionary.server.ts';
import { type Choices, createInsertions, type Insertions, isShownFor, onlyForOneReader } from './insertions.server.ts';
import { applyChange, catchUp, isInOrder } from './invalidation.ts';
import type { Lru } from './lru.ts';

export interface PageCacheOptions {
  readonly store: PageStore;
  readonly lru: Lru;
  readonly changes: TagChanges;
  readonly headersOf: HeadersOf;
  /** Compresses changed forms of stored pages. */
  readonly encode: Encode;
  /** The forms of pages with choices (default: as they are). */
  readonly choices?: Choices | undefined;
  /** The shared dictionary of pages (default: none). */
  readonly dictionary?: PageDictionary | null | undefined;
  readonly log: Logger;
  readonly now: () => number;
  /** The tag of every page. */
  readonly everything: string | null;
  /** Bytes of unwritten pages in memory; beyond them the oldest are rendered again on demand. */
  readonly unwrittenBytes: number;
  /**
   * Called with the names of pages that were replaced, removed or got other tags, in the turn in which that happened: other processes that
   * read the store have to look them up again.
   */
  readonly onReplaced?: ((names: readonly string[] | 'all') => void) | undefined;
}

export interface PageCache {
  /** Whether every change is in the store: after a restart, an unrecorded change would be forgotten and old pages would return. */
  readonly recorded: boolean;
  /** Whether the store has every page as readers may see it; `false` while it can't be written. */
  readonly stored: boolean;
  readonly unwritten: number;
  /** Looks up a current page. */
  find(key: string, variant: Variant): CachedPage | undefined;
  /** The same, without the store. */
  findInMemory(key: string, variant: Variant, name?: string): CachedPage | undefined;
  /** Looks up an outdated page that is rendered on demand, if nothing was withdrawn since; shared caches may not store it. */
  findOutdated(key: string, variant: Variant): CachedPage | undefined;
  /** Whether the store has this build's own rendering; a page that is rendered on demand must also be current. */
  has(ref: PageRef): boolean;
  /** See `Press.encoded`. */
  encoded(cached: CachedPage, wanted: readonly Encoding[]): EncodedResponse | undefined;
  /** See `Press.withDictionary`. */
  withDictionary(cached: CachedPage, available: string, coding: DictionaryCoding): WithDictionary;
  readonly insertions: Insertions;
  /** Stores a rendering; `undefined` if it is already outdated. */
  put(page: StoredPage, bodies: Bodies, seenChange: number, interim: boolean): CachedPage | undefined;
  /** Replaces the tags of unchanged bytes; `false` if that was too late. */
  retag(cached: CachedPage, tags: readonly string[], seenChange: number): boolean;
  remove(refs: readonly PageRef[]): void;
  /** Records a change; withdrawn pages are removed when this returns. */
  change(tags: readonly string[], withdrawn: readonly string[]): Change;
  mark(refs: readonly PageRef[], seq: number): void;
  /** Writes what the store couldn't take before, and checks whether another process wrote. Call it about every second. */
  catchUp(): void;
  flushReads(): void;
}

export function createPageCache(options: PageCacheOptions): PageCache {
  const { store, lru, changes, headersOf, log, now, everything } = options;
  const access = createStoreAccess(log, now);
  const state: CacheState = {
    store,
    access,
    lru,
    changes,
    headersOf,
    dictionary: options.dictionary ?? null,
    everything,
    unwritten: createUnwrittenPages(options.unwrittenBytes),
    unusable: new Set(),
    unrecorded: [],
    reads: new Map(),
    outdated: new WeakMap(),
    rowsUntrusted: false,
    // Read before the first page, so that no write of another process is missed.
    foreignWrites: access.attempt(() => store.foreignWrites())?.value ?? 0,
    onReplaced: options.onReplaced ?? (() => {}),
    wasStored: true,
  };
  lru.onRemove((name, cached) => collectReads(state, name, cached));
  store.onReset(() => {
    lru.clear();
    state.unusable.clear();
    reportReplaced(state, 'all');
  });
  return {
    get recorded() {
      return state.unrecorded.length === 0;
    },
    get stored() {
      return isStored(state);
    },
    get unwritten() {
      return state.unwritten.size;
    },
    find: (key, variant) => find(state, key, variant),
    findInMemory: (key, variant, name) => findInMemory(state, key, variant, name),
    findOutdated: (key, variant) => findOutdated(state, key, variant),
    has: (ref) => has(state, ref),
    encoded(cached, wanted) {
      const [first = 'identity'] = wanted;
      return cached.encoded[first] ?? encode(state, cached, chooseEncoding(cached.page, wanted));
    },
    withDictionary(cached, available, coding) {
      if (available !== state.dictionary?.available) return null;
      const known = cached[coding];
      return known === undefined ? encodeWith(state, state.dictionary, cached, coding) : known;
    },
    insertions: createInsertions({
      encode: options.encode,
      choices: options.choices,
      headersOf,
      load: loadFrom(state),
      resize: (page, change) => lru.resize(nameOf(page.page.key, page.page.variant), page, change),
      pages: function* () {
        for (const [, page] of lru.entries()) yield page;
        for (const [, { page }] of state.unwritten) yield page;
      },
      log,
    }),
    put: (page, bodies, seenChange, interim) => put(state, page, bodies, seenChange, interim),
    retag: (cached, tags, seenChange) => retag(state, cached, tags, seenChange),
    remove: (refs) => removePages(state, refs),
    change: (tags, withdrawn) => applyChange(state, tags, withdrawn),
    mark: (refs, seq) => void state.access.attempt(() => store.mark(refs, seq)),
    catchUp: () => catchUp(state),
    flushReads: () => flushReads(state),
  };
}

/** Counts the bytes by which a page grows; the bytes of a page's changed forms count for the page in the LRU. */
function resize<T>(state: CacheState, cached: CachedPage, change: () => T): T {
  const { counted } = cached;
  const name = nameOf(cached.page.key, cached.page.variant);
  if (!counted) return state.lru.resize(name, cached, change);
  return state.lru.resize(name, counted, () => {
    const before = cached.bytes;
    const result = change();
    if (isShownFor(counted, cached) || state.outdated.get(counted) === cached) counted.bytes += cached.bytes - before;
    return result;
  });
}

/** The store's bytes of a page in one encoding. */
const loadFrom =
  ({ access, store }: CacheState) =>
  (page: StoredPage, encoding: StoredEncoding): Buffer | undefined =>
    access.attempt(() => store.body(page, encoding))?.value;

function encodeWith(
  state: CacheState,
  dictionary: PageDictionary,
  cached: CachedPage,
  coding: DictionaryCoding,
): WithDictionary {
  return startWithDictionary(dictionary, coding, cached, state.headersOf, loadFrom(state), (make) =>
    resize(state, cached, make),
  );
}

function encode(state: CacheState, cached: CachedPage, encoding: Encoding): EncodedResponse | undefined {
  const { lru, headersOf } = state;
  const name = nameOf(cached.page.key, cached.page.variant);
  const response = resize(state, cached, () => encodedIn(cached, encoding, headersOf, loadFrom(state)));
  // This rendering is no longer stored, so the next look-up must not find it here.
  if (!response && lru.get(name) === (cached.counted ?? cached)) lru.delete(name);
  return response;
}

function put(
  state: CacheState,
  page: StoredPage,
  bodies: Bodies,
  seenChange: number,
  interim: boolean,
): CachedPage | undefined {
  const { lru, access, store, changes, unwritten, unusable, headersOf } = state;
  const name = nameOf(page.key, page.variant);
  const written = isInOrder(state) ? access.attempt(() => store.put(page, bodies, seenChange, interim)) : undefined;
  if (!written) {
    const cached = createCachedPage(page, headersOf, bodies);
    lru.delete(name);
    unusable.add(name);
    unwritten.keep(name, cached, bodies);
    reportReplaced(state, [name]);
    return cached;
  }
  if (written.value === null) {
    // Another process recorded a change: the next render begins after it.
    changes.reach(access.attempt(() => store.latest())?.value ?? 0);
    return undefined;
  }
  unwritten.drop(name);
  unusable.delete(name);
  // Most pages aren't requested before they change again.
  const cached = createCachedPage({ ...page, version: written.value }, headersOf, {});
  lru.set(name, cached);
  reportReplaced(state, [name]);
  return cached;
}

function retag(state: CacheState, { page }: CachedPage, tags: readonly string[], seenChange: number): boolean {
  const { access, store, lru, unwritten, unusable } = state;
  const name = nameOf(page.key, page.variant);
  if (unwritten.has(name)) {
    unwritten.retag(name, tags);
    return true;
  }
  const retagged = access.attempt(() => store.retag({ ...page, tags }, seenChange));
  if (retagged?.value === false) return false;
  if (page.tags.join() !== tags.join()) {
    lru.delete(name);
    // If the store kept the old tags, a change of a new tag wouldn't find the page.
    if (!retagged) unusable.add(name);
    reportReplaced(state, [name]);
  }
  return true;
}

// Look-ups: memory first, then unwritten pages, then the store.

/** A page from memory or store, current or not. */
function findAny(state: CacheState, key: string, variant: Variant): CachedPage | undefined {
  const name = nameOf(key, variant);
  const inMemory = findAnyInMemory(state, key, variant, name);
  if (inMemory) return inMemory;
  if (state.rowsUntrusted || (state.unusable.size > 0 && state.unusable.has(name))) return undefined;
  const page = state.access.attempt(() => state.store.find(key, variant))?.value;
  if (!page) return undefined;
  const found = createCachedPage(page, state.headersOf, {});
  state.lru.set(name, found);
  return found;
}

function findAnyInMemory(state: CacheState, key: string, variant: Variant, name: string): CachedPage | undefined {
  const { lru, store, unwritten } = state;
  const cached = lru.get(name);
  if (cached) {
    if (cached.epoch === lru.epoch) return cached;
    // Another process has written to the store since this page was last confirmed.
    const current = state.access.attempt(() => store.find(key, variant));
    if (!current) return cached;
    if (current.value?.version === cached.page.version) {
      cached.epoch = lru.epoch;
      return cached;
    }
    lru.delete(name);
  }
  return unwritten.size > 0 ? unwritten.get(name)?.page : undefined;
}

/** Whether a page that is rendered on demand is current; checked once after each change. */
function isCurrent({ changes, access, store }: CacheState, cached: CachedPage): boolean {
  if (cached.current >= changes.latest) return true;
  const { latest } = changes;
  const { tags, asOf } = cached.page;
  // Changes that the store couldn't record are in memory; changes from before the start are in the store.
  if (changes.after(tags, asOf ?? 0) !== 'nothing') return false;
  if (access.attempt(() => store.isCurrent(cached.page))?.value === false) return false;
  cached.current = latest;
  return true;
}

/** A current page. */
function find(state: CacheState, key: string, variant: Variant): CachedPage | undefined {
  const cached = findAny(state, key, variant);
  return cached === undefined || isCurrent(state, cached) ? cached : undefined;
}

/** A current page that is in memory. @param name `nameOf(key, variant)`, where it is known */
function findInMemory(
  state: CacheState,
  key: string,
  variant: Variant,
  name: string = nameOf(key, variant),
): CachedPage | undefined {
  const cached = findAnyInMemory(state, key, variant, name);
  return cached === undefined || isCurrent(state, cached) ? cached : undefined;
}

/** An outdated page that is rendered on demand, if nothing was withdrawn since. */
function findOutdated(state: CacheState, key: string, variant: Variant): CachedPage | undefined {
  const cached = findAny(state, key, variant);
  if (!cached || cached.page.asOf === null) return undefined;
  const { asOf, tags } = cached.page;
  const withdrew = state.access.attempt(() => state.store.withdrewSince(asOf))?.value ?? true;
  return withdrew || state.changes.after(tags, asOf) === 'withdrawn' ? undefined : onlyForItsReader(state, cached);
}

function onlyForItsReader({ outdated, headersOf }: CacheState, cached: CachedPage): CachedPage {
  // One copy for all requests: the forms that readers get are made once and kept with it.
  const known = outdated.get(cached);
  if (known) return known;
  const copy = createCachedPage(onlyForOneReader(cached.page), headersOf, {}, cached.epoch, cached);
  outdated.set(cached, copy);
  return copy;
}

/** Whether the store has this build's own rendering; a page that is rendered on demand must also be current. */
function has({ unwritten, unusable, rowsUntrusted, access, store }: CacheState, { key, variant }: PageRef): boolean {
  const name = nameOf(key, variant);
  if (unwritten.has(name)) return true;
  return !rowsUntrusted && !unusable.has(name) && (access.attempt(() => store.has(key, variant))?.value ?? false);
}
