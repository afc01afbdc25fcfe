/** Deletes the reader who is signed in (vendors.md 1.12). */
import { z } from 'zod';
import { only, readerCall } from '../../lib/accounts/http.server.ts';
import { said } from '../../lib/accounts/names.ts';
import { signIn } from '../../lib/accounts/state-cookies.server.ts';

export const POST = readerCall({ body: z.looseObject({}) }, async ({ accounts, session, caller, context }) => ({
  status: 200,
  body: { message: said.forgotten },
  cookies: [...(await accounts.forget(session, caller)), signIn(context.locals).clear],
}));
export const ALL = only('POST');
