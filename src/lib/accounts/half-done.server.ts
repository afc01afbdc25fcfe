/** What the pages of a half-done sign-in are shown with: from the sealed cookie, and a word in the address. */
import type { AstroGlobal } from 'astro';
import { returnPath } from '../http/return-path.ts';
import { problemText } from './forms.ts';
import { signIn } from './state-cookies.server.ts';

export interface HalfDone<State extends string> {
  /** `null` when it is not known (any more). */
  readonly email: string | null;
  readonly returnTo: string;
  /** A whole sentence. */
  readonly problem: string | undefined;
  readonly state: State | undefined;
}

/**
 * Also keeps the page out of every cache.
 *
 * @param states the states that the page knows
 * @param options `fromReferrer`: where the address names no page to come back to, the one that led here is it. Links to sign in on stored
 *   pages name none, so that crawlers don't meet an address for each story
 */
export function halfDone<const State extends string>(
  { request, locals, url, response }: Pick<AstroGlobal, 'request' | 'locals' | 'url' | 'response'>,
  states: readonly State[] = [],
  { fromReferrer = false } = {},
): HalfDone<State> {
  response.headers.set('Cache-Control', 'private, no-store');
  const kept = signIn(locals).read(request.headers.get('cookie'));
  const named = url.searchParams.get('return');
  const came = fromReferrer ? returnPath(request.headers.get('referer'), locals.config.siteUrl) : '/';
  const before = came === '/' ? (kept?.returnTo ?? '/') : came;
  const general = problemText(url.searchParams.get('problem'));
  return {
    email: kept?.email ?? null,
    returnTo: named === null ? before : returnPath(named, locals.config.siteUrl),
    // Only beside a problem in the address: what was wrong before is not wrong for ever.
    problem: general && (kept?.problem ?? general),
    state: states.find((state) => state === url.searchParams.get('state')),
  };
}
