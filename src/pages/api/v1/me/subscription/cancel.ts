/** Cancels at the end of the paid time. */

import { answerOf, cancelBody, signedInBillingRoute } from '../../../../../lib/billing/routes.server.ts';
import type { SubscriptionAnswer } from '../../../../../lib/billing/schema.ts';

import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const POST = signedInBillingRoute({ body: cancelBody }, async ({ billing, body, session }) =>
  answerOf(
    await billing.cancel(session, body.reason ?? null, body.subscriptionId),
    (subscription) => ({ subscription }) satisfies SubscriptionAnswer,
  ),
);
export const ALL = allowOnly('POST');
