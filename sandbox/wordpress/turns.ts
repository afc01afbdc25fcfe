/** Turns at the few PHP instances: in the order of arrival, but some callers go before the others. */

/** No request ended in time; the web server answers 503. */
export class AcquireTimeoutError extends Error {
  override readonly name = 'AcquireTimeoutError';
}

export interface Turns {
  /**
   * Waits for a turn and resolves to the function that gives it back.
   *
   * @param ahead goes before all who wait without it
   * @throws {AcquireTimeoutError} when the wait is too long
   */
  take(ahead: boolean): Promise<() => void>;
}

interface Waiting {
  readonly ahead: boolean;
  readonly go: () => void;
}

/**
 * @param places turns that may be taken at once
 * @param patience longest wait in milliseconds
 */
export function openTurns(places: number, patience: number): Turns {
  let free = places;
  const waiting: Waiting[] = [];

  const turn = (): (() => void) => {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const at = waiting.findIndex(({ ahead }) => ahead);
      const [next] = waiting.splice(Math.max(0, at), 1);
      if (next) next.go();
      else free += 1;
    };
  };

  return {
    take(ahead) {
      if (free > 0) {
        free -= 1;
        return Promise.resolve(turn());
      }
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(entry), 1);
          reject(new AcquireTimeoutError(`No turn within ${patience} ms.`));
        }, patience);
        const entry: Waiting = {
          ahead,
          go: () => {
            clearTimeout(timer);
            resolve(turn());
          },
        };
        waiting.push(entry);
      });
    },
  };
}
