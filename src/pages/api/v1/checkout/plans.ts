/** What can be bought, and what the browser needs in order to ask for a card. */
import { only } from '../../../../lib/accounts/http.server.ts';
import { shopRead } from '../../../../lib/billing/http.server.ts';

export const GET = shopRead((billing) => ({ status: 200, body: billing.plans() }));
export const ALL = only('GET');
