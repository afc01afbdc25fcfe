/** Cancels a subscription at the end of what is paid (vendors.md 1.12); 409 when it is cancelled already. */
import { refuse } from '../../../../../lib/accounts/answers.ts';
import { only } from '../../../../../lib/accounts/http.server.ts';
import { answerOf, payingCall } from '../../../../../lib/billing/http.server.ts';
import { zephrSubscription } from '../../../../../lib/billing/zephr-subscription.ts';

export const DELETE = payingCall({}, async ({ billing, session, context }) => {
  const own = await billing.subscription(session);
  if (!own || own.id !== context.params.id) return refuse(404, 'We do not know this subscription.');
  if (own.cancelAtPeriodEnd || own.status === 'canceled') return refuse(409, 'It is cancelled already.');
  return answerOf(await billing.cancel(session, null), zephrSubscription);
});
export const ALL = only('DELETE');
