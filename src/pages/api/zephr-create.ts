/**
 * Creates an account from an address and mails a link to confirm it (spec section 7). The reader signs up for the newsletter: the
 * link contains the same choice as the one from the form without JavaScript. At the paywall (`enter`) the new reader is signed in
 * and can pay before reading the mail.
 */
import { randomUUID } from 'node:crypto';
import { answerFailure } from '../../lib/accounts/routes.server.ts';
import { type CreateAnswer, createBody } from '../../lib/accounts/schema.ts';
import { accountRoute, allowOnly } from '../../lib/http/routes.server.ts';
import { subscribedPath } from '../../lib/newsletters/model.ts';

export const POST = accountRoute({ body: createBody }, async ({ accounts, body, caller }) => {
  const outcome = body.enter
    ? await accounts.create(body.email, caller, { enter: true })
    : await accounts.create(body.email, caller, { redirect: subscribedPath([]) });
  if (!outcome.ok) return answerFailure(outcome.failure);
  const { signedIn } = outcome.value;
  return {
    status: 200,
    // The protocol's answer has an id; no other call takes it.
    body: { sessionId: randomUUID() } satisfies CreateAnswer,
    ...(signedIn && { cookies: signedIn.cookies }),
  };
});
export const ALL = allowOnly('POST');
