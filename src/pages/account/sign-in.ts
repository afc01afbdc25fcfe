/** Handles the sign-in form. */

import { formFields, formPages } from '../../lib/accounts/model.ts';
import { accountForm, requestSignIn, signInPage } from '../../lib/accounts/routes.server.ts';
import { redirectGet } from '../../lib/http/form.server.ts';

export const POST = accountForm((call) =>
  requestSignIn(call, {
    email: (call.form.get(formFields.email) ?? '').trim(),
    method: call.form.get(formFields.method) === 'code' ? 'code' : 'link',
    returnTo: call.returnTo,
    back: signInPage(null, call.returnTo),
  }),
);
export const GET = redirectGet(formPages.signIn);
