/** Whether there is a user with an address (spec section 7): 404: no. Limited, because the answer shows strangers who has an account. */

import { wireMessages } from '../../../../lib/accounts/messages.ts';
import { answerFailure } from '../../../../lib/accounts/routes.server.ts';
import { identifiersBody } from '../../../../lib/accounts/schema.ts';
import { accountRoute, allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = accountRoute({ body: identifiersBody }, async ({ accounts, body, caller }) => {
  const outcome = await accounts.exists(body.identifiers.email_address, caller);
  if (!outcome.ok) return answerFailure(outcome.failure);
  return outcome.value
    ? { status: 200, body: { message: wireMessages.userFound } }
    : answerFailure({ kind: 'unknown-user' });
});
export const ALL = allowOnly('POST');
