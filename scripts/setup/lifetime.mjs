/**
 * Stopping: on Ctrl-C, SIGTERM, SIGHUP, and when the process that started this one goes away, everything that was started
 * here is stopped, and nothing else.
 */

/** @type {Set<(hard: boolean) => unknown>} */
const stoppers = new Set();
/** @type {Promise<never> | undefined} */
let stopping;
let stoppedAt = 0;
let asked = false;

/**
 * Registers what must be stopped when this process stops.
 *
 * @param {(hard: boolean) => unknown} stop may return a promise; `hard`: at once, without waiting
 * @returns {() => void} takes it back
 */
export function whileRunning(stop) {
  stoppers.add(stop);
  return () => stoppers.delete(stop);
}

/** From here on an interrupt is how the command ends normally, with exit code 0. */
export function endsWhenAsked() {
  asked = true;
}

/** Whether the process is on its way out; what ends now was meant to end. */
export const isStopping = () => stopping !== undefined;

/**
 * Stops everything, last started first, and ends this process.
 *
 * @param {number} code
 * @returns {Promise<never>}
 */
export function stopAll(code) {
  stopping ??= (async () => {
    stoppedAt = Date.now();
    await Promise.allSettled([...stoppers].reverse().map(async (stop) => stop(false)));
    process.exit(code);
  })();
  return stopping;
}

/** @type {Record<string, number>} */
const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** Listens for the signals; called once by run.mjs. */
export function listenForSignals() {
  for (const [signal, code] of Object.entries(codes)) {
    process.on(signal, () => {
      // npm passes on the signal that the terminal has already sent; only a later one is meant as "now".
      if (isStopping() && Date.now() - stoppedAt > 1500) process.exit(code);
      void stopAll(asked ? 0 : code);
    });
  }
  if (process.connected) process.on('disconnect', () => void stopAll(1));
  // npm passes a signal to the shell that it started, and the shell dies of it without a word to this process.
  if (process.env.npm_lifecycle_event) {
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) void stopAll(143);
    }, 500).unref();
  }
  // However this process ends, its children end with it.
  process.on('exit', () => {
    for (const stop of stoppers) stop(true);
  });
}
