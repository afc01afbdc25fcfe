/**
 * Page guards for both directions, on the server (spec section 6). A page that uses one is personal: it is never stored, here
 * or on the way.
 *
 *     const reader = await requireReader(Astro);
 *     if (reader instanceof Response) return reader;
 */
import type { AstroGlobal } from 'astro';
import { returnPath } from '../http/return-path.ts';
import { signInPage } from './form.server.ts';
import type { Session } from './service.ts';

/** As much of `Astro` as is needed here. */
type Page = Pick<AstroGlobal, 'request' | 'locals' | 'url' | 'response'>;

const personal = 'private, no-store';

/**
 * Lets readers through who are signed in; everybody else is led away.
 *
 * @param to where to; the sign-in page unless given, which leads back here
 */
export async function requireReader(page: Page, to?: string): Promise<Session | Response> {
  const { session, cookies, away } = await known(page);
  // Who may well be signed in is told that this cannot be seen, and led back here by trying again.
  if (!session) return lead(to ?? signInPage(away ? 'off' : null, page.url.pathname + page.url.search), cookies);
  pass(page, cookies);
  return session;
}

/**
 * Lets everybody through who is not signed in; readers are led away.
 *
 * @param to where to; what the parameter `return` names unless given
 */
export async function requireAnonymous(page: Page, to?: string): Promise<Response | null> {
  const { session, cookies } = await known(page);
  if (session) {
    return lead(to ?? returnPath(page.url.searchParams.get('return'), page.locals.config.siteUrl), cookies);
  }
  pass(page, cookies);
  return null;
}

/** Lets everybody through, and says who it is; `null` is nobody who is signed in. */
export async function whoReads(page: Page): Promise<Session | null> {
  const { session, cookies } = await known(page);
  pass(page, cookies);
  return session;
}

/** Who asks. With accounts off, or their database away, nobody is known. */
async function known({ request, locals, url }: Page) {
  try {
    const header = request.headers.get('cookie');
    const found = await locals.services.sessions?.session(header);
    return { ...(found ?? { session: null, cookies: [] }), away: false };
  } catch (error) {
    locals.services.log.error({ err: error, url: url.pathname }, 'Who is reading could not be found out');
    return { session: null, cookies: [], away: true };
  }
}

function pass({ response }: Page, cookies: readonly string[]): void {
  response.headers.set('Cache-Control', personal);
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie);
}

function lead(to: string, cookies: readonly string[]): Response {
  const headers = new Headers({ Location: to, 'Cache-Control': personal });
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(null, { status: 303, headers });
}
