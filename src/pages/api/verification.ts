/**
 * Whether a letter can reach an address (spec sections 3, 5 and 7). Each question may cost a look-up elsewhere, so that one network
 * address may ask only so often.
 */

import { emailBody, type VerificationAnswer } from '../../lib/accounts/schema.ts';
import { tooManyRequests } from '../../lib/http/answer.ts';
import { allowOnly, jsonRoute } from '../../lib/http/routes.server.ts';

export const POST = jsonRoute(emailBody, async ({ body, caller, context }) => {
  const { limiter, emailVerification } = context.locals.services;
  const over = await limiter.count('verify', { address: caller.address });
  if (over) return tooManyRequests(over.retryAfter);
  const answer: VerificationAnswer = await emailVerification.verify(body.email);
  return { status: 200, body: answer };
});
export const ALL = allowOnly('POST');
