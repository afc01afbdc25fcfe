/** Handles the privacy form: stores the choice in a cookie of this browser, and nowhere else. */
import type { APIRoute } from 'astro';
import {
  consentCookieName,
  consentFields,
  consentMaxAge,
  consentValue,
  grantedByForm,
  privacyPage,
} from '../../lib/consent/model.ts';
import { setCookie } from '../../lib/http/cookies.server.ts';
import { postedForm, redirectGet, textResponse } from '../../lib/http/form.server.ts';
import { returnPath } from '../../lib/http/origin.ts';

export const POST: APIRoute = async (context) => {
  const { config, services } = context.locals;
  const { siteUrl } = config;
  const gpc = context.request.headers.get('sec-gpc') === '1';
  const answer = await postedForm(context, async (form) => {
    const granted = grantedByForm(form.get(consentFields.choice), form.getAll(consentFields.purpose), gpc);
    if (!granted) return { status: 400, problem: 'Please choose on the privacy page.' };
    const back = returnPath(form.get(consentFields.returnTo), siteUrl);
    const value = consentValue(granted, gpc);
    const secure = siteUrl.startsWith('https:');
    const cookie = setCookie(consentCookieName, value, { maxAge: consentMaxAge, httpOnly: false, secure });
    const others = context.request.headers.get('cookie') ?? '';
    // The choice that was just made is used, not the one in the request's cookies.
    const kept = others.split(/; */).filter((each) => !each.startsWith(`${consentCookieName}=`));
    const cookies = [`${consentCookieName}=${value}`, ...kept].join('; ');
    const group = services.headlineTests.cookiesFor({ cookies, gpc });
    return { to: back === privacyPage ? `${privacyPage}?saved` : back, cookies: [cookie, ...group] };
  });
  return answer instanceof Response ? answer : textResponse(answer.status, answer.problem);
};
export const GET = redirectGet(privacyPage);
