/** The other end of the privacy form: writes the choice into a cookie of this browser, and nowhere else. */
import type { APIRoute } from 'astro';
import { consentCookieName, consentMaxAge, consentValue, grantedByForm } from '../../lib/consent/model.ts';
import { consentFields, privacyPage } from '../../lib/consent/schema.ts';
import { readForm } from '../../lib/http/body.server.ts';
import { plainText, redirectGet, seeOther } from '../../lib/http/form.server.ts';
import { comesFromHere } from '../../lib/http/origin.ts';
import { returnPath } from '../../lib/http/return-path.ts';

export const POST: APIRoute = async ({ request, locals }) => {
  const { siteUrl } = locals.config;
  if (!comesFromHere(request.headers, siteUrl)) {
    return plainText(403, `This form was sent from another site. Please open ${siteUrl} and try again.`);
  }
  const form = await readForm(request);
  const gpc = request.headers.get('sec-gpc') === '1';
  const granted = form && grantedByForm(form.get(consentFields.choice), form.getAll(consentFields.purpose), gpc);
  if (!granted) return plainText(400, 'This address takes the privacy form.');
  const back = returnPath(form.get(consentFields.returnTo), siteUrl);
  const secure = siteUrl.startsWith('https:') ? '; Secure' : '';
  const cookie = `${consentCookieName}=${consentValue(granted, gpc)}; Path=/; Max-Age=${consentMaxAge}; SameSite=Lax${secure}`;
  return seeOther({ to: back === privacyPage ? `${privacyPage}?saved` : back, cookies: [cookie] });
};
export const GET = redirectGet(privacyPage);
