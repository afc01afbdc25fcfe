/** One decision by the name of its feature (spec section 7; vendors.md 1.10); with `?raw=true` the value alone. */
import type { APIContext } from 'astro';
import { featureValue } from '../../lib/access/answers.ts';
import { viewFor } from '../../lib/access/asking.server.ts';
import type { Answer } from '../../lib/accounts/answers.ts';
import { accountCall, only } from '../../lib/accounts/http.server.ts';
import type { Session } from '../../lib/accounts/service.ts';
import { type DecisionEngineBody, decisionEngineBody } from '../../lib/accounts/wire.ts';

async function answer(context: APIContext, session: Session | null, body: DecisionEngineBody): Promise<Answer> {
  const decision = featureValue(await viewFor(context, session, body), body.sdkFeatureSlug);
  return { status: 200, body: context.url.searchParams.get('raw') === 'true' ? decision.outputValue : decision };
}

export const POST = accountCall(
  { body: decisionEngineBody, session: 'optional', whenOff: (context, body) => answer(context, null, body) },
  async ({ session, body, context }) => answer(context, session, body),
);
export const ALL = only('POST');
