/**
 * Whether a letter can reach an address (spec sections 3, 5 and 7). Each question may cost a look-up elsewhere, so that one network
 * address may ask only so often.
 */
import { refuse } from '../../lib/accounts/answers.ts';
import { only, plainCall } from '../../lib/accounts/http.server.ts';
import { tooManyTries } from '../../lib/accounts/waiting.ts';
import { emailBody, type VerificationAnswer } from '../../lib/accounts/wire.ts';

export const POST = plainCall(emailBody, async ({ body, caller, context }) => {
  const { limiter, emailVerification } = context.locals.services;
  const over = await limiter.count('verify', { address: caller.address });
  if (over) return refuse(429, tooManyTries(over.retryAfter), { retryAfter: over.retryAfter });
  const answer: VerificationAnswer = await emailVerification.verify(body.email);
  return { status: 200, body: answer };
});
export const ALL = only('POST');
