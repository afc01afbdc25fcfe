/** Signs a reader in with a code or a state key (spec section 7; docs/services/zephr.md): 404 unknown, 401 wrong code. */

import { wireMessages } from '../../lib/accounts/messages.ts';
import { answerFailure, signedInAnswer } from '../../lib/accounts/routes.server.ts';
import { credentialsBody, credentialsOf } from '../../lib/accounts/schema.ts';
import { refuse } from '../../lib/http/answer.ts';
import { accountRoute, allowOnly } from '../../lib/http/routes.server.ts';

export const POST = accountRoute({ body: credentialsBody }, async ({ accounts, body, caller }) => {
  const credentials = credentialsOf(body, caller);
  if (!credentials.ok) return refuse(400, credentials.message);
  const outcome = await accounts.login(credentials.value);
  if (!outcome.ok) return answerFailure(outcome.failure, 401);
  return signedInAnswer(outcome.value, wireMessages.login);
});
export const ALL = allowOnly('POST');
