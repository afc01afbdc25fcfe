/** State of the page cache, and functions that look-ups and changes share. */
import type { Logger } from '../../lib/logging.ts';
import type { PageStore } from '../store/page-store.server.ts';
import { StoreUnavailable } from '../store/sqlite-file.server.ts';
import { type Bodies, nameOf, type PageRef, refOf } from '../store/stored-page.ts';
import type { CachedPage, HeadersOf } from './cached-page.ts';
import type { PageDictionary } from './dictionary.server.ts';
import type { Lru } from './lru.ts';

export interface CacheState {
  readonly store: PageStore;
  readonly access: StoreAccess;
  readonly lru: Lru;
  readonly changes: TagChanges;
  readonly headersOf: HeadersOf;
  readonly dictionary: PageDictionary | null;
  /** The tag that every page has. */
  readonly everything: string | null;
  readonly unwritten: UnwrittenPages;
  /** Names of pages whose row in the store must not be used: it is outdated, and couldn't be removed. */
  readonly unusable: Set<string>;
  /** Changes that the store couldn't record, in their order. */
  readonly unrecorded: { readonly tags: readonly string[]; readonly withdrawn: readonly string[] }[];
  /** Reads of pages that aren't written to the store yet, by page name. */
  readonly reads: Map<string, { readonly ref: PageRef; count: number }>;
  /** Copies of outdated pages, see `onlyForItsReader` in page-cache.server.ts. */
  readonly outdated: WeakMap<CachedPage, CachedPage>;
  /** Whether the store also failed to look up the pages of an unrecorded change: then no row of the store may be used. */
  rowsUntrusted: boolean;
  /** `foreignWrites` of the store at the last check. */
  foreignWrites: number;
  /** Called with the names of pages that readers of the store must look up again. */
  readonly onReplaced: (names: readonly string[] | 'all') => void;
  /** The previous result of {@link isStored}. */
  wasStored: boolean;
}

/** If there are more pages with unwritten reads than this, the reads are written at once. */
const mostReads = 5000;

export const nameOfRef = ({ key, variant }: PageRef): string => nameOf(key, variant);

export const isEverything = ({ everything }: CacheState, tags: readonly string[]): boolean =>
  everything !== null && tags.includes(everything);

/** Whether the store has everything that readers may see, and nothing that they may not. */
export const isStored = ({ unwritten, unusable, unrecorded, rowsUntrusted }: CacheState): boolean =>
  unwritten.size + unusable.size + unrecorded.length === 0 && !rowsUntrusted;

/** Reports replaced pages, or a change of {@link isStored}. */
export function reportReplaced(state: CacheState, names: readonly string[] | 'all'): void {
  const stored = isStored(state);
  if (names.length === 0 && stored === state.wasStored) return;
  state.wasStored = stored;
  state.onReplaced(names);
}

/** Removes a page from memory. */
export function forget({ lru, unwritten }: CacheState, name: string): void {
  lru.delete(name);
  unwritten.drop(name);
}

/** Removes pages from memory and store; a row that can't be removed is no longer used. */
export function removePages(state: CacheState, refs: readonly PageRef[]): void {
  if (refs.length === 0) return;
  const names = refs.map(nameOfRef);
  for (const name of names) forget(state, name);
  const removed = state.access.attempt(() => state.store.remove(refs));
  for (const name of names) {
    if (removed) state.unusable.delete(name);
    else state.unusable.add(name);
  }
  reportReplaced(state, names);
}

/** Records the reads of a page that leaves memory. */
export function collectReads(state: CacheState, name: string, cached: CachedPage): void {
  if (cached.reads === 0) return;
  const known = state.reads.get(name);
  if (known) known.count += cached.reads;
  else state.reads.set(name, { ref: refOf(name), count: cached.reads });
  cached.reads = 0;
  if (state.reads.size > mostReads) writeReads(state);
}

/** Writes the reads of all pages to the store. Counts that can't be written are lost: they only influence the order of renders. */
export function flushReads(state: CacheState): void {
  for (const [name, cached] of state.lru.entries()) collectReads(state, name, cached);
  writeReads(state);
}

function writeReads({ reads, access, store }: CacheState): void {
  if (reads.size === 0) return;
  access.attempt(() => store.addReads(reads));
  reads.clear();
}

/**
 * The latest change of each tag, by number and not by time: all changes are numbered in one sequence. A render records the latest
 * number when it starts; the result is outdated if one of its tags has a higher number at the end.
 */
export interface TagChanges {
  /** Number of the latest change. */
  readonly latest: number;
  /** Records a change. @param number from the store, or `null` to take the next one */
  note(tags: Iterable<string>, withdrawn: Iterable<string>, number: number | null): number;
  /** Adopts a number that another process wrote to the store. */
  reach(number: number): void;
  /** Whether any of these tags has changed, or was withdrawn, after change number `since`. */
  after(tags: Iterable<string>, since: number): 'nothing' | 'changed' | 'withdrawn';
}

interface Mark {
  readonly changed: number;
  readonly withdrawn: number;
}

/**
 * @param everything the tag of every page
 * @param limit most tags in memory; beyond that the oldest are dropped, and the results of renders that started before are
 *   discarded
 */
export function createTagChanges(everything: string | null, limit = 50_000): TagChanges {
  let latest = 0;
  /** All changes up to this number may have been forgotten. */
  let forgotten = 0;
  const marks = new Map<string, Mark>();

  function mark(tag: string, number: number, withdrawn: boolean): void {
    const before = marks.get(tag);
    // Deleted first, so that the map stays in the order of the changes.
    marks.delete(tag);
    marks.set(tag, { changed: number, withdrawn: withdrawn ? number : (before?.withdrawn ?? 0) });
  }

  return {
    get latest() {
      return latest;
    },
    note(tags, withdrawn, number) {
      latest = Math.max(latest + 1, number ?? 0);
      for (const tag of tags) mark(tag, latest, false);
      for (const tag of withdrawn) mark(tag, latest, true);
      while (marks.size > limit) {
        const [oldest] = marks;
        if (!oldest) break;
        marks.delete(oldest[0]);
        forgotten = Math.max(forgotten, oldest[1].changed);
      }
      return latest;
    },
    reach(number) {
      latest = Math.max(latest, number);
    },
    after(tags, since) {
      if (since < forgotten) return 'withdrawn';
      let answer: 'nothing' | 'changed' = 'nothing';
      const isWithdrawn = (tag: string): boolean => {
        const known = marks.get(tag);
        if (known && known.withdrawn > since) return true;
        if (known && known.changed > since) answer = 'changed';
        return false;
      };
      if (everything !== null && isWithdrawn(everything)) return 'withdrawn';
      for (const tag of tags) if (isWithdrawn(tag)) return 'withdrawn';
      return answer;
    },
  };
}

/** A complete page that couldn't be written to the disk store, because the disk is full. */
export interface UnwrittenPage {
  readonly page: CachedPage;
  readonly bodies: Bodies;
  /** The page's bytes that count for the budget: its size when it was added, because it grows with each requested encoding. */
  readonly bytes: number;
}

export interface UnwrittenPages extends Iterable<[string, UnwrittenPage]> {
  readonly size: number;
  get(name: string): UnwrittenPage | undefined;
  has(name: string): boolean;
  /** Adds a page; beyond the budget the oldest pages are removed and rendered again on demand. */
  keep(name: string, page: CachedPage, bodies: Bodies): void;
  /** Replaces the tags of a page. */
  retag(name: string, tags: readonly string[]): void;
  drop(name: string): void;
}

/** @param budget bytes of all pages together */
export function createUnwrittenPages(budget: number): UnwrittenPages {
  const pages = new Map<string, UnwrittenPage>();
  let bytes = 0;

  function drop(name: string): void {
    bytes -= pages.get(name)?.bytes ?? 0;
    pages.delete(name);
  }

  return {
    get size() {
      return pages.size;
    },
    get: (name) => pages.get(name),
    has: (name) => pages.has(name),
    keep(name, page, bodies) {
      drop(name);
      pages.set(name, { page, bodies, bytes: page.bytes });
      bytes += page.bytes;
      for (const oldest of pages.keys()) {
        if (bytes <= budget) break;
        drop(oldest);
      }
    },
    retag(name, tags) {
      const known = pages.get(name);
      if (known) pages.set(name, { ...known, page: { ...known.page, page: { ...known.page.page, tags } } });
    },
    drop,
    [Symbol.iterator]: () => pages.entries(),
  };
}

/** Calls to the disk store: a failing store is logged and never breaks a request. */
export interface StoreAccess {
  /** Runs `work`; `undefined` when the store can't be used at present. The value is wrapped, because it may be `undefined` itself. */
  attempt<T>(work: () => T): { readonly value: T } | undefined;
  /** Logs that the store works again, if its failure was logged. */
  recovered(): void;
}

/** Milliseconds between two log lines about a store that can't be used. */
const logEveryMs = 60_000;

export function createStoreAccess(log: Logger, now: () => number): StoreAccess {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let failing = false;
  return {
    attempt(work) {
      try {
        return { value: work() };
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        if (Math.abs(now() - loggedAt) >= logEveryMs) {
          loggedAt = now();
          failing = true;
          log.error({ err: error }, "The page store can't be used; pages are served from memory until it can");
        }
        return undefined;
      }
    },
    recovered() {
      if (failing) log.info({}, 'The page store works again');
      failing = false;
    },
  };
}
