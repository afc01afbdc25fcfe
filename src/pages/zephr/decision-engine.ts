/** One decision by the name of its feature (spec section 7; docs/services/zephr.md); with `?raw=true` only the value. */
import type { APIContext } from 'astro';
import { viewFor } from '../../lib/access/access.server.ts';
import { featureValue } from '../../lib/access/answers.ts';
import { type DecisionEngineBody, decisionEngineBody } from '../../lib/accounts/schema.ts';
import type { Session } from '../../lib/accounts/service.ts';
import type { Answer } from '../../lib/http/answer.ts';
import { accountRoute, allowOnly } from '../../lib/http/routes.server.ts';

async function answer(context: APIContext, session: Session | null, body: DecisionEngineBody): Promise<Answer> {
  const decision = featureValue(await viewFor(context, session, body), body.sdkFeatureSlug);
  return { status: 200, body: context.url.searchParams.get('raw') === 'true' ? decision.outputValue : decision };
}

export const POST = accountRoute(
  { body: decisionEngineBody, session: 'optional', whenOff: (context, body) => answer(context, null, body) },
  async ({ session, body, context }) => answer(context, session, body),
);
export const ALL = allowOnly('POST');
