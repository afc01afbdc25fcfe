/** Where the reader is signed in. */

import type { SessionsAnswer } from '../../../../lib/accounts/schema.ts';
import { allowOnly, signedInRoute } from '../../../../lib/http/routes.server.ts';

export const GET = signedInRoute({}, async ({ accounts, session }) => ({
  status: 200,
  body: { sessions: await accounts.sessions(session) } satisfies SessionsAnswer,
}));
export const ALL = allowOnly('GET');
