/**
 * Forms that work without JavaScript: the check of their origin, reading them, and redirects. A form is always posted by a browser,
 * and every current browser sends `Origin` with it.
 */
import type { APIContext, APIRoute } from 'astro';
import { readForm } from './body.server.ts';
import { comesFromHere } from './origin.ts';

/** Where a form leads. */
export interface Next {
  /** Path within the site. */
  readonly to: string;
  readonly cookies?: readonly string[];
}

/** Whether a form was posted from one of this site's pages. */
export const isOwnForm = ({ headers }: Request, siteUrl: string): boolean =>
  comesFromHere(headers, siteUrl) && headers.has('origin');

/** Why a form could not be handled: it comes from another site, it is no form or too long, or its handler failed. */
export interface FormRefusal {
  readonly status: 403 | 415 | 503;
  /** A sentence for the reader. */
  readonly problem: string;
}

const isNext = (result: object): result is Next => 'to' in result;

interface FormRules {
  /** Longest body, bytes. */
  readonly limit?: number;
  /** `Cache-Control` of the redirect. */
  readonly cacheControl?: string;
}

/**
 * Handles a form that a page posted: checks where it comes from, reads it, and turns the handler's exception into 503. Every route and
 * page that takes a form goes through here.
 *
 * @param handle what it returns with `to` becomes a 303; anything else is returned for the page to show
 */
export async function postedForm<Result extends object>(
  { request, locals, url }: Pick<APIContext, 'request' | 'locals' | 'url'>,
  { limit, cacheControl }: FormRules,
  handle: (form: URLSearchParams) => Promise<Result>,
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
    return isNext(result) ? seeOther(result, cacheControl) : (result as Exclude<Result, Next>);
  } catch (error) {
    locals.services.log.error({ err: error, url: url.pathname }, 'A form could not be handled');
    return { status: 503, problem: 'Something went wrong. Please try again.' };
  }
}

/** 303 to a path, never cached. */
export function seeOther({ to, cookies = [] }: Next, cacheControl = 'no-store'): Response {
  const headers = new Headers({ Location: to, 'Cache-Control': cacheControl });
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(null, { status: 303, headers });
}

/** For GET on the address of a form: redirects to the page with the form. */
export const redirectGet =
  (page: string): APIRoute =>
  () =>
    seeOther({ to: page });

/** A path with parameters; those that are `null` are left out. */
export function withQuery(path: string, parameters: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  const query = new URLSearchParams(given).toString();
  return query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path;
}

/** A sentence as plain text, never cached. */
export const plainText = (status: number, sentence: string): Response =>
  new Response(`${sentence}\n`, {
    status,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
  });
