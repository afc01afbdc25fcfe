/** Extended profiles, any JSON, one for each application (docs/services/zephr.md). */
import { z } from 'zod';
import { profileProblems, wireMessages } from '../../../lib/accounts/messages.ts';
import { answerFailure } from '../../../lib/accounts/routes.server.ts';
import { refuse } from '../../../lib/http/answer.ts';
import { allowOnly, signedInRoute } from '../../../lib/http/routes.server.ts';

/** Longest extended profile, bytes. */
const limit = 64 * 1024;

/** The application of an address; `null` for reserved and impossible names. */
const appOf = (name: string | undefined): string | null =>
  name && /^[A-Za-z0-9][\w-]{0,63}$/.test(name) ? name : null;
const noSuchApp = () => refuse(400, profileProblems.invalidApp);

export const GET = signedInRoute({}, async ({ accounts, session, context }) => {
  const app = appOf(context.params.appId);
  if (!app) return noSuchApp();
  const value = await accounts.extendedProfile(session, app);
  return value == null ? refuse(404, profileProblems.noApp) : { status: 200, body: value };
});

export const PUT = signedInRoute({ body: z.json(), limit }, async ({ accounts, session, body, context }) => {
  const app = appOf(context.params.appId);
  if (!app) return noSuchApp();
  const outcome = await accounts.saveExtendedProfile(session, app, body);
  return outcome.ok ? { status: 200, body: { message: wireMessages.extendedProfile } } : answerFailure(outcome.failure);
});
export const ALL = allowOnly('GET', 'PUT');
