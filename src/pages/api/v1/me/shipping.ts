/** The shipping address of the print edition (spec sections 3 and 7). */

import { answerOf, shippingBody, signedInBillingRoute } from '../../../../lib/billing/routes.server.ts';
import type { ShippingAnswer } from '../../../../lib/billing/schema.ts';

import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const GET = signedInBillingRoute({}, async ({ billing, session }) => ({
  status: 200,
  body: { shipping: await billing.shipping(session) } satisfies ShippingAnswer,
}));
export const POST = signedInBillingRoute({ body: shippingBody }, async ({ billing, body, session }) =>
  answerOf(await billing.saveShipping(session, body), (shipping) => ({ shipping }) satisfies ShippingAnswer),
);
export const ALL = allowOnly('GET', 'POST');
