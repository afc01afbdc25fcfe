/** The queue for the few PHP instances: first come, first served, except for callers with priority. */

/** No instance was free in time; the web server answers 503. */
export class AcquireTimeoutError extends Error {
  override readonly name = 'AcquireTimeoutError';
}

export interface Queue {
  /**
   * Waits for a free instance and resolves to the function that releases it.
   *
   * @param priority goes before all callers without it
   * @throws {AcquireTimeoutError} when the wait is too long
   */
  acquire(priority: boolean): Promise<() => void>;
}

interface Waiting {
  readonly priority: boolean;
  readonly start: () => void;
}

/**
 * @param instances how many may be in use at once
 * @param timeout longest wait in milliseconds
 */
export function openQueue(instances: number, timeout: number): Queue {
  let free = instances;
  const waiting: Waiting[] = [];

  const releaser = (): (() => void) => {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const at = waiting.findIndex(({ priority }) => priority);
      const [next] = waiting.splice(Math.max(0, at), 1);
      if (next) next.start();
      else free += 1;
    };
  };

  return {
    acquire(priority) {
      if (free > 0) {
        free -= 1;
        return Promise.resolve(releaser());
      }
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(entry), 1);
          reject(new AcquireTimeoutError(`No PHP instance was free within ${timeout} ms.`));
        }, timeout);
        const entry: Waiting = {
          priority,
          start: () => {
            clearTimeout(timer);
            resolve(releaser());
          },
        };
        waiting.push(entry);
      });
    },
  };
}
