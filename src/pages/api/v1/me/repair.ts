/** Refreshes a reader's cookies and stored subscription; the answer is ignored (spec sections 4 and 7). */

import type { RepairAnswer } from '../../../../lib/accounts/schema.ts';
import { withAccess } from '../../../../lib/billing/routes.server.ts';
import { allowOnly, signedInRoute } from '../../../../lib/http/routes.server.ts';

export const GET = signedInRoute({}, async ({ session, accounts, context }) => {
  const { billing, log } = context.locals.services;
  await billing
    ?.repair(session)
    .catch((error: unknown) => log.warn({ err: error }, 'A reader’s subscriptions could not be fetched from Stripe'));
  // The route has already renewed the session's own cookies.
  return withAccess({ status: 200, body: { repaired: true } satisfies RepairAnswer }, accounts, session);
});
export const ALL = allowOnly('GET');
