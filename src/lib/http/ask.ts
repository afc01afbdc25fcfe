/**
 * One call from the browser to the site, with its result or failure as a value. Nothing here throws, and nothing assumes that an error
 * has a JSON body: gateways and vendors respond with pages (docs/services/zephr.md).
 */

import { parseJson } from '../json.ts';
import { retryAfter } from './retry-after.ts';

export interface Granted<T> {
  readonly ok: true;
  readonly status: number;
  readonly value: T;
}

export interface Refused {
  readonly ok: false;
  /** HTTP status; 0 when there was no response. */
  readonly status: number;
  /** The server's message for the reader; `null` when it sent none. */
  readonly message: string | null;
  /** Seconds until a retry makes sense, if the server sends them. */
  readonly retryAfter: number | null;
  /** The address that the reader probably meant, if the server suggests one. */
  readonly suggestedEmail: string | null;
  /** The whole body, if it is JSON. */
  readonly body?: unknown;
}

/** Whether a refusal has this `code`, which names the step that the reader must take first. */
export const hasCode = ({ body }: Refused, code: string): boolean =>
  typeof body === 'object' && body !== null && Reflect.get(body, 'code') === code;

export type Reply<T> = Granted<T> | Refused;

export interface AskOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Timeout in milliseconds. */
  readonly timeoutMs?: number;
  /** Lets the call continue when the reader leaves the page. */
  readonly keepalive?: boolean;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
}

/** A longer text is not a message for a reader. */
const longestText = 300;

/**
 * Calls the site and reads the response as JSON. A successful response without a JSON body has the value `null`.
 *
 * @param path path on this site
 */
export async function ask<T>(path: string, options: AskOptions = {}): Promise<Reply<T>> {
  const {
    method = options.body === undefined ? 'GET' : 'POST',
    body,
    timeoutMs = 15_000,
    keepalive = false,
    signal,
  } = options;
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      keepalive,
      headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) : AbortSignal.timeout(timeoutMs),
    });
    text = await response.text();
  } catch {
    return { ok: false, status: 0, message: null, retryAfter: null, suggestedEmail: null };
  }
  const read = parseJson(text) ?? null;
  if (response.ok) return { ok: true, status: response.status, value: read as T };
  return {
    ok: false,
    status: response.status,
    message: textOf(read, 'message'),
    retryAfter: waitSeconds(response.headers),
    suggestedEmail: textOf(read, 'suggestedEmail'),
    ...(read !== null && { body: read }),
  };
}

/** A field of an error's body, if it can be shown. */
function textOf(read: unknown, field: string): string | null {
  if (typeof read !== 'object' || read === null) return null;
  const text: unknown = Reflect.get(read, field);
  return typeof text === 'string' && text !== '' && text.length <= longestText ? text : null;
}

/** Whole seconds, at least one; `null` if the server sends none. */
function waitSeconds(headers: Headers): number | null {
  const wait = retryAfter(headers.get('retry-after'), Date.now());
  return wait === null ? null : Math.ceil(wait / 1000);
}
