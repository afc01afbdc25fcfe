/**
 * The HTTP client for WordPress: limited in time, size and concurrency, it retries while a server is in trouble and never follows a
 * redirect to another origin. Failures are values that name the address, the status and the response.
 */

import { retryAfter } from '../../lib/http/retry-after.ts';
import { readResponse } from '../../lib/http/short-body.server.ts';
import { backOff } from '../../lib/jobs/tasks.ts';
import { createFairQueue, type FairQueue, type FairQueueOptions } from '../../lib/workers/fair-queue.ts';
import type { Fetched } from '../store/write.server.ts';

export interface ClientOptions {
  /** Address of WordPress without a trailing slash. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly now?: () => number;
  /** The latest `Fetched.at` of the previous process: those of this one are later, even if the clock was set back in between. */
  readonly lastAt?: number;
  /** Timeout for the head of a response, milliseconds, 20,000 by default. */
  readonly answerMs?: number;
  /** Largest response in bytes, 64 MiB by default. */
  readonly maxBytes?: number;
  /** Wait before the first retry in milliseconds, 500 by default. */
  readonly backOffMs?: number;
}

export interface Failure {
  readonly ok: false;
  readonly kind: 'network' | 'timeout' | 'status' | 'redirect' | 'not-json' | 'too-large' | 'aborted';
  readonly url: string;
  /** HTTP status, 0 when there was no response. */
  readonly status: number;
  /** WordPress's own code (`rest_no_route`); '' if the response has none. */
  readonly code: string;
  /** What happened, for the log. */
  readonly message: string;
  /** WordPress's `Retry-After` in milliseconds; `null` if it sent none. */
  readonly retryAfterMs: number | null;
  /** When the request was sent, on the same scale as {@link Fetched}. */
  readonly fetched: Fetched;
}

export interface Success {
  readonly ok: true;
  readonly url: string;
  readonly data: unknown;
  readonly fetched: Fetched;
  /** `X-WP-Total`, `null` when absent. */
  readonly total: number | null;
}

export type Result = Success | Failure;

export interface GetOptions {
  /** Attempts in all, 4 by default. */
  readonly tries?: number;
  readonly signal?: AbortSignal | undefined;
}

export type Query = Readonly<Record<string, string | number | readonly number[] | undefined>>;

export interface Client {
  /** Lets further requests count as later than one that another process sent; see `Fetched.at`. */
  continueAfter(at: number): void;
  /** @returns the time of a request that would be sent now; see `Fetched.at` */
  nextTime(): number;
  readonly url: string;
  /** Whether the client sends credentials. */
  readonly signsIn: boolean;
  /** Whether lists may be requested by key; false once WordPress has ignored one (`fetchPage`). */
  pagesByKey: boolean;
  /** GET of `/wp-json` + path. */
  get(path: string, query?: Query, options?: GetOptions): Promise<Result>;
  /** Full address of a path, for messages. */
  address(path: string, query?: Query): string;
  /** Whether the REST API responds at `/?rest_route=`, its address with plain permalinks. */
  answersByQuery(path: string): Promise<boolean>;
  /** WordPress's present time, epoch milliseconds, by the `Date` of its last response; this machine's time before the first. */
  clock(): number;
}

/** One line on a failure, for logs and status. */
export const describeFailure = (failure: Failure): string => `${failure.url}: ${failure.message}`;

const retryable = (failure: Failure): boolean =>
  failure.kind === 'network' ||
  failure.kind === 'timeout' ||
  (failure.kind === 'not-json' && failure.status >= 200 && failure.status < 300) ||
  (failure.kind === 'status' && (failure.status === 408 || failure.status === 429 || failure.status >= 500));

/** The longest `Retry-After` that a request waits for; the caller handles a longer one. */
const longestWait = 30_000;
const maxRedirects = 5;

/** Waits until the time is over or the signal aborts. */
export function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Timeout for the whole response, milliseconds. */
const totalMs = 60_000;

const defaults = {
  answerMs: 20_000,
  maxBytes: 64 * 1024 * 1024,
  backOffMs: 500,
  now: Date.now,
  lastAt: 0,
};

type ClientState = ClientOptions &
  typeof defaults & {
    readonly slots: FairQueue;
    readonly headers: Record<string, string>;
    readonly origin: string;
    /** Milliseconds by which WordPress's clock is ahead of ours. */
    clockOffsetMs: number;
  };

/** One queue for all requests: WordPress has a handful of workers, and its editors need some of them. */
const queueLimits: FairQueueOptions = {
  atOnce: 4,
  perClient: 4,
  waitingPerClient: Number.POSITIVE_INFINITY,
  waiting: Number.POSITIVE_INFINITY,
};

/** Creates a client of one WordPress. */
export function createClient(options: ClientOptions): Client {
  const headers: Record<string, string> = { Accept: 'application/json', 'User-Agent': 'Broadsheet content sync' };
  const wp: ClientState = {
    ...defaults,
    ...options,
    slots: createFairQueue(queueLimits),
    headers,
    origin: new URL(options.url).origin,
    clockOffsetMs: 0,
  };
  if (options.user && options.password) {
    headers.Authorization = `Basic ${Buffer.from(`${options.user}:${options.password}`).toString('base64')}`;
  }
  return {
    url: wp.url,
    signsIn: headers.Authorization !== undefined,
    pagesByKey: true,
    address: (path, query) => address(wp, path, query),
    clock: () => wp.now() + wp.clockOffsetMs,
    answersByQuery: (path) => answersByQuery(wp, path),
    get: (path, query, getOptions) => get(wp, path, query, getOptions),
    nextTime: () => nextTime(wp),
    continueAfter(at) {
      wp.lastAt = Math.max(wp.lastAt, at);
    },
  };
}

function address(wp: ClientState, path: string, query: Query = {}): string {
  const full = new URL(`${wp.url}/wp-json${path}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) full.searchParams.set(name, Array.isArray(value) ? value.join(',') : String(value));
  }
  return full.href.replaceAll('%2C', ',');
}

const failure = (
  wp: ClientState,
  target: string,
  part: Partial<Failure> & Pick<Failure, 'kind' | 'message'>,
): Failure => ({
  ok: false,
  url: target,
  status: 0,
  code: '',
  retryAfterMs: null,
  fetched: { at: wp.lastAt, clock: 0 },
  ...part,
});

const aborted = (wp: ClientState, target: string): Failure =>
  failure(wp, target, { kind: 'aborted', message: 'stopped' });

function nextTime(wp: ClientState): number {
  wp.lastAt = Math.max(wp.now(), wp.lastAt + 1);
  return wp.lastAt;
}

async function once(wp: ClientState, target: string, signal?: AbortSignal): Promise<Result> {
  const at = nextTime(wp);
  const result = await attempt(wp, target, at, signal);
  return result.ok ? result : { ...result, fetched: { at, clock: result.fetched.clock } };
}

async function attempt(wp: ClientState, target: string, at: number, signal?: AbortSignal): Promise<Result> {
  if (signal?.aborted) return aborted(wp, target);
  const stop = new AbortController();
  let timedOut = '';
  const expire = (what: string): void => {
    timedOut = what;
    stop.abort();
  };
  const head = setTimeout(() => expire(`no answer within ${wp.answerMs} ms`), wp.answerMs);
  const whole = setTimeout(() => expire(`answer not complete within ${totalMs} ms`), totalMs);
  const passOn = (): void => stop.abort();
  signal?.addEventListener('abort', passOn, { once: true });
  try {
    const response = await fetchFollowing(wp, target, stop.signal);
    if ('kind' in response) return response;
    clearTimeout(head);
    const body = await readResponse(response, wp.maxBytes);
    if (body === null) {
      const message = `answer is larger than ${wp.maxBytes} bytes`;
      return failure(wp, target, { kind: 'too-large', status: response.status, message });
    }
    return resultOf(wp, target, response, body, at);
  } catch (error) {
    if (signal?.aborted) return aborted(wp, target);
    if (timedOut) return failure(wp, target, { kind: 'timeout', message: timedOut });
    const cause = (error as { cause?: { code?: string; message?: string } }).cause;
    const message = `no answer: ${cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error))}`;
    return failure(wp, target, { kind: 'network', message });
  } finally {
    clearTimeout(head);
    clearTimeout(whole);
    signal?.removeEventListener('abort', passOn);
  }
}

/** Follows redirects within WordPress's own origin. */
async function fetchFollowing(wp: ClientState, target: string, signal: AbortSignal): Promise<Response | Failure> {
  const { fetch = globalThis.fetch } = wp;
  let current = target;
  for (let redirects = 0; ; redirects++) {
    const response = await fetch(current, { headers: wp.headers, redirect: 'manual', signal });
    const { status } = response;
    const location = response.headers.get('location');
    if (status < 300 || status > 399 || status === 304 || location === null) return response;
    await response.body?.cancel();
    const next = URL.canParse(location, current) ? new URL(location, current) : null;
    if (next?.origin !== wp.origin) {
      const message = `redirects to ${next?.origin ?? location}, which is not followed; set WORDPRESS_URL to the final address`;
      return failure(wp, target, { kind: 'redirect', status, message });
    }
    if (redirects === maxRedirects)
      return failure(wp, target, { kind: 'redirect', status, message: `redirects more than ${maxRedirects} times` });
    current = next.href;
  }
}

function resultOf(wp: ClientState, target: string, response: Response, body: string, at: number): Result {
  const { status } = response;
  const clock = Math.floor(Date.parse(response.headers.get('date') ?? '') / 1000) || 0;
  const type = response.headers.get('content-type') ?? 'no content type';
  const retryAfterMs = retryAfter(response.headers.get('retry-after'), wp.now());
  let data: unknown;
  let parsed = true;
  try {
    data = body.trim() === '' ? null : JSON.parse(body);
  } catch {
    parsed = false;
  }
  if (status < 200 || status > 299) {
    const code = parsed ? (data as { code?: unknown } | null)?.code : '';
    const known = typeof code === 'string' ? code : '';
    const message = `status ${status}${known ? ` (${known})` : `, ${type}: ${startOf(body)}`}`;
    return failure(wp, target, { kind: 'status', status, code: known, message, retryAfterMs, fetched: { at, clock } });
  }
  if (!parsed) {
    const what = /html/iu.test(type) || body.trimStart().startsWith('<') ? 'HTML instead of JSON' : 'not complete JSON';
    const message = `status ${status} with ${what} (${type}): ${startOf(body)}`;
    return failure(wp, target, { kind: 'not-json', status, message });
  }
  const total = Number(response.headers.get('x-wp-total') ?? Number.NaN);
  if (clock > 0) wp.clockOffsetMs = clock * 1000 - wp.now();
  return { ok: true, url: target, data, fetched: { at, clock }, total: Number.isFinite(total) ? total : null };
}

/** The start of an unreadable response in one line, for the log. */
const startOf = (body: string): string => body.slice(0, 1000).replace(/\s+/gu, ' ').slice(0, 80);

async function answersByQuery(wp: ClientState, path: string): Promise<boolean> {
  const result = await wp.slots.run('', () => once(wp, `${wp.url}/?rest_route=${encodeURIComponent(path)}`));
  return result.ok || result.code !== '';
}

async function get(
  wp: ClientState,
  path: string,
  query: Query | undefined,
  { tries = 4, signal }: GetOptions | undefined = {},
): Promise<Result> {
  const target = address(wp, path, query);
  for (let attempt = 1; ; attempt++) {
    const result = await wp.slots.run('', () => once(wp, target, signal));
    if (result.ok || attempt >= tries || !retryable(result)) return result;
    const wait = result.retryAfterMs ?? backOff(attempt, wp.backOffMs, longestWait);
    if (wait > longestWait) return result;
    await waitFor(wait, signal);
    if (signal?.aborted) return aborted(wp, target);
  }
}
