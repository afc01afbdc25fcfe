/** What the reader may see (spec section 7; vendors.md 1.9). Where accounts are off everybody is anonymous. */
import { anonymous, featureDecisions, standingOf } from '../../lib/access/decisions.ts';
import { accountCall, only } from '../../lib/accounts/http.server.ts';
import { featureDecisionsBody } from '../../lib/accounts/wire.ts';

export const POST = accountCall(
  {
    body: featureDecisionsBody,
    session: 'optional',
    whenOff: () => ({ status: 200, body: featureDecisions(anonymous) }),
  },
  async ({ session }) => ({ status: 200, body: featureDecisions(standingOf(session)) }),
);
export const ALL = only('POST');
