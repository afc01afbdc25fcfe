/** Whether a code is right (spec section 7): 400 and above means no. Checking doesn't use up a right code. */

import { wireMessages } from '../../../../lib/accounts/messages.ts';
import { answerFailure } from '../../../../lib/accounts/routes.server.ts';
import { otpCheckBody } from '../../../../lib/accounts/schema.ts';
import { accountRoute, allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = accountRoute({ body: otpCheckBody }, async ({ accounts, body, caller }) => {
  const outcome = await accounts.checkCode(body.email, body.code, caller);
  return outcome.ok ? { status: 200, body: { message: wireMessages.codeRight } } : answerFailure(outcome.failure);
});
export const ALL = allowOnly('POST');
