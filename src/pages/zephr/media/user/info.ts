/** Whether there is a user with an address (spec section 7): 404 says no. Limited, for it tells strangers who reads the paper. */
import { answerFailure } from '../../../../lib/accounts/answers.server.ts';
import { wireMessages } from '../../../../lib/accounts/messages.ts';
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
