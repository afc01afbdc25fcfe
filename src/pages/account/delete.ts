/** Deletes the account of the signed-in reader, who types its address to confirm. */

import { formFields, formPages, normalEmail } from '../../lib/accounts/model.ts';
import { accountForm, signInPage } from '../../lib/accounts/routes.server.ts';

import { redirectGet, withQuery } from '../../lib/http/form.server.ts';

const page = '/dashboard/privacy';

export const POST = accountForm(async ({ accounts, form, caller, stateCookie, context }) => {
  const { session, cookies } = await accounts.session(caller.cookies ?? null);
  if (!session) return { to: signInPage(null, page) };
  if (normalEmail(form.get(formFields.email) ?? '') !== session.email) {
    return { to: `${withQuery(page, { problem: 'confirm' })}#delete`, cookies };
  }
  if (await context.locals.services.billing?.isPaying(session.userId)) {
    return { to: `${withQuery(page, { problem: 'paying' })}#delete`, cookies };
  }
  return { to: formPages.deleted, cookies: [...(await accounts.forget(session, caller)), stateCookie.clear] };
});
export const GET = redirectGet(page);
