/** Where a subscription came from (spec section 3, "Subscription metadata"). */

import { answerOf, metadataBody, signedInBillingRoute } from '../../../../../lib/billing/routes.server.ts';

import { allowOnly } from '../../../../../lib/http/routes.server.ts';

export const PUT = signedInBillingRoute({ body: metadataBody }, async ({ billing, body, session }) => {
  const given = Object.entries(body.metadata).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const saved = await billing.saveMetadata(session, body.subscriptionId, Object.fromEntries(given));
  return answerOf(saved, () => ({ message: 'Saved.' }));
});
export const ALL = allowOnly('PUT');
