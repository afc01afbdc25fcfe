/** What the reader pays in: what their subscription is in, else what is charged where they seem to be. Kept as a hint for cached pages. */
import { currencyCookie, currencyHint, currencyLife } from '../../../../lib/billing/currency-hint.ts';
import { shopCall } from '../../../../lib/billing/http.server.ts';
import type { CurrencyAnswer } from '../../../../lib/billing/wire.ts';
import { setCookie } from '../../../../lib/http/cookies.ts';
import { allowOnly, callerOf } from '../../../../lib/http/routes.server.ts';

export const GET = shopCall({}, async ({ billing, session, context }) => {
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
