/** One decision by the name of its feature (spec section 7; vendors.md 1.10); with `?raw=true` the value alone. */
import { anonymous, decide, type Standing, standingOf } from '../../lib/access/decisions.ts';
import type { Answer } from '../../lib/accounts/answers.ts';
import { accountCall, only } from '../../lib/accounts/http.server.ts';
import { decisionEngineBody } from '../../lib/accounts/wire.ts';

function answer(standing: Standing, slug: string, url: URL): Answer {
  const decision = decide(standing, slug);
  return { status: 200, body: url.searchParams.get('raw') === 'true' ? decision.outputValue : decision };
}

export const POST = accountCall(
  {
    body: decisionEngineBody,
    session: 'optional',
    whenOff: ({ url }, body) => answer(anonymous, body.sdkFeatureSlug, url),
  },
  async ({ session, body, context }) => answer(standingOf(session), body.sdkFeatureSlug, context.url),
);
export const ALL = only('POST');
