/** Signs out (spec section 7; docs/services/zephr.md). The response is the same without a session. */

import { wireMessages } from '../../lib/accounts/messages.ts';
import { signInCookie } from '../../lib/accounts/routes.server.ts';
import { logoutBody } from '../../lib/accounts/schema.ts';
import { accountRoute, allowOnly } from '../../lib/http/routes.server.ts';

export const POST = accountRoute(
  { body: logoutBody, session: 'optional' },
  async ({ accounts, session, body, context }) => {
    const where = body.where === 'JUST_HERE' ? 'THIS_DEVICE' : body.where;
    const cookies = session ? await accounts.logout(session, where) : accounts.signedOutCookies;
    // Also removes the address of an unfinished sign-in.
    return {
      status: 200,
      body: { message: wireMessages.logout },
      cookies: [...cookies, signInCookie(context.locals).clear],
    };
  },
);
export const ALL = allowOnly('POST');
