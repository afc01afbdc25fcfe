/**
 * Forms that work without JavaScript: they are read here, their origin is checked, and their response is a redirect. A form is always
 * posted by a browser, and every current browser sends `Origin` with it.
 */
import type { APIContext, APIRoute } from 'astro';
import { type Answer, refuse } from './answer.ts';
import { common } from './messages.ts';
import { comesFromHere } from './origin.ts';

/** The result of a form: a redirect. */
export interface Next {
  /** Path within the site. */
  readonly to: string;
  readonly cookies?: readonly string[];
}

/** Whether a form was posted from one of this site's pages. */
const isOwnForm = ({ headers }: Request, siteUrl: string): boolean =>
  comesFromHere(headers, siteUrl) && headers.has('origin');

/** Why a form could not be handled: it comes from another site, its body is invalid or too long, or its handler failed. */
export interface FormRefusal {
  readonly status: 403 | 415 | 503;
  /** A sentence for the reader. */
  readonly problem: string;
}

const isNext = (result: object): result is Next => 'to' in result;

/**
 * Handles a form that a page posted: checks its origin, reads it, and turns the handler's exception into 503. Forms use this function,
 * except two buttons: a gift link's, which has no fields, and an unsubscribe link's, which mail programs press without `Origin`.
 *
 * @param handle a result with `to` becomes a 303; any other is returned for the page to show
 * @param limit longest body, bytes
 */
export async function postedForm<Result extends object>(
  { request, locals, url }: Pick<APIContext, 'request' | 'locals' | 'url'>,
  handle: (form: URLSearchParams) => Promise<Result>,
  limit?: number,
): Promise<Response | Exclude<Result, Next> | FormRefusal> {
  const { siteUrl } = locals.config;
  if (!isOwnForm(request, siteUrl)) {
    return {
      status: 403,
      problem: `This form was sent from another site. Please open ${siteUrl} and try again.`,
    };
  }
  const form = await readForm(request, limit);
  if (!form) return { status: 415, problem: 'This address takes a form.' };
  try {
    const result = await handle(form);
    return isNext(result) ? seeOther(result) : (result as Exclude<Result, Next>);
  } catch (error) {
    locals.services.log.error({ err: error, url: url.pathname }, "A form couldn't be handled");
    return { status: 503, problem: common.wrong };
  }
}

/** 303 to a path, never cached. */
export function seeOther({ to, cookies = [] }: Next): Response {
  const headers = new Headers({ Location: to, 'Cache-Control': 'private, no-store' });
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(null, { status: 303, headers });
}

/** For GET on the address of a form: redirects to the page with the form. */
export const redirectGet =
  (page: string): APIRoute =>
  () =>
    seeOther({ to: page });

/** A path with parameters, before its fragment; `null` parameters are omitted. */
export function withQuery(path: string, parameters: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  const query = new URLSearchParams(given).toString();
  const [, address = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(path) ?? [];
  return query ? `${address}${address.includes('?') ? '&' : '?'}${query}${fragment}` : path;
}

/** A sentence as plain text, never cached. */
export const textResponse = (status: number, sentence: string): Response =>
  new Response(`${sentence}\n`, {
    status,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
  });

// Request bodies, limited in length and depth.

/** Longest body unless a route sets another limit, bytes. */
const defaultLimit = 16 * 1024;
/** Deepest nesting of a body. */
const maxDepth = 16;

export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly answer: Answer };

/**
 * Reads a body as JSON. An empty one is `{}`, because calls such as /blaize/logout need no body.
 *
 * @returns a refusal of 413, 415 or 400 for an invalid body
 */
export async function readJson(request: Request, limit: number = defaultLimit): Promise<Read<unknown>> {
  const type = request.headers.get('content-type');
  const bytes = Buffer.from(await request.arrayBuffer());
  if (bytes.byteLength === 0 && type === null) return { ok: true, value: {} };
  // Another site can send this type only from a script, after a preflight request.
  if (!/^application\/json\s*(?:;|$)/i.test(type ?? '')) {
    return { ok: false, answer: refuse(415, 'This address takes JSON. Send Content-Type: application/json.') };
  }
  if (bytes.byteLength > limit) return { ok: false, answer: refuse(413, 'The request is too long.') };
  if (bytes.byteLength === 0) return { ok: true, value: {} };
  const text = bytes.toString('utf8');
  if (depth(text) > maxDepth) return { ok: false, answer: refuse(400, 'The request is nested too deeply.') };
  try {
    return { ok: true, value: JSON.parse(text, (_, value: unknown) => storable(value)) as unknown };
  } catch {
    return { ok: false, answer: refuse(400, 'The request is not JSON.') };
  }
}

/** A value with U+FFFD for what PostgreSQL (U+0000) and Stripe's client (half of a surrogate pair) refuse. */
const storable = (value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;

/** Deepest nesting of brackets outside of strings. */
function depth(text: string): number {
  let now = 0;
  let most = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (inString) {
      if (sign === '\\') at++;
      else if (sign === '"') inString = false;
    } else if (sign === '"') inString = true;
    else if (sign === '{' || sign === '[') most = Math.max(most, ++now);
    else if (sign === '}' || sign === ']') now--;
  }
  return most;
}

/** A posted form; several values of a name stay several. `null`: it isn't a form, or it is too long. */
export async function readForm(request: Request, limit: number = defaultLimit): Promise<URLSearchParams | null> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers.get('content-type') ?? '')) return null;
  const bytes = Buffer.from(await request.arrayBuffer());
  if (bytes.byteLength > limit) return null;
  // PostgreSQL refuses U+0000.
  return new URLSearchParams(bytes.toString('utf8').replace(/%00|\0/g, '\ufffd'));
}
