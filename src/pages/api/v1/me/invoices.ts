/** The reader's own bills, a page at a time. */

import { answerOf, payingCall } from '../../../../lib/billing/http.server.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const GET = payingCall({}, async ({ billing, session, context }) =>
  answerOf(await billing.bills(session, context.url.searchParams.get('after'))),
);
export const ALL = allowOnly('GET');
