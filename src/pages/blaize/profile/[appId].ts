/** Extended profiles, any JSON, one for each application (docs/services/zephr.md). */
import { z } from 'zod';
import { profileProblems, wireMessages } from '../../../lib/accounts/messages.ts';
import { appProblem } from '../../../lib/accounts/profile.ts';
import { answerFailure } from '../../../lib/accounts/routes.server.ts';
import { refuse } from '../../../lib/http/answer.ts';
import { allowOnly, signedInRoute } from '../../../lib/http/routes.server.ts';

/** Longest body, bytes: more than the service stores (profile.ts), so that white space in the JSON doesn't count. */
const limit = 64 * 1024;

export const GET = signedInRoute({}, async ({ accounts, session, context }) => {
  const { appId: app = '' } = context.params;
  const problem = appProblem(app);
  if (problem) return refuse(400, problem);
  const value = await accounts.extendedProfile(session, app);
  return value == null ? refuse(404, profileProblems.noApp) : { status: 200, body: value };
});

export const PUT = signedInRoute({ body: z.json(), limit }, async ({ accounts, session, body, context }) => {
  const outcome = await accounts.saveExtendedProfile(session, context.params.appId ?? '', body);
  return outcome.ok ? { status: 200, body: { message: wireMessages.extendedProfile } } : answerFailure(outcome.failure);
});
export const ALL = allowOnly('GET', 'PUT');
