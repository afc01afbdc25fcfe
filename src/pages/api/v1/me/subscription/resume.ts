/** Takes a cancellation back, until what is paid has ended. */
import { only } from '../../../../../lib/accounts/http.server.ts';
import { answerOf, payingCall } from '../../../../../lib/billing/http.server.ts';
import type { SubscriptionAnswer } from '../../../../../lib/billing/wire.ts';

export const POST = payingCall({}, async ({ billing, session }) =>
  answerOf(await billing.resume(session), (subscription) => ({ subscription }) satisfies SubscriptionAnswer),
);
export const ALL = only('POST');
