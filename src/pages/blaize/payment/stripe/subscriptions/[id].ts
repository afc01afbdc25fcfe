/** Cancels a subscription at the end of what is paid (vendors.md 1.12); 409 when it is cancelled already. */

import { answerOf, payingCall } from '../../../../../lib/billing/http.server.ts';
import { zephrSubscription } from '../../../../../lib/billing/zephr-subscription.ts';
import { refuse } from '../../../../../lib/http/answer.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const DELETE = payingCall({}, async ({ billing, session, context }) => {
  const own = await billing.subscription(session);
  if (!own || own.id !== context.params.id) return refuse(404, 'We can’t find this subscription.');
  if (own.cancelAtPeriodEnd || own.status === 'canceled') return refuse(409, 'It is cancelled already.');
  return answerOf(await billing.cancel(session, null), zephrSubscription);
});
export const ALL = allowOnly('DELETE');
