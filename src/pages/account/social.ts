/** The button at the end of a social sign-in that makes a new account. */

import { formFields, formPages } from '../../lib/accounts/model.ts';
import { accountForm, problemOf, signInPage } from '../../lib/accounts/routes.server.ts';
import { redirectGet } from '../../lib/http/form.server.ts';

export const POST = accountForm(async ({ accounts, form, caller, returnTo, stateCookie }) => {
  const stateKey = form.get(formFields.stateKey) ?? '';
  const outcome = await accounts.register({ stateKey: stateKey, caller });
  if (outcome.ok) return { to: returnTo, cookies: [...outcome.value.cookies, stateCookie.clear] };
  const { problem } = problemOf(outcome.failure);
  return { to: signInPage(problem === 'limited' ? 'limited' : 'social', returnTo) };
});
export const GET = redirectGet(formPages.signIn);
