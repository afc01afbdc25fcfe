/** Look-ups of the page cache: memory first, then what the store hasn't taken, then the store. */
import { nameOf, type PageRef, type Variant } from '../store/stored-page.ts';
import { type CacheState, collectReads } from './cache-state.ts';
import { type CachedPage, createCachedPage } from './cached-page.ts';

/** A page of memory or store, current or not. */
function findAny(state: CacheState, key: string, variant: Variant): CachedPage | undefined {
  const name = nameOf(key, variant);
  const inMemory = findAnyInMemory(state, key, variant, name);
  if (inMemory) return inMemory;
  if (state.blind || (state.unusable.size > 0 && state.unusable.has(name))) return undefined;
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
    collectReads(state, name, cached);
    lru.delete(name);
  }
  return unwritten.size > 0 ? unwritten.get(name)?.page : undefined;
}

/** Whether a page that is rendered on demand shows the latest state; looked up once after each change. */
function isCurrent({ changes, access, store }: CacheState, cached: CachedPage): boolean {
  if (cached.current >= changes.latest) return true;
  const { latest } = changes;
  const { tags, asOf } = cached.page;
  // Memory knows changes that the store couldn't record, the store those from before the start.
  if (changes.after(tags, asOf ?? 0) !== 'nothing') return false;
  if (access.attempt(() => store.isCurrent(cached.page))?.value === false) return false;
  cached.current = latest;
  return true;
}

/** A current page. */
export function find(state: CacheState, key: string, variant: Variant): CachedPage | undefined {
  const cached = findAny(state, key, variant);
  return cached === undefined || isCurrent(state, cached) ? cached : undefined;
}

/** A current page that is in memory. @param name `nameOf(key, variant)`, where it is known */
export function findInMemory(
  state: CacheState,
  key: string,
  variant: Variant,
  name: string = nameOf(key, variant),
): CachedPage | undefined {
  const cached = findAnyInMemory(state, key, variant, name);
  return cached === undefined || isCurrent(state, cached) ? cached : undefined;
}

/** A page that is rendered on demand and is outdated, as long as nothing was withdrawn since. */
export function findOutdated(state: CacheState, key: string, variant: Variant): CachedPage | undefined {
  const cached = findAny(state, key, variant);
  if (!cached || cached.page.asOf === null) return undefined;
  const { asOf, tags } = cached.page;
  const withdrew = state.access.attempt(() => state.store.withdrewSince(asOf))?.value ?? true;
  return withdrew || state.changes.after(tags, asOf) === 'withdrawn' ? undefined : cached;
}

/** Whether this build's own rendering is there, and isn't one made on demand that is outdated. */
export function has({ unwritten, unusable, blind, access, store }: CacheState, { key, variant }: PageRef): boolean {
  const name = nameOf(key, variant);
  if (unwritten.has(name)) return true;
  return !blind && !unusable.has(name) && (access.attempt(() => store.has(key, variant))?.value ?? false);
}
