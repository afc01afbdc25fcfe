/** Puts a reader's cookies right, and what is known of the subscription; nobody looks at the answer (spec sections 4 and 7). */

import type { RepairAnswer } from '../../../../lib/accounts/schema.ts';
import { withAccess } from '../../../../lib/billing/http.server.ts';
import { allowOnly, signedInRoute } from '../../../../lib/http/routes.server.ts';

export const GET = signedInRoute({}, async ({ session, accounts, context }) => {
  const { billing, log } = context.locals.services;
  await billing?.repair(session).catch((error: unknown) => log.warn({ err: error }, 'Stripe could not be asked'));
  // Looking the session up has renewed what was to be renewed.
  return withAccess({ status: 200, body: { repaired: true } satisfies RepairAnswer }, accounts, session);
});
export const ALL = allowOnly('GET');
