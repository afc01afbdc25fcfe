/** What billing stores about a user. Purchases stay with the account when its address is proven later; invoices stay at Stripe. */
import type { AccountsTransaction } from '../database.ts';
import type { PersonalData } from '../personal-data.ts';
import { setupKey } from './engine/customers.server.ts';
import type { BillingDependencies } from './engine/dependencies.ts';
import { findEarlier, noteEarlier } from './engine/earlier-owner.server.ts';
import { storeNote } from './engine/notes.server.ts';
import { cancellationsOf, forgetCancellations } from './engine/retention.server.ts';
import { statesOfUser } from './engine/subscriptions.server.ts';
import { entitlementOf, subscriptionOf } from './subscription-model.ts';

/** @param erase deletes what the site stores about a customer, and adds a job that deletes the customer at Stripe */
export const billingData = (
  dependencies: BillingDependencies,
  erase: (userId: string) => Promise<void>,
): PersonalData => ({
  tables: {
    customers: 'kept',
    purchases: 'kept',
    subscriptions: 'kept',
    billing_notices: 'kept',
    cancellations: 'gone',
  },
  export: async ({ userId }) => ({ billing: await exportReader(dependencies, userId) }),
  erase: ({ userId }) => erase(userId),
  disown: (tx, userId) => disownReader(dependencies, tx, userId),
});

/** Deletes what the site stores, and adds a job that erases the customer at Stripe. Runs within the user's lock. */
export async function forgetReader(dependencies: BillingDependencies, userId: string): Promise<void> {
  const { database, customers, promotions, subscriptions } = dependencies;
  const states = await subscriptions.statesOf(userId);
  const user = await database.db.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirst();
  await database.transaction(async (tx) => {
    if (user) await promotions.keep(tx, user.email, states);
    await customers.forget(tx, userId);
    await forgetCancellations(tx, userId);
    // Purchases and charges stay, without the user.
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

async function exportReader(
  { database: { db }, customers, subscriptions, rules, now }: BillingDependencies,
  userId: string,
): Promise<Readonly<Record<string, unknown>>> {
  const iso = (at: number): string => new Date(at).toISOString();
  const purchases = await db.selectFrom('purchases').selectAll().where('user_id', '=', userId).execute();
  const notices = await db.selectFrom('billing_notices').selectAll().where('user_id', '=', userId).execute();
  const states = await subscriptions.statesOf(userId);
  const { isEarlier } = await findEarlier(db, userId);
  return {
    customer: await customers.find(userId),
    shipping: await customers.shipping(userId),
    subscriptions: states.map((state) => subscriptionOf(state, now(), rules.graceDays)),
    invoices: states
      .flatMap(({ invoices }) => invoices)
      .filter(({ created }) => !isEarlier(created / 1000))
      .map(({ id, status, due, paid, currency, created }) => ({
        id,
        status,
        due,
        paid,
        currency,
        created: iso(created),
      })),
    cancellations: await cancellationsOf(db, userId),
    purchases: purchases.map(({ id, kind, plan, state, coupon, created }) => ({
      id,
      kind,
      plan,
      state,
      coupon,
      time: iso(created),
    })),
    mailed: notices.map(({ key, at }) => ({ what: key, time: iso(at) })),
  };
}

/**
 * Deletes the shipping address that was saved before the email address was proven, unless a paid print edition is delivered
 * there: then it is hidden, as the card and the invoices are.
 */
async function disownReader(
  { customers, rules, now }: BillingDependencies,
  tx: AccountsTransaction,
  userId: string,
): Promise<void> {
  const states = await statesOfUser(tx, userId);
  const hasPrint = states.some((state) => entitlementOf(state, now(), rules.graceDays)?.print);
  if (!hasPrint) await customers.forgetShipping(tx, userId);
  const row = await tx.selectFrom('customers').select('customer').where('user_id', '=', userId).executeTakeFirst();
  // A reader who has paid only by invoice has stored no card.
  const mayHaveCard = states.length === 0 || states.some(({ byInvoice }) => !byInvoice);
  const parts = [mayHaveCard && 'card', hasPrint && 'address'] as const;
  if (row)
    await noteEarlier(
      tx,
      userId,
      parts.filter((part) => part !== false),
      now(),
    );
  // The secret of the stored setup intent would show the card; this is the id of none, so that the next one is new.
  if (row?.customer) await storeNote(tx, setupKey(row.customer), 'none', now());
  await forgetCancellations(tx, userId);
}
