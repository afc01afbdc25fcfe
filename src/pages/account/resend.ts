/** Mails another link or code to the address of a half-done sign-in. */
import { formPost, insteadOpen, signInPage } from '../../lib/accounts/form.server.ts';
import { formFields, formPages } from '../../lib/accounts/forms.ts';
import { mailAndShow } from '../../lib/accounts/mail-form.server.ts';

export const POST = formPost(async (call) => {
  const { state, form } = call;
  if (!state) return { to: signInPage('expired', '/') };
  const method = form.get(formFields.method) === 'code' ? 'code' : 'link';
  const { email, returnTo } = state;
  const back = method === 'code' ? formPages.enterCode : formPages.linkSent;
  return mailAndShow(call, { email, method, returnTo, state: 'resent', back });
});
export const GET = insteadOpen(formPages.signIn);
