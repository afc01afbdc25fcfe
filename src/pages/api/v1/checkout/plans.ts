/** The plans on sale, the currency of the reader's country, and what the card form needs. */

import { billingGetRoute } from '../../../../lib/billing/routes.server.ts';
import { allowOnly, callerOf } from '../../../../lib/http/routes.server.ts';

export const GET = billingGetRoute((billing, context) => {
  const { geo } = context.locals.services;
  const { country } = geo.locate(callerOf(context).address, context.request.headers);
  return { status: 200, body: billing.plans(country) };
});
export const ALL = allowOnly('GET');
