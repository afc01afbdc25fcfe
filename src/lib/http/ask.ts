/**
 * One call of the browser to the site, as a value: what came, or why not. Nothing here throws, and nothing takes for
 * granted that an error has a JSON body: gateways and vendors answer with pages (vendors.md 1.1).
 */
import { retryAfter } from '../jobs/tasks.ts';

export interface Granted<T> {
  readonly ok: true;
  readonly status: number;
  readonly value: T;
}

export interface Refused {
  readonly ok: false;
  /** HTTP status; 0 when no answer came at all. */
  readonly status: number;
  /** What the server says to a reader; `null` when it says nothing that could be shown. */
  readonly message: string | null;
  /** Seconds until it is worth trying again, where the server sends them. */
  readonly retryAfter: number | null;
  /** The address that was probably meant, where the server suggests one. */
  readonly suggestedEmail: string | null;
  /** The whole body, where it is JSON. */
  readonly body?: unknown;
}

/** Whether a refusal has this `code`, which says what is to be done first. */
export const hasCode = ({ body }: Refused, code: string): boolean =>
  typeof body === 'object' && body !== null && Reflect.get(body, 'code') === code;

export type Answer<T> = Granted<T> | Refused;

export interface Question {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Milliseconds after which no answer is waited for. */
  readonly patience?: number;
  /** Lets the call go on when the page is left. */
  readonly keepalive?: boolean;
  /** Breaks the call off. */
  readonly signal?: AbortSignal;
}

/** Longer texts are no sentences for a reader. */
const longestText = 300;

/**
 * Asks the site and reads the answer as JSON. A good answer without a JSON body has the value `null`.
 *
 * @param path path on this site
 */
export async function ask<T>(path: string, question: Question = {}): Promise<Answer<T>> {
  const {
    method = question.body === undefined ? 'GET' : 'POST',
    body,
    patience = 15_000,
    keepalive = false,
    signal,
  } = question;
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      keepalive,
      headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, AbortSignal.timeout(patience)]) : AbortSignal.timeout(patience),
    });
    text = await response.text();
  } catch {
    return { ok: false, status: 0, message: null, retryAfter: null, suggestedEmail: null };
  }
  const read = parse(text);
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A field of an error's body, if it is one that could be shown. */
function textOf(read: unknown, field: string): string | null {
  if (typeof read !== 'object' || read === null) return null;
  const text: unknown = Reflect.get(read, field);
  return typeof text === 'string' && text !== '' && text.length <= longestText ? text : null;
}

/** Whole seconds, at least one unless the server says none. */
function waitSeconds(headers: Headers): number | null {
  const wait = retryAfter(headers.get('retry-after'), Date.now());
  return wait === null ? null : Math.ceil(wait / 1000);
}
