/** Handles the code form: signs in, or makes the account. */

import { formFields, formPages } from '../../lib/accounts/model.ts';
import { accountForm, type FormCall, problemOf, signInPage } from '../../lib/accounts/routes.server.ts';
import { tidyCode } from '../../lib/accounts/schema.ts';
import type { Credentials, Outcome, SignedIn } from '../../lib/accounts/service.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';
import { choiceOf, saveChoice } from '../../lib/newsletters/model.ts';

export const POST = accountForm(async (call) => {
  const { form, state, stateCookie, caller, context } = call;
  if (!state) return { to: signInPage('expired', '/') };
  const code = tidyCode(form.getAll(formFields.code).join(''));
  const outcome = await enter(call, { email: state.email, validators: { code }, caller }, state.purpose);
  if (!outcome.ok) {
    const { problem, words } = problemOf(outcome.failure);
    const kept = { ...state, problem: words };
    return { to: withQuery(formPages.enterCode, { problem }), cookies: [stateCookie.set(kept)] };
  }
  const { session, cookies } = outcome.value;
  await saveChoice(context.locals.services.newsletters, session, choiceOf(state.returnTo));
  return { to: state.returnTo, cookies: [...cookies, stateCookie.clear] };
});

/** An account may have been made, or deleted, since the code was sent. */
async function enter(
  { accounts }: FormCall,
  credentials: Credentials,
  purpose: 'login' | 'register',
): Promise<Outcome<SignedIn>> {
  const [first, other] = purpose === 'login' ? (['login', 'register'] as const) : (['register', 'login'] as const);
  const outcome = await accounts[first](credentials);
  const changed = !outcome.ok && (outcome.failure.kind === 'exists' || outcome.failure.kind === 'unknown-user');
  return changed ? accounts[other](credentials) : outcome;
}

export const GET = redirectGet(formPages.enterCode);
