/** What can be bought, and what the browser needs to ask for a card; in the currency of where the reader seems to be. */

import { shopRead } from '../../../../lib/billing/http.server.ts';
import { allowOnly, callerOf } from '../../../../lib/http/routes.server.ts';

export const GET = shopRead((billing, context) => {
  const { geo } = context.locals.services;
  const { country } = geo.locate(callerOf(context).address, context.request.headers);
  return { status: 200, body: billing.plans(country) };
});
export const ALL = allowOnly('GET');
