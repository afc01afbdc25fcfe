/** What billing keeps of a user. What was paid for stays with the account whose address is proven later; invoices stay at Stripe. */
import type { AccountsTransaction } from '../database.ts';
import type { Logger } from '../logging.ts';
import type { PersonalData } from '../personal-data.ts';
import type { BillingDependencies } from './engine/dependencies.ts';
import { forgetLeaving, leavingOf } from './engine/retention.server.ts';
import type { Billing } from './service.ts';
import { entitlementOf, type StripeState, subscriptionOf } from './state.ts';

export const billingData = (
  billing: Pick<Billing, 'exportData' | 'forget'> & Pick<PersonalData, 'disown'>,
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
  // What was under way while the account was deleted is found now.
  erased: ({ userId }) =>
    billing.forget(userId).catch((error: unknown) => {
      log.error({ err: error }, 'What a reader bought while the account was deleted could not be looked for');
    }),
  disown: billing.disown,
});

/** Forgets a reader here, and adds a job that erases the customer at Stripe. Runs within the lock of the reader. */
export async function forgetReader(dependencies: BillingDependencies, userId: string): Promise<void> {
  const { database, customers, promotions, subscriptions } = dependencies;
  const states = (await subscriptions.ofUser(userId)).map(({ state }) => state);
  const user = await database.db.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirst();
  await database.transaction(async (tx) => {
    if (user) await promotions.keep(tx, user.email, states);
    await customers.forget(tx, userId);
    await forgetLeaving(tx, userId);
    // What was bought and charged stays, without saying by whom.
    await tx.updateTable('subscriptions').set({ user_id: null }).where('user_id', '=', userId).execute();
    await tx.updateTable('billing_notices').set({ user_id: null }).where('user_id', '=', userId).execute();
    await tx
      .updateTable('purchases')
      .set({ user_id: null, payment_method: null, attempt: null, coupon: null })
      .where('user_id', '=', userId)
      .execute();
    await tx
      .updateTable('purchases')
      .set({ state: 'given up' })
      .where('user_id', 'is', null)
      .where('state', '=', 'open')
      .execute();
  });
}

export async function exportReader(
  { database: { db }, customers, subscriptions, rules, now }: BillingDependencies,
  userId: string,
): Promise<Readonly<Record<string, unknown>>> {
  const iso = (at: number): string => new Date(at).toISOString();
  const purchases = await db.selectFrom('purchases').selectAll().where('user_id', '=', userId).execute();
  const states = (await subscriptions.ofUser(userId)).map(({ state }) => state);
  return {
    customer: await customers.find(userId),
    shipping: await customers.shipping(userId),
    subscriptions: states.map((state) => subscriptionOf(state, now(), rules.graceDays)),
    invoices: states.flatMap(({ invoices }) =>
      invoices.map(({ id, status, due, paid, currency, created }) => ({
        id,
        status,
        due,
        paid,
        currency,
        created: iso(created),
      })),
    ),
    cancellations: await leavingOf(db, userId),
    purchases: purchases.map(({ id, kind, plan, state, created }) => ({ id, kind, plan, state, time: iso(created) })),
  };
}

/** Deletes the shipping address that was saved before the e-mail address was proven, unless paid print goes there. */
export async function disownReader(
  { customers, rules, now }: BillingDependencies,
  tx: AccountsTransaction,
  userId: string,
): Promise<void> {
  const rows = await tx.selectFrom('subscriptions').select('state').where('user_id', '=', userId).execute();
  const states = rows.flatMap(({ state }) => (state === null ? [] : [JSON.parse(state) as StripeState]));
  const hasPrint = states.some((state) => entitlementOf(state, now(), rules.graceDays)?.print);
  if (!hasPrint) await customers.forgetShipping(tx, userId);
  await forgetLeaving(tx, userId);
}
