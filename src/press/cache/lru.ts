/**
 * The most read pages in memory, within a byte budget. Eviction is SIEVE: a hit sets one bit and moves nothing, which makes it cheaper
 * than a list ordered by use, and a page that is read once leaves before a page that is read again.
 */
import type { CachedPage } from './cached-page.ts';

export interface Lru {
  /** Bytes in use. */
  readonly bytes: number;
  readonly size: number;
  /** Grows when another process wrote to the store: pages of an earlier epoch are checked against the store again. */
  epoch: number;
  get(name: string): CachedPage | undefined;
  set(name: string, page: CachedPage): void;
  delete(name: string): boolean;
  /** Calls `listener` with every page that is evicted, deleted or replaced from now on. */
  onRemove(listener: (name: string, page: CachedPage) => void): void;
  clear(): void;
  /** Runs `change`, which may make the page larger, and evicts others if it does. */
  resize<T>(name: string, page: CachedPage, change: () => T): T;
  entries(): IterableIterator<[string, CachedPage]>;
}

/** @param budget bytes of all pages together */
export function createLru(budget: number): Lru {
  const entries = new Map<string, CachedPage>();
  const hand = createHand(entries);
  let bytes = 0;
  let epoch = 1;
  let removed = (_name: string, _page: CachedPage): void => {};

  function forget(name: string): boolean {
    const page = entries.get(name);
    if (!page) return false;
    entries.delete(name);
    bytes -= page.bytes;
    removed(name, page);
    return true;
  }

  /** @param more bytes that are about to be added */
  function makeRoom(more = 0): void {
    while (bytes + more > budget) {
      const next = hand.next();
      if (!next) return;
      forget(next[0]);
    }
  }

  return {
    get bytes() {
      return bytes;
    },
    get size() {
      return entries.size;
    },
    get epoch() {
      return epoch;
    },
    set epoch(value) {
      epoch = value;
    },
    get: (name) => entries.get(name),
    set(name, page) {
      forget(name);
      page.epoch = epoch;
      if (page.bytes > budget) return;
      // Before the page is added: it isn't marked as read yet, so the hand could evict it at once.
      makeRoom(page.bytes);
      entries.set(name, page);
      bytes += page.bytes;
    },
    delete: forget,
    onRemove(listener) {
      removed = listener;
    },
    clear() {
      entries.clear();
      hand.reset();
      bytes = 0;
    },
    resize(name, page, change) {
      const before = page.bytes;
      const result = change();
      // A page that was evicted in the meantime is used only by the current response.
      if (entries.get(name) === page) {
        bytes += page.bytes - before;
        makeRoom();
      }
      return result;
    },
    entries: () => entries.entries(),
  };
}

/** SIEVE's hand: cycles through the pages and stops at the next one that wasn't read since its last pass. */
function createHand(entries: ReadonlyMap<string, CachedPage>) {
  let place = entries.entries();
  return {
    next(): [string, CachedPage] | undefined {
      while (entries.size > 0) {
        const { done, value } = place.next();
        if (done) place = entries.entries();
        else if (value[1].visited) value[1].visited = false;
        else return value;
      }
      return undefined;
    },
    reset() {
      place = entries.entries();
    },
  };
}
