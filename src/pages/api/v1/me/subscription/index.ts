/** The reader's subscription (spec sections 3 and 7). */

import { signedInBillingRoute, withAccess } from '../../../../../lib/billing/routes.server.ts';
import type { SubscriptionAnswer } from '../../../../../lib/billing/schema.ts';
import { refuse } from '../../../../../lib/http/answer.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';
import { subscription as subscriptionMessages } from '../../../../../lib/plans/messages.ts';

export const GET = signedInBillingRoute({}, async ({ accounts, billing, session, context }) => {
  try {
    const subscription = await billing.subscription(session);
    const answer = { status: 200, body: { subscription } satisfies SubscriptionAnswer };
    return await withAccess(answer, accounts, session);
  } catch (error) {
    context.locals.services.log.error({ err: error }, 'A subscription could not be read');
    return refuse(502, subscriptionMessages.failed);
  }
});
export const ALL = allowOnly('GET');
