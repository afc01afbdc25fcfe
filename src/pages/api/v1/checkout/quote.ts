/** What Stripe would charge. */

import { answerOf, billingRoute, quoteBody } from '../../../../lib/billing/routes.server.ts';

import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = billingRoute({ body: quoteBody }, async ({ billing, body, session, caller }) => {
  const { plan_id: planId, couponCode, currency, address } = body;
  return answerOf(await billing.quote(session, { planId, couponCode, currency, address }, caller.address));
});
export const ALL = allowOnly('POST');
