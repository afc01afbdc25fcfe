/** Who is signed in, in short (vendors.md 1.5). */
import { only, readerCall } from '../../../../lib/accounts/http.server.ts';
import type { UserSessionAnswer } from '../../../../lib/accounts/wire.ts';

export const GET = readerCall({}, async ({ session }) => ({
  status: 200,
  body: {
    identifiers: { email_address: session.email },
    tracking_id: session.trackingId,
    authenticated: true,
  } satisfies UserSessionAnswer,
}));
export const ALL = only('GET');
