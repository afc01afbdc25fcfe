/**
 * Whether a letter can reach an address (spec sections 3, 5 and 7). Each question may cost a look-up elsewhere, so that one network
 * address may ask only so often.
 */
import { refuse } from '../../lib/accounts/answers.ts';
import { networkOf } from '../../lib/accounts/engine/keyed.server.ts';
import { createGate } from '../../lib/accounts/gate.ts';
import { only, plainCall } from '../../lib/accounts/http.server.ts';
import { tooManyTries } from '../../lib/accounts/waiting.ts';
import { emailBody, type VerificationAnswer } from '../../lib/accounts/wire.ts';

const gate = createGate({ most: 30, seconds: 60 });

export const POST = plainCall(emailBody, async ({ body, caller, context }) => {
  const wait = gate.enter(networkOf(caller.address));
  if (wait > 0) return refuse(429, tooManyTries(wait), { retryAfter: wait });
  const answer: VerificationAnswer = await context.locals.services.emailVerification.verify(body.email);
  return { status: 200, body: answer };
});
export const ALL = only('POST');
