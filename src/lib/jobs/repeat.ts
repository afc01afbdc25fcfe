/** Background work at regular intervals. */

export interface RepeatedTask {
  /** Aborts a run under way and waits for its end; no other begins. */
  stop(): Promise<void>;
}

/**
 * Runs a task at regular intervals, one run at a time: while one is under way, an interval passes without another. It does not keep
 * the process alive.
 *
 * @param everyMs milliseconds until the first run and between two beginnings
 * @param task gets a signal that is aborted when the repetition stops
 * @param onError called with what a run throws; the task is repeated all the same
 */
export function repeat(
  everyMs: number,
  task: (signal: AbortSignal) => unknown,
  onError: (error: unknown) => void,
): RepeatedTask {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    try {
      await task(stopping.signal);
    } catch (error) {
      onError(error);
    }
    running = null;
  }

  const timer = setInterval(() => {
    running ??= run();
  }, everyMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
