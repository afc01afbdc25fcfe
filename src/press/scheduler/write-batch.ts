/**
 * Stores several rendered pages in one transaction, for a command that renders many pages and serves no readers. If two processes
 * write to one store, each transaction makes the other one wait and read the store's tables again.
 */

/** Milliseconds that a page waits for others at the end, when there are fewer than a full batch. */
const longestWaitMs = 50;

export interface WriteBatch {
  /** Stores a page with others. @param work stores it; runs once more if the transaction failed */
  add<T>(work: () => T): Promise<T>;
}

interface Waiting {
  /** Called when the transaction has ended; passes on the page's own result. */
  settle: () => void;
  readonly work: () => void;
}

/**
 * @param size number of pages that are stored together
 * @param together runs `work` in one transaction
 */
export function createWriteBatch(size: number, together: (work: () => void) => void): WriteBatch {
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting;
    waiting = [];
    try {
      together(() => {
        for (const { work } of batch) work();
      });
    } catch {
      // An error of one page also undoes the others, so each is stored again on its own.
      for (const { work } of batch) {
        try {
          work();
        } catch {
          // `add` has stored the error.
        }
      }
    }
    for (const { settle } of batch) settle();
  }

  return {
    add<T>(work: () => T): Promise<T> {
      return new Promise((resolve, reject) => {
        const page: Waiting = {
          settle: () => {},
          work() {
            try {
              const value = work();
              page.settle = () => resolve(value);
            } catch (error) {
              page.settle = () => reject(error);
              throw error;
            }
          },
        };
        waiting.push(page);
        if (waiting.length >= size) write();
        else timer ??= setTimeout(write, longestWaitMs);
      });
    },
  };
}
