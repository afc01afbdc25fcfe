/** Mails another link or code to the address of an unfinished sign-in, or a link to a signed-in reader who has to confirm theirs. */

import { confirmPage, formFields, formPages } from '../../lib/accounts/model.ts';
import { type FormCall, readerForm, requestSignIn, signInPage } from '../../lib/accounts/routes.server.ts';
import type { Session } from '../../lib/accounts/service.ts';
import { type Next, redirectGet } from '../../lib/http/form.server.ts';

export const POST = readerForm(async (call) => {
  const { session, state, form } = call;
  const method = form.get(formFields.method);
  if (method === 'confirm') return session ? confirm(call, session) : { to: signInPage(null, call.returnTo) };
  if (!state) return { to: signInPage('expired', '/') };
  const { email, returnTo } = state;
  const back = method === 'code' ? formPages.enterCode : formPages.linkSent;
  return requestSignIn(call, { email, method: method === 'code' ? 'code' : 'link', returnTo, state: 'resent', back });
});
export const GET = redirectGet(formPages.signIn);

/** The mail goes to the session's address, never to one in the form. */
function confirm(call: FormCall, { email, emailVerified }: Session): Next | Promise<Next> {
  const { returnTo } = call;
  if (emailVerified) return { to: returnTo };
  return requestSignIn(call, { email, method: 'link', returnTo, back: confirmPage(returnTo) });
}
