/** The button on the page that a mailed link opens. */

import { formFields, formPages } from '../../lib/accounts/model.ts';
import { accountForm } from '../../lib/accounts/routes.server.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';
import { choiceOf, saveChoice } from '../../lib/newsletters/model.ts';

export const POST = accountForm(async ({ accounts, form, caller, context, stateCookie }) => {
  const token = form.get(formFields.token) ?? '';
  const outcome = await accounts.useLink(token, caller);
  // The link's own page shows the error.
  if (!outcome.ok) {
    const limited = outcome.failure.kind === 'limited' ? 'limited' : null;
    return { to: withQuery('/blaize/token-exchange', { token, problem: limited }) };
  }
  const { session, redirect, cookies } = outcome.value;
  await saveChoice(context.locals.services.newsletters, session, choiceOf(redirect));
  return { to: redirect, cookies: [...cookies, stateCookie.clear] };
});
export const GET = redirectGet(formPages.signIn);
