/** Reverts a cancellation during the paid time. */

import { answerOf, resumeBody, signedInBillingRoute } from '../../../../../lib/billing/routes.server.ts';
import type { SubscriptionAnswer } from '../../../../../lib/billing/schema.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const POST = signedInBillingRoute({ body: resumeBody }, async ({ billing, body, session }) =>
  answerOf(
    await billing.resume(session, body.subscriptionId),
    (subscription) => ({ subscription }) satisfies SubscriptionAnswer,
  ),
);
export const ALL = allowOnly('POST');
