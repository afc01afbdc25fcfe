/** Stripe's publishable key, as a JSON text (vendors.md 1.12). */

import { billingGetRoute } from '../../../../lib/billing/routes.server.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const GET = billingGetRoute((billing) => ({ status: 200, body: billing.plans(null).publishableKey }));
export const ALL = allowOnly('GET');
