/**
 * Deletes the reader who is signed in (vendors.md 1.12). Who has typed an address to confirm sends it along: in another tab somebody else
 * may have signed in meanwhile.
 */

import { signIn } from '../../lib/accounts/form.server.ts';
import { accountMessages, problemText, wireMessages } from '../../lib/accounts/messages.ts';
import { normalEmail } from '../../lib/accounts/model.ts';
import { forgetBody } from '../../lib/accounts/schema.ts';
import { refuse } from '../../lib/http/answer.ts';
import { allowOnly, signedInRoute } from '../../lib/http/routes.server.ts';

export const POST = signedInRoute({ body: forgetBody }, async ({ accounts, session, body, caller, context }) => {
  if (body.email !== undefined && normalEmail(body.email) !== session.email) {
    return refuse(409, accountMessages.otherAddress);
  }
  if (await context.locals.services.billing?.isPaying(session.userId)) {
    return refuse(409, problemText('paying') ?? '', { retryAfter: 60 });
  }
  const cookies = [...(await accounts.forget(session, caller)), signIn(context.locals).clear];
  return { status: 200, body: { message: wireMessages.forgotten }, cookies };
});
export const ALL = allowOnly('POST');
