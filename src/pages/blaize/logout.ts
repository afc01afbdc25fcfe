/** Signs out (spec section 7; vendors.md 1.7). Whoever is signed out already is told the same. */
import { accountCall, only } from '../../lib/accounts/http.server.ts';
import { said } from '../../lib/accounts/names.ts';
import { logoutBody } from '../../lib/accounts/wire.ts';

export const POST = accountCall({ body: logoutBody, session: 'optional' }, async ({ accounts, session, body }) => {
  const where = body.where === 'JUST_HERE' ? 'THIS_DEVICE' : body.where;
  const cookies = session ? await accounts.logout(session, where) : accounts.farewell;
  return { status: 200, body: { message: said.logout }, cookies };
});
export const ALL = only('POST');
