/** Replaces the card that is charged, and pays open invoices with it. */

import { answerOf, paymentMethodBody, signedInBillingRoute } from '../../../../lib/billing/routes.server.ts';
import type { CardAnswer } from '../../../../lib/billing/schema.ts';

import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = signedInBillingRoute({ body: paymentMethodBody }, async ({ billing, body, caller, session }) =>
  answerOf(await billing.usePaymentMethod(session, body.payment_method, caller.address), (kept) => ({
    message: 'Saved.',
    ...kept,
  })),
);

/** The card that is charged (spec section 2, "Account dashboard"). */
export const GET = signedInBillingRoute({}, async ({ billing, session }) =>
  answerOf(await billing.card(session), (card) => ({ card }) satisfies CardAnswer),
);
export const ALL = allowOnly('GET', 'POST');
