/** The button on the page that a mailed link opens. */

import { formFields, formPages } from '../../lib/accounts/model.ts';
import { accountForm, saveSignUp } from '../../lib/accounts/routes.server.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';

/** As the link's page takes it, characters. */
const longestToken = 512;

export const POST = accountForm(async (call) => {
  const { accounts, form, caller, stateCookie } = call;
  const token = form.get(formFields.token) ?? '';
  const outcome = await accounts.useLink(token, caller);
  // The link's own page shows the error.
  if (!outcome.ok) {
    const limited = outcome.failure.kind === 'limited' ? 'limited' : null;
    // A long token was never a link's, and the address with it would be too long to open.
    const shown = token.length > longestToken ? null : token;
    return { to: withQuery('/blaize/token-exchange', { token: shown, problem: limited }) };
  }
  const { session, redirect, cookies } = outcome.value;
  const to = form.has(formFields.withoutNewsletters) ? '/' : await saveSignUp(call, session, redirect);
  return { to, cookies: [...cookies, stateCookie.clear] };
});
export const GET = redirectGet(formPages.signIn);
