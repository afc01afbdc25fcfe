/** The card that is charged from now on; what is open is tried once more. */

import { answerOf, payingCall } from '../../../../lib/billing/http.server.ts';
import { type CardAnswer, paymentMethodBody } from '../../../../lib/billing/wire.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = payingCall({ body: paymentMethodBody }, async ({ billing, body, caller, session }) =>
  answerOf(await billing.usePaymentMethod(session, body.payment_method, caller.address), (kept) => ({
    message: 'Saved.',
    ...kept,
  })),
);

/** What is charged now (spec section 2, "Account dashboard"). */
export const GET = payingCall({}, async ({ billing, session }) =>
  answerOf(await billing.card(session), (card) => ({ card }) satisfies CardAnswer),
);
export const ALL = allowOnly('GET', 'POST');
