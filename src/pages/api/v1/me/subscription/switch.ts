/** Changes the plan: an upgrade now, with proration; a downgrade at the renewal. */

import { answerOf, signedInBillingRoute, switchBody, withAccess } from '../../../../../lib/billing/routes.server.ts';

import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const POST = signedInBillingRoute({ body: switchBody }, async ({ accounts, billing, body, caller, session }) => {
  const { plan_id: planId, prorationDate, expected, attempt } = body;
  const switched = await billing.switchPlan(session, { planId, prorationDate, expected, attempt }, caller.address);
  return withAccess(answerOf(switched), accounts, session);
});
export const ALL = allowOnly('POST');
