/** Runs `work` when all earlier work under the same key has settled; work under other keys isn't held up. */
export type WithLock = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Keyed mutex of this process: work under one key runs one after the other, in the order of the calls. A failure rejects for its
 * own caller only.
 */
export function createKeyedMutex(): WithLock {
  const tails = new Map<string, Promise<void>>();
  return (key, work) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(work);
    const tail = result.then(
      () => {},
      () => {},
    );
    tails.set(key, tail);
    void tail.then(() => {
      if (tails.get(key) === tail) tails.delete(key);
    });
    return result;
  };
}
