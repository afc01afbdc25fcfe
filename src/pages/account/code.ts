/** Handles the code form: signs in, or makes the account. */

import { formFields, formPages } from '../../lib/accounts/model.ts';
import { accountForm, problemOf, requestSignIn, saveSignUp, signInPage } from '../../lib/accounts/routes.server.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';

export const POST = accountForm(async (call) => {
  const { accounts, form, state, stateCookie, caller } = call;
  if (!state) return { to: signInPage('expired', '/') };
  const { email, purpose, returnTo } = state;
  const code = form.getAll(formFields.code).join('');
  const outcome = await accounts[purpose]({ email, code, caller });
  if (!outcome.ok) {
    const { kind } = outcome.failure;
    // An account was created or deleted since the code was sent, so the code is for the other purpose.
    if (kind === 'exists' || kind === 'unknown-user')
      return requestSignIn(call, { email, method: 'link', returnTo, back: formPages.enterCode });
    const { problem, words } = problemOf(outcome.failure);
    const kept = { ...state, problem: words };
    return { to: withQuery(formPages.enterCode, { problem }), cookies: [stateCookie.set(kept)] };
  }
  const { session, cookies } = outcome.value;
  return { to: await saveSignUp(call, session, returnTo), cookies: [...cookies, stateCookie.clear] };
});

export const GET = redirectGet(formPages.enterCode);
