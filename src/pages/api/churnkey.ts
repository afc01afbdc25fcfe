/**
 * Signs the reader's own customer for the retention widget (spec section 7). The posted address is ignored: it is always the
 * session's customer.
 */

import { retention as messages } from '../../lib/billing/messages.ts';
import { churnBody, signedInBillingRoute, userHash } from '../../lib/billing/routes.server.ts';
import type { ChurnAnswer } from '../../lib/billing/schema.ts';
import { refuse } from '../../lib/http/answer.ts';
import { allowOnly } from '../../lib/http/routes.server.ts';

export const POST = signedInBillingRoute({ body: churnBody }, async ({ billing, session, context: { locals } }) => {
  const { retention } = locals.config;
  if (!retention) return refuse(404, messages.notUsed);
  try {
    const customerId = await billing.customerOf(session);
    const subscription = await billing.subscription(session);
    const hash = customerId === null ? null : userHash(retention.apiKey, customerId);
    return { status: 200, body: { hash, customerId, subscriptionId: subscription?.id ?? null } satisfies ChurnAnswer };
  } catch (error) {
    locals.services.log.error({ err: error }, 'A hash for the retention widget could not be made');
    return refuse(500, 'Error generating user hash');
  }
});
export const ALL = allowOnly('POST');
