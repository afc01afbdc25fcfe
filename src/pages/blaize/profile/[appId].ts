/** Extended profiles, any JSON, one for each application (vendors.md 1.6). */
import { z } from 'zod';
import { answerFailure, refuse } from '../../../lib/accounts/answers.ts';
import { only, readerCall } from '../../../lib/accounts/http.server.ts';
import { said } from '../../../lib/accounts/names.ts';

/** Longest extended profile, bytes. */
const limit = 64 * 1024;

/** The application of an address; `null` for reserved and impossible names. */
const appOf = (name: string | undefined): string | null =>
  name && /^[A-Za-z0-9][\w-]{0,63}$/.test(name) ? name : null;
const noSuchApp = () => refuse(400, 'This is no name of an application.');

export const GET = readerCall({}, async ({ accounts, session, context }) => {
  const app = appOf(context.params.appId);
  if (!app) return noSuchApp();
  const value = await accounts.extendedProfile(session, app);
  return value == null ? refuse(404, 'There is no extended profile of this name.') : { status: 200, body: value };
});

export const PUT = readerCall({ body: z.json(), limit }, async ({ accounts, session, body, context }) => {
  const app = appOf(context.params.appId);
  if (!app) return noSuchApp();
  const outcome = await accounts.saveExtendedProfile(session, app, body);
  return outcome.ok ? { status: 200, body: { message: said.extendedProfile } } : answerFailure(outcome.failure);
});
export const ALL = only('GET', 'PUT');
