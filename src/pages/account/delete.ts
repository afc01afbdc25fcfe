/** Deletes the account of the signed-in reader, who types its address to confirm. */

import { formFields, formPages, normalEmail } from '../../lib/accounts/model.ts';
import { signedInForm } from '../../lib/accounts/routes.server.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';

const page = '/dashboard/privacy';

export const POST = signedInForm(page, async ({ accounts, session, form, caller, stateCookie, context }) => {
  if (normalEmail(form.get(formFields.email) ?? '') !== session.email) {
    return { to: `${withQuery(page, { problem: 'confirm' })}#delete` };
  }
  if (await context.locals.services.billing?.hasOpenPayment(session.userId)) {
    return { to: `${withQuery(page, { problem: 'paying' })}#delete` };
  }
  return { to: formPages.deleted, cookies: [...(await accounts.forget(session, caller)), stateCookie.clear] };
});
export const GET = redirectGet(page);
