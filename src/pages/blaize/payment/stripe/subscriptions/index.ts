/** The reader's subscriptions, as the account service words them (vendors.md 1.12). */

import { payingCall } from '../../../../../lib/billing/http.server.ts';
import { zephrSubscription } from '../../../../../lib/billing/zephr-subscription.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const GET = payingCall({}, async ({ billing, session }) => {
  const subscription = await billing.subscription(session);
  return { status: 200, body: subscription ? [zephrSubscription(subscription)] : [] };
});
export const ALL = allowOnly('GET');
