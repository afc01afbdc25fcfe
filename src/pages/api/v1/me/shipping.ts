/** Where the printed paper goes (spec sections 3 and 7). */

import { answerOf, payingCall } from '../../../../lib/billing/http.server.ts';
import { type ShippingAnswer, shippingBody } from '../../../../lib/billing/wire.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const GET = payingCall({}, async ({ billing, session }) => ({
  status: 200,
  body: { shipping: await billing.shipping(session) } satisfies ShippingAnswer,
}));
export const POST = payingCall({ body: shippingBody }, async ({ billing, body, session }) =>
  answerOf(await billing.saveShipping(session, body), (shipping) => ({ shipping }) satisfies ShippingAnswer),
);
export const ALL = allowOnly('GET', 'POST');
