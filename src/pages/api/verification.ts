/**
 * Whether an address can receive mail (spec sections 3, 5 and 7). Each call may cost a look-up at another service, so calls are limited
 * for each network address. The address of an account isn't checked: its owner must be able to sign in.
 */

import { emailBody, type VerificationAnswer } from '../../lib/accounts/schema.ts';
import { tooManyRequests } from '../../lib/http/answer.ts';
import { allowOnly, jsonRoute } from '../../lib/http/routes.server.ts';

export const POST = jsonRoute(emailBody, async ({ body, caller, context }) => {
  const { accounts, limiter, emailVerification } = context.locals.services;
  const over = await limiter.count('verify', { address: caller.address });
  if (over) return tooManyRequests(over.retryAfter);
  const known = await accounts?.exists(body.email, caller);
  const answer: VerificationAnswer =
    known?.ok && known.value
      ? { verified: true, suggestedEmail: null, message: '' }
      : await emailVerification.verify(body.email);
  return { status: 200, body: answer };
});
export const ALL = allowOnly('POST');
