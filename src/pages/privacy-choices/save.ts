/** The other end of the privacy form: writes the choice into a cookie of this browser, and nowhere else. */
import type { APIRoute } from 'astro';
import { readForm } from '../../lib/accounts/body.server.ts';
import { comesFromHere } from '../../lib/accounts/origin.ts';
import { returnPath } from '../../lib/accounts/return-path.ts';
import { consentFields, privacyPage } from '../../lib/consent/form.ts';
import { consentCookieName, consentMaxAge, consentValue, grantedByForm } from '../../lib/consent/model.ts';

const noStore = { 'Cache-Control': 'no-store' };

export const POST: APIRoute = async ({ request, locals }) => {
  const { siteUrl } = locals.config;
  if (!comesFromHere(request.headers, siteUrl)) {
    return new Response('This form was sent from another site.\n', { status: 403, headers: noStore });
  }
  const form = await readForm(request);
  const gpc = request.headers.get('sec-gpc') === '1';
  const granted = form && grantedByForm(form.get(consentFields.choice), form.getAll(consentFields.purpose), gpc);
  if (!granted) return new Response('This address takes the privacy form.\n', { status: 400, headers: noStore });
  const back = returnPath(form.get(consentFields.returnTo), siteUrl);
  const secure = siteUrl.startsWith('https:') ? '; Secure' : '';
  return new Response(null, {
    status: 303,
    headers: {
      ...noStore,
      Location: back === privacyPage ? `${privacyPage}?saved` : back,
      'Set-Cookie': `${consentCookieName}=${consentValue(granted, gpc)}; Path=/; Max-Age=${consentMaxAge}; SameSite=Lax${secure}`,
    },
  });
};
export const GET: APIRoute = () => new Response(null, { status: 303, headers: { ...noStore, Location: privacyPage } });
