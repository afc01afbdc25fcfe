/** Cancels at the end of what is paid. */

import { answerOf, payingCall } from '../../../../../lib/billing/http.server.ts';
import { cancelBody, type SubscriptionAnswer } from '../../../../../lib/billing/wire.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const POST = payingCall({ body: cancelBody }, async ({ billing, body, session }) =>
  answerOf(
    await billing.cancel(session, body.reason ?? null),
    (subscription) => ({ subscription }) satisfies SubscriptionAnswer,
  ),
);
export const ALL = allowOnly('POST');
