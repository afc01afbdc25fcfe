/**
 * Deletes the account of the signed-in reader (docs/services/zephr.md). The request may include the address that the reader typed to
 * confirm, because another reader may have signed in in another tab.
 */

import { accountMessages, problemText, wireMessages } from '../../lib/accounts/messages.ts';
import { normalEmail } from '../../lib/accounts/model.ts';
import { signInCookie } from '../../lib/accounts/routes.server.ts';
import { forgetBody } from '../../lib/accounts/schema.ts';
import { refuse } from '../../lib/http/answer.ts';
import { allowOnly, signedInRoute } from '../../lib/http/routes.server.ts';

export const POST = signedInRoute({ body: forgetBody }, async ({ accounts, session, body, caller, context }) => {
  if (body.email !== undefined && normalEmail(body.email) !== session.email) {
    return refuse(409, accountMessages.otherAddress);
  }
  if (await context.locals.services.billing?.hasOpenPayment(session.userId)) {
    return refuse(409, problemText('paying') ?? '', { retryAfter: 60 });
  }
  const cookies = [...(await accounts.forget(session, caller)), signInCookie(context.locals).clear];
  return { status: 200, body: { message: wireMessages.forgotten }, cookies };
});
export const ALL = allowOnly('POST');
