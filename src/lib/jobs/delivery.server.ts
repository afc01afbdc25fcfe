/**
 * Delivers small notices to another service: equal ones are sent once, several are sent in one request, one request runs at a time, and
 * failed ones are retried. Memory is limited in any case.
 */
import type { Logger } from '../logging.ts';
import { backOff } from './tasks.ts';

/** Result of one request. */
export type Outcome =
  | { readonly kind: 'accepted' }
  /** Worth another try. */
  | { readonly kind: 'failed'; readonly message: string; readonly retryAfterMs?: number | null }
  /** The service will never accept this batch; see {@link DeliveryOptions.halveRefused}. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The service refuses the site: a setting is wrong. `message` names it and the remedy. */
  | { readonly kind: 'misconfigured'; readonly message: string };

export interface DeliveryOptions {
  /** For the log, e.g. `CDN purge`. */
  readonly name: string;
  /** Most notices in one request. */
  readonly batchSize: number;
  /** Milliseconds from the first notice until it is sent; equal ones that arrive in that time are merged. */
  readonly collectMs: number;
  /** Most notices that wait. */
  readonly limit: number;
  /** Replaces the waiting notices if there are more than `limit`; an empty array drops them. */
  readonly overflow: (waiting: readonly string[]) => readonly string[];
  /** Attempts for a notice before it is given up; `Infinity` retries forever. */
  readonly tries: number;
  /** First and longest wait between two attempts, milliseconds. */
  readonly backOffMs: readonly [first: number, longest: number];
  /** Milliseconds between two attempts while a setting is wrong; `null` gives the batch up instead. */
  readonly misconfiguredMs: number | null;
  /**
   * Splits a refused batch into halves and sends those, so that one invalid notice doesn't affect the others; off by default.
   */
  readonly halveRefused?: boolean;
  /** Milliseconds that {@link DeliveryQueue.close} may take. */
  readonly closeMs: number;
  readonly send: (batch: readonly string[], signal: AbortSignal) => Promise<Outcome>;
  readonly log: Logger;
  readonly random?: () => number;
}

/** Times and sizes for a vendor's queue in tests, instead of those for production. */
export interface DeliveryTuning
  extends Partial<
    Pick<DeliveryOptions, 'batchSize' | 'collectMs' | 'limit' | 'tries' | 'backOffMs' | 'misconfiguredMs' | 'closeMs'>
  > {
  /** Milliseconds for one request. */
  readonly timeoutMs?: number;
}

export interface DeliveryStats {
  /** Notices that the service has accepted. */
  readonly accepted: number;
  /** Notices that were given up. */
  readonly failed: number;
  /** Notices that wait or are being sent. */
  readonly pending: number;
  /** Requests sent, and those of them that failed. */
  readonly requests: number;
  readonly failedRequests: number;
  /** The last failure, a sentence; `null` after a success. */
  readonly problem: string | null;
}

export interface DeliveryQueue {
  /** Queues notices; returns at once. */
  add(notices: Iterable<string>): void;
  /** Resolves when no notice waits and no request runs. */
  idle(): Promise<void>;
  stats(): DeliveryStats;
  /** Sends the waiting notices at once, aborts after `closeMs`, and accepts no more. @returns number of unsent notices */
  close(): Promise<number>;
}

/** `Retry-After` is obeyed up to this, milliseconds. */
const longestRetryAfter = 3_600_000;

interface State {
  readonly options: DeliveryOptions;
  readonly waiting: Set<string>;
  /** Number of failed attempts of notices that will be sent again. */
  readonly tried: Map<string, number>;
  readonly stop: AbortController;
  /** Halves of refused batches; they are sent first. */
  halves: (readonly string[])[];
  sending: readonly string[];
  running: Promise<void> | null;
  closing: boolean;
  /** Ends the current pause. */
  wake: (() => void) | null;
  accepted: number;
  failed: number;
  requests: number;
  failedRequests: number;
  problem: string | null;
  /** The wrong setting that was logged; it isn't logged again until it has worked. */
  reported: string | null;
}

const waitingCount = (state: State): number => state.waiting.size + state.halves.flat().length;

/** Creates a queue; it costs nothing while it is empty. */
export function createDeliveryQueue(options: DeliveryOptions): DeliveryQueue {
  const { name, log } = options;
  const state: State = {
    options,
    waiting: new Set(),
    tried: new Map(),
    stop: new AbortController(),
    halves: [],
    sending: [],
    running: null,
    closing: false,
    wake: null,
    accepted: 0,
    failed: 0,
    requests: 0,
    failedRequests: 0,
    problem: null,
    reported: null,
  };

  return {
    add(notices) {
      if (state.closing) {
        log.warn({}, `${name}: a notice came after closing and is not sent`);
        return;
      }
      enqueue(state, notices);
      start(state);
    },
    async idle() {
      while (state.running) await state.running;
    },
    stats() {
      const { accepted, failed, requests, failedRequests, problem, sending } = state;
      return { accepted, failed, pending: waitingCount(state) + sending.length, requests, failedRequests, problem };
    },
    async close() {
      state.closing = true;
      state.wake?.();
      const timer = setTimeout(() => state.stop.abort(), options.closeMs);
      while (state.running) await state.running;
      clearTimeout(timer);
      const unsent = waitingCount(state);
      if (unsent > 0)
        log.warn({ unsent, problem: state.problem }, `${name}: not everything could be sent before the server stopped`);
      state.waiting.clear();
      state.halves = [];
      state.failed += unsent;
      return unsent;
    },
  };
}

function enqueue(state: State, notices: Iterable<string>): void {
  const { waiting, problem } = state;
  const { limit, overflow, log, name } = state.options;
  for (const notice of notices) waiting.add(notice);
  if (waiting.size <= limit) return;
  const before = [...waiting];
  const instead = overflow(before);
  waiting.clear();
  state.tried.clear();
  for (const notice of instead) waiting.add(notice);
  if (instead.length === 0) state.failed += before.length;
  log.warn(
    { waiting: before.length, instead: instead.length, problem },
    `${name}: more notices wait than the limit allows; ${instead.length === 0 ? 'they are given up' : 'fewer, coarser ones replace them'}`,
  );
}

function start(state: State): void {
  if (state.running || waitingCount(state) === 0) return;
  state.running = run(state).finally(() => {
    state.running = null;
    if (!state.closing) start(state);
  });
}

async function run(state: State): Promise<void> {
  const { collectMs, batchSize } = state.options;
  await pause(state, state.closing ? 0 : collectMs);
  let attempt = 0;
  while (waitingCount(state) > 0 && !state.stop.signal.aborted) {
    // A notice that is being sent doesn't wait: if it is added again during the request, it is sent again.
    state.sending = state.halves.shift() ?? [...state.waiting].slice(0, batchSize);
    for (const notice of state.sending) state.waiting.delete(notice);
    state.requests++;
    attempt++;
    const outcome = await send(state);
    const wait = recordOutcome(state, outcome, attempt);
    if (wait === 0) attempt = 0;
    else if (state.closing) return;
    else await pause(state, wait);
  }
}

/** Waits; closing the queue ends the wait. */
const pause = (state: State, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      state.wake = null;
      resolve();
    };
    // A waiting queue must not keep the process alive.
    const timer = setTimeout(done, ms).unref();
    state.wake = done;
  });

async function send({ options, sending, stop }: State): Promise<Outcome> {
  try {
    return await options.send(sending, stop.signal);
  } catch (error) {
    options.log.error({ err: error }, `${options.name}: sending failed unexpectedly`);
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

/** Records the result of a request. @returns milliseconds to wait before the next request, 0 for none */
function recordOutcome(state: State, outcome: Outcome, attempt: number): number {
  const { name, log, tries, backOffMs, halveRefused, misconfiguredMs, random } = state.options;
  const batch = state.sending;
  state.sending = [];
  if (outcome.kind !== 'failed') for (const notice of batch) state.tried.delete(notice);
  if (outcome.kind === 'accepted') {
    state.accepted += batch.length;
    state.problem = null;
    state.reported = null;
    return 0;
  }
  state.failedRequests++;
  const problem = outcome.message;
  state.problem = problem;
  const giveUp = (): number => {
    state.failed += batch.length;
    return 0;
  };
  if (outcome.kind === 'refused') {
    if (halveRefused && batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      state.halves.unshift(batch.slice(0, middle), batch.slice(middle));
      return 0;
    }
    log.error(
      { notices: batch.length, first: batch[0], problem },
      `${name}: the request was refused and is not retried`,
    );
    return giveUp();
  }
  if (outcome.kind === 'misconfigured') {
    if (state.reported !== problem) log.error({ problem }, `${name}: a setting is wrong`);
    state.reported = problem;
    if (misconfiguredMs === null) return giveUp();
    enqueue(state, batch);
    return misconfiguredMs;
  }
  const again = batch.filter((notice) => countAttempt(state, notice));
  const givenUp = batch.length - again.length;
  state.failed += givenUp;
  if (givenUp > 0) log.error({ notices: givenUp, tries, problem }, `${name}: given up`);
  if (again.length === 0) return 0;
  enqueue(state, again);
  const own = backOff(attempt, ...backOffMs, random);
  const wait = Math.max(own, Math.min(outcome.retryAfterMs ?? 0, longestRetryAfter));
  log.warn({ notices: again.length, attempt, waitMs: wait, problem }, `${name}: failed; it will be retried`);
  return wait;
}

/** Counts a failed attempt of a notice. @returns whether it may be tried again */
function countAttempt({ tried, options }: State, notice: string): boolean {
  const tries = (tried.get(notice) ?? 0) + 1;
  if (tries < options.tries) tried.set(notice, tries);
  else tried.delete(notice);
  return tries < options.tries;
}
