/** The reader's currency, from the subscription or the country; a cookie stores it for cached pages. */

import { billingRoute } from '../../../../lib/billing/routes.server.ts';
import { type CurrencyAnswer, currencyCookie, currencyHint, currencyLife } from '../../../../lib/billing/schema.ts';

import { setCookie } from '../../../../lib/http/cookies.server.ts';
import { allowOnly, callerOf } from '../../../../lib/http/routes.server.ts';

export const GET = billingRoute({}, async ({ billing, session, context }) => {
  const { config, services } = context.locals;
  const { country } = services.geo.locate(callerOf(context).address, context.request.headers);
  const hint = await billing.currency(session, country);
  const secure = config.siteUrl.startsWith('https:');
  return {
    status: 200,
    body: { currency: hint.currency } satisfies CurrencyAnswer,
    cookies: [setCookie(currencyCookie, currencyHint(hint), { maxAge: currencyLife, httpOnly: false, secure })],
  };
});
export const ALL = allowOnly('GET');
