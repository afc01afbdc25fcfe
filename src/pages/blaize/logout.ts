/** Signs out (spec section 7; vendors.md 1.7). Whoever is signed out already is told the same. */

import { signIn } from '../../lib/accounts/form.server.ts';
import { wireMessages } from '../../lib/accounts/messages.ts';
import { logoutBody } from '../../lib/accounts/schema.ts';
import { accountRoute, allowOnly } from '../../lib/http/routes.server.ts';

export const POST = accountRoute(
  { body: logoutBody, session: 'optional' },
  async ({ accounts, session, body, context }) => {
    const where = body.where === 'JUST_HERE' ? 'THIS_DEVICE' : body.where;
    const cookies = session ? await accounts.logout(session, where) : accounts.farewell;
    // Nor is the address left that somebody began to sign in with.
    return { status: 200, body: { message: wireMessages.logout }, cookies: [...cookies, signIn(context.locals).clear] };
  },
);
export const ALL = allowOnly('POST');
