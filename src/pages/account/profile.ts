/** Handles the profile form (spec sections 5 and 7). */

import { readProfileForm } from '../../lib/accounts/profile.ts';
import { signedInForm } from '../../lib/accounts/routes.server.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';

export const POST = signedInForm(null, async ({ accounts, session, form, returnTo }) => {
  const read = readProfileForm((name) => form.get(name));
  if ('refused' in read) return { to: withQuery(returnTo, { problem: read.refused.name }) };
  const outcome = await accounts.saveProfile(session, read.profile, 'merge');
  return { to: withQuery(returnTo, outcome.ok ? { state: 'saved' } : { problem: 'failed' }) };
});
export const GET = redirectGet('/profile');
