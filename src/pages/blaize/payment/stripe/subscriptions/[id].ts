/** Cancels a subscription at the end of the paid time (docs/services/zephr.md); 409 if it is already canceled. */

import { messages } from '../../../../../lib/billing/messages.ts';
import { answerOf, signedInBillingRoute, zephrSubscription } from '../../../../../lib/billing/routes.server.ts';
import { refuse } from '../../../../../lib/http/answer.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const DELETE = signedInBillingRoute({}, async ({ billing, session, context }) => {
  const own = (await billing.subscriptions(session)).find(({ id }) => id === context.params.id);
  if (!own) return refuse(404, messages.unknownSubscription);
  if (own.cancelAtPeriodEnd || own.status === 'canceled') return refuse(409, messages.alreadyCanceled);
  return answerOf(await billing.cancel(session, null, own.id), zephrSubscription);
});
export const ALL = allowOnly('DELETE');
