/** State of the page cache, and the parts of it that look-ups and changes share. */
import type { PageStore } from '../store/page-store.server.ts';
import { nameOf, type PageRef, refOf } from '../store/stored-page.ts';
import type { CachedPage, HeadersOf } from './cached-page.ts';
import type { Lru } from './lru.ts';
import type { TagChanges } from './tag-changes.ts';
import type { StoreAccess, UnwrittenPages } from './unwritten-pages.ts';

export interface CacheState {
  readonly store: PageStore;
  readonly access: StoreAccess;
  readonly lru: Lru;
  readonly changes: TagChanges;
  readonly headersOf: HeadersOf;
  /** The tag that stands for every page. */
  readonly everything: string | null;
  readonly unwritten: UnwrittenPages;
  /** Names of pages whose row in the store must not be used: it is outdated, and couldn't be removed. */
  readonly unusable: Set<string>;
  /** Changes that the store couldn't record, in their order. */
  readonly unrecorded: { readonly tags: readonly string[]; readonly withdrawn: readonly string[] }[];
  /** Reads that aren't in the store yet, by page name. */
  readonly reads: Map<string, { readonly ref: PageRef; count: number }>;
  /** Whether a change is unrecorded whose pages couldn't be looked up either: no row of the store may be used. */
  blind: boolean;
  /** `foreignWrites` of the store when it was last looked at. */
  foreignWrites: number;
}

/** Beyond this many pages with reads they are written at once. */
const mostReads = 5000;

export const nameOfRef = ({ key, variant }: PageRef): string => nameOf(key, variant);

export const isEverything = ({ everything }: CacheState, tags: readonly string[]): boolean =>
  everything !== null && tags.includes(everything);

/** Forgets a page in memory. */
export function forget({ lru, unwritten }: CacheState, name: string): void {
  lru.delete(name);
  unwritten.drop(name);
}

/** Removes pages from memory and store; a row that can't be removed isn't used any more. */
export function removePages(state: CacheState, refs: readonly PageRef[]): void {
  if (refs.length === 0) return;
  const names = refs.map(nameOfRef);
  for (const name of names) forget(state, name);
  const removed = state.access.attempt(() => state.store.remove(refs));
  for (const name of names) {
    if (removed) state.unusable.delete(name);
    else state.unusable.add(name);
  }
}

/** Notes the reads of a page that leaves memory. */
export function collectReads(state: CacheState, name: string, cached: CachedPage): void {
  if (cached.reads === 0) return;
  const known = state.reads.get(name);
  if (known) known.count += cached.reads;
  else state.reads.set(name, { ref: refOf(name), count: cached.reads });
  cached.reads = 0;
  if (state.reads.size > mostReads) writeReads(state);
}

/** Writes the reads of all pages to the store. Counts that can't be written are lost: they only set an order. */
export function flushReads(state: CacheState): void {
  for (const [name, cached] of state.lru.entries()) collectReads(state, name, cached);
  writeReads(state);
}

function writeReads({ reads, access, store }: CacheState): void {
  if (reads.size === 0) return;
  access.attempt(() => store.addReads(reads));
  reads.clear();
}
