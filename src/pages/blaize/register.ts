/** Makes an account with a code or a state key (spec section 7; vendors.md 1.2): 409 where there is one already. */
import { answerFailure, refuse } from '../../lib/accounts/answers.ts';
import { credentialsOf } from '../../lib/accounts/bodies.ts';
import { accountCall, only, signedInAnswer } from '../../lib/accounts/http.server.ts';
import { said } from '../../lib/accounts/names.ts';
import { credentialsBody } from '../../lib/accounts/wire.ts';

export const POST = accountCall({ body: credentialsBody }, async ({ accounts, body, caller }) => {
  const credentials = credentialsOf(body, caller);
  if (!credentials.ok) return refuse(400, credentials.message);
  const outcome = await accounts.register(credentials.value);
  if (!outcome.ok) return answerFailure(outcome.failure);
  return signedInAnswer(outcome.value, said.register);
});
export const ALL = only('POST');
