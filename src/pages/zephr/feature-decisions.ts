/** What the reader may see (spec section 7; docs/services/zephr.md). With accounts off, every reader is anonymous. */

import { viewFor } from '../../lib/access/access.server.ts';
import { featureDecisions } from '../../lib/access/answers.ts';
import { featureDecisionsBody } from '../../lib/accounts/schema.ts';
import { accountRoute, allowOnly } from '../../lib/http/routes.server.ts';

export const POST = accountRoute(
  {
    body: featureDecisionsBody,
    session: 'optional',
    whenOff: async (context, body) => ({ status: 200, body: featureDecisions(await viewFor(context, null, body)) }),
  },
  async ({ session, body, context }) => ({
    status: 200,
    body: featureDecisions(await viewFor(context, session, body)),
  }),
);
export const ALL = allowOnly('POST');
