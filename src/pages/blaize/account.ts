/** Who is signed in (spec section 7; vendors.md 1.6). */
import { only, readerCall } from '../../lib/accounts/http.server.ts';
import type { AccountAnswer } from '../../lib/accounts/wire.ts';

export const GET = readerCall({}, async ({ accounts, session }) => ({
  status: 200,
  body: {
    identifiers: { email_address: session.email },
    tracking_id: session.trackingId,
    profile: await accounts.profile(session),
  } satisfies AccountAnswer,
}));
export const ALL = only('GET');
