/** A map with a limited number of recently used values. */
export interface BoundedMap<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  delete(key: string): void;
  clear(): void;
}

/**
 * Two generations: when the young one is full, it becomes the old one; values of the old generation that are read again move to the
 * young one. A look-up in the young generation writes nothing, which makes it cheap on a hot path; the map holds the last `limit` values
 * that were used, and at most twice as many.
 */
export function createBoundedMap<T>(limit: number): BoundedMap<T> {
  let young = new Map<string, T>();
  let old = new Map<string, T>();

  function set(key: string, value: T): void {
    if (young.size >= limit) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  }

  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const older = old.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    set,
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    clear() {
      young = new Map();
      old = new Map();
    },
  };
}
