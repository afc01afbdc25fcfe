/** Where the reader is signed in. */
import { only, readerCall } from '../../../../lib/accounts/http.server.ts';
import type { SessionsAnswer } from '../../../../lib/accounts/wire.ts';

export const GET = readerCall({}, async ({ accounts, session }) => ({
  status: 200,
  body: { sessions: await accounts.sessions(session) } satisfies SessionsAnswer,
}));
export const ALL = only('GET');
