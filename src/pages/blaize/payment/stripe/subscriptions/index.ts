/** The reader's subscriptions, in the form of Zephr's API (vendors.md 1.12). */

import { signedInBillingRoute, zephrSubscription } from '../../../../../lib/billing/routes.server.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const GET = signedInBillingRoute({}, async ({ billing, session }) => {
  const subscription = await billing.subscription(session);
  return { status: 200, body: subscription ? [zephrSubscription(subscription)] : [] };
});
export const ALL = allowOnly('GET');
