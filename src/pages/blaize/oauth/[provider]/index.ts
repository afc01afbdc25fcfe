/** Sends the browser to a social provider (spec section 7; docs/services/zephr.md). `return` names the path to come back to. */
import type { APIRoute } from 'astro';
import { providers } from '../../../../lib/accounts/model.ts';
import { socialReturnCookie } from '../../../../lib/accounts/routes.server.ts';
import { withQuery } from '../../../../lib/http/form.server.ts';
import { returnPath } from '../../../../lib/http/origin.ts';

export const GET: APIRoute = async ({ params, request, url, locals }) => {
  const { accounts, log } = locals.services;
  const provider = providers.find((name) => name === params.provider);
  if (!provider) return new Response(null, { status: 404 });
  const start = socialReturnCookie(locals);
  const named = url.searchParams.get('return');
  const returnTo =
    named === null ? (start.read(request.headers.get('cookie')) ?? '/') : returnPath(named, locals.config.siteUrl);
  const headers = new Headers({ 'Cache-Control': 'no-store' });
  headers.append('Set-Cookie', start.clear);
  try {
    if (accounts?.providers.includes(provider)) {
      const { location, cookies } = await accounts.beginSocial(provider, returnTo, request.headers.get('cookie'));
      for (const cookie of cookies) headers.append('Set-Cookie', cookie);
      headers.set('Location', location);
      return new Response(null, { status: 302, headers });
    }
  } catch (error) {
    log.error({ err: error, provider }, 'A social sign-in could not begin');
  }
  // The page at the end reports the failure to the window that opened this one, or shows it.
  headers.set('Location', withQuery(`/blaize/oauth/${provider}/callback`, { error: 'unavailable' }));
  return new Response(null, { status: 302, headers });
};
