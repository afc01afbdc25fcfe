/** The reader's subscriptions, in the form of Zephr's API (docs/services/zephr.md). */

import { signedInBillingRoute, zephrSubscription } from '../../../../../lib/billing/routes.server.ts';
import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const GET = signedInBillingRoute({}, async ({ billing, session }) => {
  return { status: 200, body: (await billing.subscriptions(session)).map(zephrSubscription) };
});
export const ALL = allowOnly('GET');
