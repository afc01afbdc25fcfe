/** Signs out (spec section 7; vendors.md 1.7). Whoever is signed out already is told the same. */

import { said } from '../../lib/accounts/names.ts';
import { signIn } from '../../lib/accounts/state-cookies.server.ts';
import { logoutBody } from '../../lib/accounts/wire.ts';
import { accountRoute, allowOnly } from '../../lib/http/routes.server.ts';

export const POST = accountRoute(
  { body: logoutBody, session: 'optional' },
  async ({ accounts, session, body, context }) => {
    const where = body.where === 'JUST_HERE' ? 'THIS_DEVICE' : body.where;
    const cookies = session ? await accounts.logout(session, where) : accounts.farewell;
    // Nor is the address left that somebody began to sign in with.
    return { status: 200, body: { message: said.logout }, cookies: [...cookies, signIn(context.locals).clear] };
  },
);
export const ALL = allowOnly('POST');
