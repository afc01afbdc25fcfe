/** The reader's invoices, a page at a time. */

import { answerOf, signedInBillingRoute } from '../../../../lib/billing/routes.server.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const GET = signedInBillingRoute({}, async ({ billing, session, context }) =>
  answerOf(await billing.invoices(session, context.url.searchParams.get('after'))),
);
export const ALL = allowOnly('GET');
