/** Mails another link or code to the address of an unfinished sign-in, or a link to a signed-in reader who has to confirm theirs. */

import { confirmPage, formFields, formPages } from '../../lib/accounts/model.ts';
import { accountForm, type FormCall, requestSignIn, signInPage } from '../../lib/accounts/routes.server.ts';
import { type Next, redirectGet } from '../../lib/http/form.server.ts';

export const POST = accountForm(async (call) => {
  const { state, form } = call;
  const method = form.get(formFields.method);
  if (method === 'confirm') return confirm(call);
  if (!state) return { to: signInPage('expired', '/') };
  const { email, returnTo } = state;
  const back = method === 'code' ? formPages.enterCode : formPages.linkSent;
  return requestSignIn(call, { email, method: method === 'code' ? 'code' : 'link', returnTo, state: 'resent', back });
});
export const GET = redirectGet(formPages.signIn);

/** The mail goes to the session's address, never to one in the form. */
async function confirm(call: FormCall): Promise<Next> {
  const { accounts, caller, returnTo } = call;
  const { session, cookies } = await accounts.session(caller.cookies ?? null);
  if (!session) return { to: signInPage(null, returnTo), cookies };
  if (session.emailVerified) return { to: returnTo, cookies };
  const next = await requestSignIn(call, {
    email: session.email,
    method: 'link',
    returnTo,
    back: confirmPage(returnTo),
  });
  return { to: next.to, cookies: [...cookies, ...(next.cookies ?? [])] };
}
