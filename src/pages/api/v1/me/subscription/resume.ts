/** Takes a cancellation back, until what is paid has ended. */

import { answerOf, payingCall } from '../../../../../lib/billing/http.server.ts';
import type { SubscriptionAnswer } from '../../../../../lib/billing/wire.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const POST = payingCall({}, async ({ billing, session }) =>
  answerOf(await billing.resume(session), (subscription) => ({ subscription }) satisfies SubscriptionAnswer),
);
export const ALL = allowOnly('POST');
