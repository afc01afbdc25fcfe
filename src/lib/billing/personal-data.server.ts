/** What billing keeps of a user. What was paid for stays with the account whose address is proven later; bills stay at Stripe. */
import type { Logger } from '../logging.ts';
import type { PersonalData } from '../personal-data.ts';
import type { RunningBilling } from './engine/billing.server.ts';

export const billingData = (
  billing: Pick<RunningBilling, 'exportData' | 'forget' | 'disown'>,
  log: Pick<Logger, 'error'>,
): PersonalData => ({
  tables: {
    customers: 'kept',
    purchases: 'kept',
    subscriptions: 'kept',
    billing_notices: 'kept',
    cancellations: 'gone',
  },
  export: async ({ userId }) => ({ billing: await billing.exportData(userId) }),
  erase: ({ userId }) => billing.forget(userId),
  // What was under way while the account was deleted was a user's still, and is found now.
  erased: ({ userId }) =>
    billing.forget(userId).catch((error: unknown) => {
      log.error({ err: error }, 'What was bought while its user left could not be looked for');
    }),
  disown: billing.disown,
});
