/**
 * Forms that work without JavaScript: the check of their origin, reading them, and redirects. A form is always posted by a browser,
 * and every current browser sends `Origin` with it.
 */
import type { APIContext, APIRoute } from 'astro';
import { readForm, usualLimit } from './body.server.ts';
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

/**
 * Reads a form that was posted from one of this site's pages.
 *
 * @param limit longest body, bytes
 * @returns the fields; a response of 403 for a form of another site, 415 for anything that is not a form or too long
 */
export async function readOwnForm(
  { request, locals }: { readonly request: Request; readonly locals: Pick<APIContext['locals'], 'config'> },
  limit: number = usualLimit,
): Promise<URLSearchParams | Response> {
  const { siteUrl } = locals.config;
  if (!isOwnForm(request, siteUrl)) {
    return plainText(403, `This form was sent from another site. Please open ${siteUrl} and try again.`);
  }
  return (await readForm(request, limit)) ?? plainText(415, 'This address takes a form.');
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
