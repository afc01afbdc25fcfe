/** Key with which a browser speaks to Stripe, as a JSON text (vendors.md 1.12). */
import { only } from '../../../../lib/accounts/http.server.ts';
import { shopRead } from '../../../../lib/billing/http.server.ts';

export const GET = shopRead((billing) => ({ status: 200, body: billing.plans(null).publishableKey }));
export const ALL = only('GET');
