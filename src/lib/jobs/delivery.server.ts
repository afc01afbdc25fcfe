/**
 * Small notices on their way to somebody else's service: equal ones are sent once, several go in one request, one request is
 * under way at a time, and trouble is waited out. Memory is bounded whatever the other side does.
 */

import type { Logger } from '../logging.ts';
import { backOff } from './retry.ts';

/** What came of one request. */
export type Outcome =
  | { readonly kind: 'accepted' }
  /** Worth another try. */
  | { readonly kind: 'failed'; readonly message: string; readonly retryAfterMs?: number | null }
  /** The service will never take this batch; see {@link DeliveryOptions.halveRefused}. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The service refuses us: a setting is wrong. `message` names it and says what to do. */
  | { readonly kind: 'misconfigured'; readonly message: string };

export interface DeliveryOptions {
  /** For the log, e.g. `CDN purge`. */
  readonly name: string;
  /** Most notices in one request. */
  readonly batchSize: number;
  /** Milliseconds from the first notice until it is sent; equal ones that come meanwhile are one. */
  readonly collectMs: number;
  /** Most notices that wait. */
  readonly limit: number;
  /** What stands for the waiting notices when they are more than `limit`; an empty array gives them up. */
  readonly overflow: (waiting: readonly string[]) => readonly string[];
  /** Tries of one batch before it is given up; `Infinity` keeps trying. */
  readonly tries: number;
  /** First and longest wait between two tries, milliseconds. */
  readonly backOffMs: readonly [first: number, longest: number];
  /** Milliseconds between two tries while a setting is wrong; `null` gives the batch up instead. */
  readonly misconfiguredMs: number | null;
  /** Sends a refused batch again in halves, so that one notice that can't be taken doesn't cost the others; off by default. */
  readonly halveRefused?: boolean;
  /** Milliseconds that {@link DeliveryQueue.close} may take. */
  readonly closeMs: number;
  readonly send: (batch: readonly string[], signal: AbortSignal) => Promise<Outcome>;
  readonly log: Logger;
  readonly random?: () => number;
}

export interface DeliveryStats {
  /** Notices that the service has taken. */
  readonly accepted: number;
  /** Notices that were given up. */
  readonly failed: number;
  /** Notices that wait or are under way. */
  readonly pending: number;
  /** Requests sent, and those of them that failed. */
  readonly requests: number;
  readonly failedRequests: number;
  /** The last failure in words, `null` after a success. */
  readonly problem: string | null;
}

export interface DeliveryQueue {
  /** Takes notices; returns at once. */
  add(notices: Iterable<string>): void;
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>;
  stats(): DeliveryStats;
  /** Sends what waits without further delay, breaks off after `closeMs`, and takes nothing more. @returns notices not sent */
  close(): Promise<number>;
}

/** `Retry-After` is followed up to this; a service that asks for more is asked again after it. */
const longestRetryAfter = 3_600_000;

/** Makes a queue; it costs nothing while it is empty. */
export function createDeliveryQueue(options: DeliveryOptions): DeliveryQueue {
  const { name, log, batchSize, tries } = options;
  const waiting = new Set<string>();
  const stop = new AbortController();
  /** Halves of refused batches, to be sent before anything else. */
  let halves: (readonly string[])[] = [];
  let sending: readonly string[] = [];
  let running: Promise<void> | null = null;
  let closing = false;
  let wake: (() => void) | null = null;
  let accepted = 0;
  let failed = 0;
  let requests = 0;
  let failedRequests = 0;
  let problem: string | null = null;
  /** The wrong setting that has been logged; it is not logged again before it has worked. */
  let reported: string | null = null;

  /** Waits, unless somebody wakes it: closing does. */
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        wake = null;
        resolve();
      };
      const timer = setTimeout(done, ms);
      // A queue that waits is no reason for the process to go on.
      timer.unref();
      wake = done;
    });

  function put(notices: Iterable<string>): void {
    for (const notice of notices) waiting.add(notice);
    if (waiting.size <= options.limit) return;
    const before = [...waiting];
    const instead = options.overflow(before);
    waiting.clear();
    for (const notice of instead) waiting.add(notice);
    if (instead.length === 0) failed += before.length;
    log.warn(
      { waiting: before.length, instead: instead.length, problem },
      `${name}: more notices wait than the bound allows; ${instead.length === 0 ? 'they are given up' : 'fewer, coarser ones take their place'}`,
    );
  }

  /** @returns milliseconds to wait before the next request, 0 for none */
  function settle(outcome: Outcome, attempt: number): number {
    const batch = sending;
    sending = [];
    if (outcome.kind === 'accepted') {
      accepted += batch.length;
      problem = null;
      reported = null;
      return 0;
    }
    failedRequests++;
    problem = outcome.message;
    const giveUp = (): number => {
      failed += batch.length;
      return 0;
    };
    if (outcome.kind === 'refused') {
      if (options.halveRefused && batch.length > 1) {
        const middle = Math.ceil(batch.length / 2);
        halves.unshift(batch.slice(0, middle), batch.slice(middle));
        return 0;
      }
      log.error(
        { notices: batch.length, first: batch[0], problem },
        `${name}: the request was refused and is not repeated`,
      );
      return giveUp();
    }
    if (outcome.kind === 'misconfigured') {
      if (reported !== problem) log.error({ problem }, `${name}: a setting is wrong`);
      reported = problem;
      if (options.misconfiguredMs === null) return giveUp();
      put(batch);
      return options.misconfiguredMs;
    }
    if (attempt >= tries) {
      log.error({ notices: batch.length, tries, problem }, `${name}: given up`);
      return giveUp();
    }
    put(batch);
    const [first, longest] = options.backOffMs;
    const own = backOff(attempt, first, longest, options.random);
    const wait = Math.max(own, Math.min(outcome.retryAfterMs ?? 0, longestRetryAfter));
    log.warn({ notices: batch.length, attempt, waitMs: wait, problem }, `${name}: failed, to be tried again`);
    return wait;
  }

  async function run(): Promise<void> {
    await pause(closing ? 0 : options.collectMs);
    let attempt = 0;
    while (halves.length + waiting.size > 0 && !stop.signal.aborted) {
      // While it is being sent, a notice is not among those that wait: one that comes again meanwhile is sent again.
      sending = halves.shift() ?? [...waiting].slice(0, batchSize);
      for (const notice of sending) waiting.delete(notice);
      requests++;
      attempt++;
      const outcome = await attempted(sending);
      const wait = settle(outcome, attempt);
      if (wait === 0) attempt = 0;
      else if (closing) return;
      else await pause(wait);
    }
  }

  async function attempted(batch: readonly string[]): Promise<Outcome> {
    try {
      return await options.send(batch, stop.signal);
    } catch (error) {
      log.error({ err: error }, `${name}: sending threw`);
      return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
    }
  }

  function start(): void {
    if (running || halves.length + waiting.size === 0) return;
    running = run().finally(() => {
      running = null;
      if (!closing) start();
    });
  }

  return {
    add(notices) {
      if (closing) {
        log.warn({}, `${name}: a notice came after closing and is not sent`);
        return;
      }
      put(notices);
      start();
    },
    async idle() {
      while (running) await running;
    },
    stats: () => ({
      accepted,
      failed,
      pending: waiting.size + halves.flat().length + sending.length,
      requests,
      failedRequests,
      problem,
    }),
    async close() {
      closing = true;
      wake?.();
      const timer = setTimeout(() => stop.abort(), options.closeMs);
      while (running) await running;
      clearTimeout(timer);
      const unsent = waiting.size + halves.flat().length;
      if (unsent > 0) log.warn({ unsent, problem }, `${name}: not everything could be sent before the server stopped`);
      waiting.clear();
      halves = [];
      failed += unsent;
      return unsent;
    },
  };
}
