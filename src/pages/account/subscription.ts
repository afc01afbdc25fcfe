/** Handles the form on the account page that reverts a cancellation or a planned change. */
import { accountForm, signInPage } from '../../lib/accounts/routes.server.ts';
import { resumedAddress } from '../../lib/billing/cancel-page.server.ts';
import { subscriptionParam } from '../../lib/billing/schema.ts';
import { redirectGet } from '../../lib/http/form.server.ts';

const page = '/dashboard/account';

export const POST = accountForm(async ({ accounts, caller, context, form }) => {
  const { session, cookies } = await accounts.session(caller.cookies ?? null);
  if (!session) return { to: signInPage(null, page) };
  const { billing } = context.locals.services;
  const id = form.get(subscriptionParam) ?? undefined;
  const resumed = await billing?.resume(session, id);
  // The subscription has ended: the page shows its state.
  if (resumed && !resumed.ok && resumed.status === 404) return { to: `${page}#plan`, cookies };
  return {
    to: billing && resumed?.ok ? await resumedAddress(billing, session, id) : `${page}?problem=failed#plan`,
    cookies,
  };
});
export const GET = redirectGet(page);
