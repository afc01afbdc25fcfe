/** The profile form's other end (spec sections 5 and 7). */
import { accountForm, signInPage } from '../../lib/accounts/form.server.ts';
import type { Profile } from '../../lib/accounts/service.ts';
import { redirectGet, withQuery } from '../../lib/http/form.server.ts';
import { usPhoneDigits } from '../../lib/us-phone.ts';

/** Fields of the form, and what the account service calls them (spec section 3, "Profile"). */
const attributes = {
  first_name: 'first_name',
  last_name: 'last_name',
  phone: 'phone-number',
  birthday: 'date_of_birth',
  address: 'address',
} as const;

export const POST = accountForm(async ({ accounts, form, caller, returnTo }) => {
  const { session, cookies } = await accounts.session(caller.cookies ?? null);
  if (!session) return { to: signInPage(null, returnTo) };
  const profile: Record<string, Profile[string]> = {};
  for (const [field, attribute] of Object.entries(attributes)) {
    const value = form.get(field);
    if (value !== null) profile[attribute] = value.trim();
  }
  const phone = usPhoneDigits(String(profile['phone-number'] ?? ''));
  if (phone === null) return { to: withQuery(returnTo, { problem: 'phone' }), cookies };
  if (profile['phone-number'] !== undefined) profile['phone-number'] = phone;
  const outcome = await accounts.saveProfile(session, profile, 'merge');
  return { to: withQuery(returnTo, outcome.ok ? { state: 'saved' } : { problem: 'failed' }), cookies };
});
export const GET = redirectGet('/profile');
