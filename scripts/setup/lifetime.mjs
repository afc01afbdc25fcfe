/** Stopping: on Ctrl-C, SIGTERM, SIGHUP, and when the parent process ends, everything that this process started is stopped. */

/** @type {Set<(hard: boolean) => unknown>} */
const stoppers = new Set();
/** @type {Promise<never> | undefined} */
let stopping;
let stoppedAt = 0;
let interruptIsNormal = false;

/**
 * Registers a function that stops something when this process stops.
 *
 * @param {(hard: boolean) => unknown} stop may return a promise; `hard`: at once, without waiting
 * @returns {() => void} removes the registration
 */
export function onStop(stop) {
  stoppers.add(stop);
  return () => stoppers.delete(stop);
}

/**
 * For a command that ends by itself and can be interrupted.
 *
 * @returns {{ signal: AbortSignal, ended: () => void }} `signal` is aborted when this process stops; the stop waits for a call of `ended`
 */
export function untilStopped() {
  const stopping = new AbortController();
  const { promise, resolve } = Promise.withResolvers();
  onStop((hard) => {
    stopping.abort();
    return hard ? undefined : promise;
  });
  return { signal: stopping.signal, ended: () => resolve(undefined) };
}

/** From here on an interrupt is the normal way to end the command: the exit code is 0. */
export function treatInterruptAsNormal() {
  interruptIsNormal = true;
}

/** Whether this process is stopping, so that children that end now don't count as failed. */
export const isStopping = () => stopping !== undefined;

/**
 * Stops everything in reverse order of starting, and ends this process.
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
      // npm forwards the signal that the terminal has already sent to this process; only a signal some time later means "stop
      // at once".
      if (isStopping() && Date.now() - stoppedAt > 1500) process.exit(code);
      void stopAll(interruptIsNormal ? 0 : code);
    });
  }
  if (process.connected) process.on('disconnect', () => void stopAll(1));
  // npm sends a signal to the shell that it started, and the shell dies without passing it on to this process.
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
