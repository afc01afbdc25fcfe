/** Handles the form to sign out: everywhere, unless it says otherwise (spec section 6). */

import { formFields, formPages } from '../../lib/accounts/model.ts';
import { accountForm } from '../../lib/accounts/routes.server.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';

export const POST = accountForm(async ({ accounts, form, caller, stateCookie }) => {
  const { session } = await accounts.session(caller.cookies ?? null);
  const here = form.get(formFields.where) === 'THIS_DEVICE';
  const cookies = session
    ? await accounts.logout(session, here ? 'THIS_DEVICE' : 'EVERYWHERE')
    : accounts.signedOutCookies;
  return {
    to: withQuery(formPages.signedOut, { where: here ? 'here' : null }),
    cookies: [...cookies, stateCookie.clear],
  };
});
export const GET = redirectGet('/');
