/** Who is signed in, in short (docs/services/zephr.md). */

import type { UserSessionAnswer } from '../../../../lib/accounts/schema.ts';
import { allowOnly, signedInRoute } from '../../../../lib/http/routes.server.ts';

export const GET = signedInRoute({}, async ({ session }) => ({
  status: 200,
  body: {
    identifiers: { email_address: session.email },
    tracking_id: session.trackingId,
    authenticated: true,
  } satisfies UserSessionAnswer,
}));
export const ALL = allowOnly('GET');
