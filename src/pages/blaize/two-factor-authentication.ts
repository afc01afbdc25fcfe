/** Mails a six-digit code (spec section 7; docs/services/zephr.md): 201, 404 unknown, 405 for any method but email. */

import { accountMessages, wireMessages } from '../../lib/accounts/messages.ts';
import { answerFailure } from '../../lib/accounts/routes.server.ts';
import { deliveryBody, deliveryOf } from '../../lib/accounts/schema.ts';
import { refuse } from '../../lib/http/answer.ts';
import { accountRoute, allowOnly } from '../../lib/http/routes.server.ts';

export const POST = accountRoute({ body: deliveryBody }, async ({ accounts, body, caller, siteUrl }) => {
  const delivery = deliveryOf(body, siteUrl, caller);
  if (!delivery.ok) return refuse(400, delivery.message);
  if (delivery.value.method !== 'email') return refuse(405, accountMessages.codesByEmail);
  const outcome = await accounts.sendCode(delivery.value);
  return outcome.ok ? { status: 201, body: { message: wireMessages.codeSent } } : answerFailure(outcome.failure);
});
export const ALL = allowOnly('POST');
