/** Deletes the reader who is signed in (vendors.md 1.12). */
import { only, readerCall } from '../../lib/accounts/http.server.ts';
import { said } from '../../lib/accounts/names.ts';

export const POST = readerCall({}, async ({ accounts, session, caller }) => ({
  status: 200,
  body: { message: said.forgotten },
  cookies: await accounts.forget(session, caller),
}));
export const ALL = only('POST');
