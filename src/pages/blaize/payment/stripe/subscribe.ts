/** Buys a subscription (spec section 7; vendors.md 1.12). */

import { answerOf, payingCall, withAccess } from '../../../../lib/billing/http.server.ts';
import { subscribeBody } from '../../../../lib/billing/wire.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = payingCall({ body: subscribeBody }, async ({ accounts, billing, body, caller, session }) =>
  withAccess(answerOf(await billing.subscribe(session, body, caller.address)), accounts, session),
);
export const ALL = allowOnly('POST');
