/**
 * Sends one POST to a vendor, limited in time and size, with every failure as a value. Redirects are not followed: the request has a
 * credential that must not reach another host.
 */

import { parseJson } from '../json.ts';
import { retryAfter } from './retry-after.ts';
import { readResponse } from './short-body.server.ts';

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: unknown;
  /** Timeout for the whole response, milliseconds. */
  readonly timeoutMs: number;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

export type PostResult =
  | {
      readonly answered: true;
      readonly status: number;
      readonly headers: Headers;
      /** `undefined`: the body isn't JSON. */
      readonly json: unknown;
      /** The body's media type, or a note that the body was cut off, for the log. */
      readonly form: string;
      readonly retryAfterMs: number | null;
    }
  | { readonly answered: false; readonly message: string };

/** Longest body: responses of these services are small. */
const longestAnswer = 256 * 1024;

/** Sends JSON and reads the response. Never throws. */
export async function postJson(request: PostRequest): Promise<PostResult> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout;
  let response: Response;
  try {
    response = await fetch(request.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json; charset=utf-8', Accept: 'application/json', ...request.headers },
      body: JSON.stringify(request.body),
      redirect: 'manual',
      signal,
    });
  } catch (error) {
    return { answered: false, message: messageOf(error, timeout, request) };
  }
  let text: string | null;
  let form = response.headers.get('content-type') ?? 'no media type';
  try {
    text = await readResponse(response, longestAnswer);
    if (text === null) form = `more than ${longestAnswer} bytes of ${form}`;
  } catch (error) {
    if (signal.aborted) return { answered: false, message: messageOf(error, timeout, request) };
    text = null;
    form = `${form}, broken off`;
  }
  return {
    answered: true,
    status: response.status,
    headers: response.headers,
    json: text === null ? undefined : parseJson(text),
    form,
    retryAfterMs: retryAfter(response.headers.get('retry-after'), Date.now()),
  };
}

function messageOf(error: unknown, timeout: AbortSignal, request: PostRequest): string {
  if (timeout.aborted) return `no answer within ${request.timeoutMs} ms`;
  if (request.signal?.aborted) return 'broken off because the server stops';
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause && typeof cause.code === 'string' ? `${cause.code}: ` : '';
  return `${code}${cause.message || cause.name}`;
}
