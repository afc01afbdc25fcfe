/** After the browser has confirmed the card (spec section 7). */

import { answerOf, payingCall, withAccess } from '../../../../../lib/billing/http.server.ts';
import { confirmationBody } from '../../../../../lib/billing/wire.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const POST = payingCall({ body: confirmationBody }, async ({ accounts, billing, body, caller, session }) =>
  withAccess(answerOf(await billing.confirm(session, body.subscriptionId, caller.address)), accounts, session),
);
export const ALL = allowOnly('POST');
