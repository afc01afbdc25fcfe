/** Where a subscription came from (spec section 3, "Subscription metadata"). */
import { only } from '../../../../../lib/accounts/http.server.ts';
import { answerOf, payingCall } from '../../../../../lib/billing/http.server.ts';
import { metadataBody } from '../../../../../lib/billing/wire.ts';

export const PUT = payingCall({ body: metadataBody }, async ({ billing, body, session }) => {
  const given = Object.entries(body.metadata).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const saved = await billing.saveMetadata(session, body.subscriptionId, Object.fromEntries(given));
  return answerOf(saved, () => ({ message: 'Saved.' }));
});
export const ALL = only('PUT');
