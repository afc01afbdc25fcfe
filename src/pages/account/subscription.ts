/** Handles the form on the account page that reverts a cancellation or a planned change. */
import { accountForm, signInPage } from '../../lib/accounts/routes.server.ts';
import { subscriptionParam } from '../../lib/billing/schema.ts';
import { redirectGet } from '../../lib/http/form.server.ts';

const page = '/dashboard/account';

export const POST = accountForm(async ({ accounts, caller, context, form }) => {
  const { session, cookies } = await accounts.session(caller.cookies ?? null);
  if (!session) return { to: signInPage(null, page) };
  const resumed = await context.locals.services.billing?.resume(session, form.get(subscriptionParam) ?? undefined);
  // The subscription has ended: the page shows its state.
  if (resumed && !resumed.ok && resumed.status === 404) return { to: `${page}#plan`, cookies };
  return { to: `${page}?${resumed?.ok ? 'state=resumed' : 'problem=failed'}#plan`, cookies };
});
export const GET = redirectGet(page);
