/**
 * Makes an account by its address alone and mails a link to confirm it (spec section 7). Signs nobody in. Whoever asks signs up
 * for the newsletter: the link carries the same choice as the form's own one without scripts.
 */
import { answerFailure } from '../../lib/accounts/answers.ts';
import { accountCall, only } from '../../lib/accounts/http.server.ts';
import { subscribedPath } from '../../lib/accounts/subscribed.server.ts';
import { type CreateAnswer, emailBody } from '../../lib/accounts/wire.ts';

export const POST = accountCall({ body: emailBody }, async ({ accounts, body, caller }) => {
  const outcome = await accounts.create(body.email, caller, subscribedPath([]));
  if (!outcome.ok) return answerFailure(outcome.failure);
  return { status: 200, body: { sessionId: outcome.value.attempt } satisfies CreateAnswer };
});
export const ALL = only('POST');
