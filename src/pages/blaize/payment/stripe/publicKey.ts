/** Stripe's publishable key, as a JSON text (docs/services/zephr.md). */

import { billingGetRoute } from '../../../../lib/billing/routes.server.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const GET = billingGetRoute((billing) => ({ status: 200, body: billing.plans(null).publishableKey }));
export const ALL = allowOnly('GET');
