/** Tools for background tasks: repetition at intervals, a time limit, back-off after a failure, and a keyed mutex. */

export interface RepeatedTask {
  /**
   * Runs the task at once, or once more after the current run. Resolves when no run is in progress; failures are reported to
   * `onError`.
   */
  runNow(): Promise<void>;
  /** Aborts the current run and waits for its end; no other starts. */
  stop(): Promise<void>;
}

type Task = (signal: AbortSignal) => unknown;

type OnError = (error: unknown) => void;

/** Runs of a task, one at a time. @param onEnd called when a run has ended and no other follows at once */
function createRuns(task: Task, onError: OnError = () => {}, onEnd: () => void = () => {}) {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let again = false;

  async function run(): Promise<void> {
    do {
      again = false;
      try {
        await task(stopping.signal);
      } catch (error) {
        onError(error);
      }
    } while (again && !stopping.signal.aborted);
    running = null;
    if (!stopping.signal.aborted) onEnd();
  }

  function start(): void {
    if (!stopping.signal.aborted) running ??= run();
  }

  return {
    start,
    async runNow() {
      again = true;
      start();
      await running;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Runs work that never fails, one run at a time: a call during a run causes another run. Resolves when none is in progress. */
export const oneAtATime = (work: () => Promise<void>): (() => Promise<void>) => createRuns(work).runNow;

/**
 * Runs a task at regular intervals, one run at a time: an interval that ends during a run starts no new one. The timer doesn't keep the
 * process alive.
 *
 * @param everyMs milliseconds until the first run and between the starts of two runs
 * @param task gets a signal that is aborted when the repetition stops
 * @param onError called with the error of a failed run, after which the repetition continues; omitted for a task that reports its own
 */
export function repeat(everyMs: number, task: Task, onError?: OnError): RepeatedTask {
  const { start, runNow, stop } = createRuns(task, onError);
  const timer = setInterval(start, everyMs).unref();
  return {
    runNow,
    stop() {
      clearInterval(timer);
      return stop();
    },
  };
}

/**
 * As {@link repeat}, with a pause between the end of a run and the start of the next.
 *
 * @param pauseMs returns the milliseconds of the pause that begins
 */
export function repeatAfterPause(pauseMs: () => number, task: Task, onError?: OnError): RepeatedTask {
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(start, pauseMs()).unref();
  };
  const { start, runNow, stop } = createRuns(task, onError, wait);
  wait();
  return {
    runNow,
    stop() {
      clearTimeout(timer);
      return stop();
    },
  };
}

/**
 * The result of some work, or of `late` if the work takes longer. The work then continues, but its result or failure is ignored.
 *
 * @param late may throw
 */
export async function withTimeLimit<T, Late>(ms: number, work: Promise<T>, late: () => Late): Promise<T | Late> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    return await Promise.race([work, promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/** The result of some work. @throws Error with the message if the work takes longer */
export const failAfter = <T>(ms: number, work: Promise<T>, message = `no answer within ${ms} ms`): Promise<T> =>
  withTimeLimit(ms, work, () => {
    throw new Error(message);
  });

/**
 * Exponential back-off with jitter: anything between half a step and a whole one, so that many callers don't retry at the same time.
 *
 * @param attempt 1 for the first wait
 * @param base milliseconds of the first step
 * @param cap longest wait in milliseconds
 */
export function backOff(attempt: number, base: number, cap: number, random: () => number = Math.random): number {
  const step = Math.min(cap, base * 2 ** Math.min(attempt - 1, 30));
  return Math.round(step / 2 + (random() * step) / 2);
}

/** Runs `work` when all earlier work under the same key has settled; work under other keys doesn't wait. */
export type WithLock = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Keyed mutex of this process: work under one key runs in the order of the calls. A failure rejects only for its caller. */
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
