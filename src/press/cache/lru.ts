/**
 * The hottest pages in memory, within a byte budget. Eviction is SIEVE: a hit sets one bit and moves nothing, which is what
 * makes it cheaper than a list ordered by use, and a page that is read once leaves before one that is read again.
 */
import type { Entry } from './cached-page.ts';

export interface Memory {
  /** Bytes in use. */
  readonly bytes: number;
  readonly size: number;
  /** Grows when another process wrote to the store: entries of an earlier epoch are looked at again. */
  epoch: number;
  get(name: string): Entry | undefined;
  set(name: string, entry: Entry): void;
  delete(name: string): boolean;
  clear(): void;
  /** Runs `change`, which may make the entry larger, and keeps within the budget. */
  resize<T>(name: string, entry: Entry, change: () => T): T;
  entries(): IterableIterator<[string, Entry]>;
}

/**
 * @param budget bytes that all entries take together
 * @param evicted told of each entry that leaves for want of room
 */
export function createMemory(budget: number, evicted: (name: string, entry: Entry) => void = () => {}): Memory {
  const entries = new Map<string, Entry>();
  let hand: IterableIterator<[string, Entry]> = entries.entries();
  let bytes = 0;
  let epoch = 1;

  function forget(name: string): boolean {
    const entry = entries.get(name);
    if (!entry) return false;
    entries.delete(name);
    bytes -= entry.bytes;
    return true;
  }

  function makeRoom(): void {
    while (bytes > budget && entries.size > 0) {
      let next = hand.next();
      if (next.done) {
        hand = entries.entries();
        next = hand.next();
        if (next.done) return;
      }
      const [name, entry] = next.value;
      if (entry.visited) {
        entry.visited = false;
      } else {
        forget(name);
        evicted(name, entry);
      }
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
    set(name, entry) {
      forget(name);
      entry.epoch = epoch;
      entries.set(name, entry);
      bytes += entry.bytes;
      makeRoom();
    },
    delete: forget,
    clear() {
      entries.clear();
      hand = entries.entries();
      bytes = 0;
    },
    resize(name, entry, change) {
      const before = entry.bytes;
      const result = change();
      // An entry that has left in the meantime belongs to whoever still sends it.
      if (entries.get(name) === entry) {
        bytes += entry.bytes - before;
        makeRoom();
      }
      return result;
    },
    entries: () => entries.entries(),
  };
}
