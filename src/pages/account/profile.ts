/** Handles the profile form (spec sections 5 and 7). */

import { readProfileForm } from '../../lib/accounts/profile.ts';
import { accountForm, signInPage } from '../../lib/accounts/routes.server.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';

export const POST = accountForm(async ({ accounts, form, caller, returnTo }) => {
  const { session, cookies } = await accounts.session(caller.cookies ?? null);
  if (!session) return { to: signInPage(null, returnTo) };
  const read = readProfileForm((name) => form.get(name));
  if ('refused' in read) return { to: withQuery(returnTo, { problem: read.refused.name }), cookies };
  const outcome = await accounts.saveProfile(session, read.profile, 'merge');
  return { to: withQuery(returnTo, outcome.ok ? { state: 'saved' } : { problem: 'failed' }), cookies };
});
export const GET = redirectGet('/profile');
