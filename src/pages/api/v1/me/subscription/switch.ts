/** Changes the plan: an upgrade now, with proration; a downgrade at the renewal. */

import { answerOf, signedInBillingRoute, switchBody, withAccess } from '../../../../../lib/billing/routes.server.ts';

import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const POST = signedInBillingRoute({ body: switchBody }, async ({ accounts, billing, body, caller, session }) => {
  const { plan_id: planId, prorationDate, subscriptionId, expected, attempt } = body;
  const ask = { planId, prorationDate, subscriptionId, expected, attempt };
  const switched = await billing.switchPlan(session, ask, caller.address);
  return withAccess(answerOf(switched), accounts, session);
});
export const ALL = allowOnly('POST');
