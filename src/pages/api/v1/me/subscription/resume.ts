/** Reverts a cancellation during the paid time. */

import { answerOf, signedInBillingRoute } from '../../../../../lib/billing/routes.server.ts';
import type { SubscriptionAnswer } from '../../../../../lib/billing/schema.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const POST = signedInBillingRoute({}, async ({ billing, session }) =>
  answerOf(await billing.resume(session), (subscription) => ({ subscription }) satisfies SubscriptionAnswer),
);
export const ALL = allowOnly('POST');
