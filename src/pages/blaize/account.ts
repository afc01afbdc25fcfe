/** Who is signed in (spec section 7; docs/services/zephr.md). */

import type { AccountAnswer } from '../../lib/accounts/schema.ts';
import { allowOnly, signedInRoute } from '../../lib/http/routes.server.ts';

export const GET = signedInRoute({}, async ({ accounts, session }) => ({
  status: 200,
  body: {
    identifiers: { email_address: session.email },
    tracking_id: session.trackingId,
    profile: await accounts.profile(session),
  } satisfies AccountAnswer,
}));
export const ALL = allowOnly('GET');
