/**
 * Deletes the reader who is signed in (vendors.md 1.12). Who has typed an address to confirm sends it along: in another tab somebody else
 * may have signed in meanwhile.
 */
import { refuse } from '../../lib/accounts/answers.ts';
import { normalEmail } from '../../lib/accounts/engine/email.ts';
import { problemText } from '../../lib/accounts/forms.ts';
import { only, readerCall } from '../../lib/accounts/http.server.ts';
import { said } from '../../lib/accounts/names.ts';
import { signIn } from '../../lib/accounts/state-cookies.server.ts';
import { forgetBody } from '../../lib/accounts/wire.ts';

export const POST = readerCall({ body: forgetBody }, async ({ accounts, session, body, caller, context }) => {
  if (body.email !== undefined && normalEmail(body.email) !== session.email) {
    return refuse(409, 'That is not the address of this account. Nothing was deleted.');
  }
  if (await context.locals.services.billing?.isPaying(session.userId)) {
    return refuse(409, problemText('paying') ?? '', { retryAfter: 60 });
  }
  const cookies = [...(await accounts.forget(session, caller)), signIn(context.locals).clear];
  return { status: 200, body: { message: said.forgotten }, cookies };
});
export const ALL = only('POST');
