/** The client secret for a form that replaces the card (docs/services/zephr.md). */

import { answerOf, signedInBillingRoute } from '../../../../lib/billing/routes.server.ts';
import { allowOnly } from '../../../../lib/http/routes.server.ts';

export const POST = signedInBillingRoute({}, async ({ billing, session, caller }) =>
  answerOf(await billing.setupIntent(session, caller.address)),
);
export const ALL = allowOnly('POST');
