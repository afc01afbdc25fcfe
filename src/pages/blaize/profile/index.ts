/**
 * The profile, one level of scalars (spec section 7; docs/services/zephr.md): POST and PATCH keep attributes that aren't named, PUT
 * removes them.
 */

import { wireMessages } from '../../../lib/accounts/messages.ts';
import { answerFailure } from '../../../lib/accounts/routes.server.ts';
import { profileBody, profileOf } from '../../../lib/accounts/schema.ts';
import { allowOnly, signedInRoute } from '../../../lib/http/routes.server.ts';

const save = (how: 'merge' | 'replace') =>
  signedInRoute({ body: profileBody }, async ({ accounts, session, body }) => {
    const outcome = await accounts.saveProfile(session, profileOf(body), how);
    return outcome.ok ? { status: 200, body: { message: wireMessages.profile } } : answerFailure(outcome.failure);
  });

export const GET = signedInRoute({}, async ({ accounts, session }) => ({
  status: 200,
  body: await accounts.profile(session),
}));
export const POST = save('merge');
export const PATCH = POST;
export const PUT = save('replace');
export const ALL = allowOnly('GET', 'POST', 'PATCH', 'PUT');
