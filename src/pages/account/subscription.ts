/** Handles the form on the account page that reverts a cancellation or a planned change. */
import { signedInForm } from '../../lib/accounts/routes.server.ts';
import { resumedAddress } from '../../lib/billing/cancel-page.server.ts';
import { subscriptionParam } from '../../lib/billing/schema.ts';
import { redirectGet } from '../../lib/http/form.server.ts';

const page = '/dashboard/account';

export const POST = signedInForm(page, async ({ session, context, form }) => {
  const { billing } = context.locals.services;
  const id = form.get(subscriptionParam) ?? undefined;
  const resumed = await billing?.resume(session, id);
  // The subscription has ended: the page shows its state.
  if (resumed && !resumed.ok && resumed.status === 404) return { to: `${page}#plan` };
  return { to: billing && resumed?.ok ? await resumedAddress(billing, session, id) : `${page}?problem=failed#plan` };
});
export const GET = redirectGet(page);
