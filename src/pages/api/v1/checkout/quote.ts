/** What would be charged, by Stripe's own reckoning. */

import { answerOf, shopCall } from '../../../../lib/billing/http.server.ts';
import { quoteBody } from '../../../../lib/billing/wire.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = shopCall({ body: quoteBody }, async ({ billing, body, session, caller }) => {
  const { plan_id: planId, couponCode, currency, address } = body;
  return answerOf(await billing.quote(session, { planId, couponCode, currency, address }, caller.address));
});
export const ALL = allowOnly('POST');
