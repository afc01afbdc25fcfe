/** After the browser has confirmed the card (spec section 7). */

import {
  answerOf,
  confirmationBody,
  signedInBillingRoute,
  withAccess,
} from '../../../../../lib/billing/routes.server.ts';

import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const POST = signedInBillingRoute(
  { body: confirmationBody },
  async ({ accounts, billing, body, caller, session }) =>
    withAccess(answerOf(await billing.confirm(session, body.subscriptionId, caller.address)), accounts, session),
);
export const ALL = allowOnly('POST');
