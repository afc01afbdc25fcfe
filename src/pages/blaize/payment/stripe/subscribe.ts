/** Buys a subscription (spec section 7; docs/services/zephr.md). */

import { answerOf, signedInBillingRoute, subscribeBody, withAccess } from '../../../../lib/billing/routes.server.ts';

import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = signedInBillingRoute(
  { body: subscribeBody },
  async ({ accounts, billing, body, caller, session }) =>
    withAccess(answerOf(await billing.subscribe(session, body, caller.address)), accounts, session),
);
export const ALL = allowOnly('POST');
