/**
 * Purchases, stored before Stripe is called, with their outcome; and promotions, which each reader can buy once. Stripe knows the
 * promotions of an account. For a deleted account an HMAC of its email address is kept for a while, so that a new account doesn't get the
 * promotion again.
 */

import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import type { Hmacs } from '../../crypto.server.ts';
import type { AccountsTransaction, Database, Queries } from '../../database.ts';
import { messages } from '../messages.ts';
import type { Price } from '../schema.ts';
import { awaitsCard, isUnpaid, type KnownPrice, type StripeState } from '../subscription-model.ts';
import type { PurchaseState, PurchasesTable } from '../tables.ts';
import { findNote, pruneNotes, storeNote } from './notes.server.ts';
import { throwRefused } from './stripe.server.ts';

export type Purchase = PurchasesTable;
export type NewPurchase = Pick<PurchasesTable, 'kind' | 'plan' | 'price' | 'attempt' | 'coupon' | 'payment_method'> & {
  readonly userId: string;
  readonly subscription?: string | null;
  readonly before?: string | null;
  /**
   * `count` from before the request to Stripe: if another process has made a purchase since then, this one would be a second.
   */
  readonly known?: number;
};

export type Purchases = ReturnType<typeof createPurchases>;

export function createPurchases(database: Database, now: () => number) {
  const { db } = database;
  const of = (userId: string) => db.selectFrom('purchases').selectAll().where('user_id', '=', userId);
  const first = async (query: ReturnType<typeof of>): Promise<Purchase | null> =>
    (await query.orderBy('created', 'desc').executeTakeFirst()) ?? null;
  return {
    /** How many purchases a reader has started, whatever their outcome. */
    count: (userId: string) => countPurchases(db, userId),
    /**
     * @returns `null` if the reader has another open purchase (a unique index), or more purchases than the caller knew of
     * @throws Refused if the account is deleted
     */
    begin: (purchase: NewPurchase) => begin(database, now(), purchase),
    open: (userId: string) => first(of(userId).where('state', '=', 'open')),
    get: async (id: string): Promise<Purchase | null> =>
      (await db.selectFrom('purchases').selectAll().where('id', '=', id).executeTakeFirst()) ?? null,
    /** The newest purchase of a decision. */
    ofAttempt: (userId: string, attempt: string) => first(of(userId).where('attempt', '=', attempt)),
    /** The newest purchase of a reader, whatever its outcome. */
    newest: (userId: string) => first(of(userId)),
    async change(
      id: string,
      what: Partial<Pick<Purchase, 'subscription' | 'payment_method' | 'round' | 'attempt'>>,
    ): Promise<void> {
      await db
        .updateTable('purchases')
        .set({ ...what, updated: now() })
        .where('id', '=', id)
        .execute();
    },
    /** Ends an open purchase. @returns whether this call ended it */
    async end(queries: Queries, id: string, state: Exclude<PurchaseState, 'open'>): Promise<boolean> {
      const { numUpdatedRows } = await queries
        .updateTable('purchases')
        .set({ state, payment_method: null, updated: now() })
        .where('id', '=', id)
        .where('state', '=', 'open')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Ids of deleted accounts that still have customers or purchases, because the deletion was interrupted. */
    usersOfDeletedAccounts: (most: number) => usersOfDeletedAccounts(db, most),
    /** Open purchases without activity since then. @param before epoch milliseconds */
    idle: (before: number, most: number): Promise<readonly Purchase[]> =>
      db
        .selectFrom('purchases')
        .selectAll()
        .where('state', '=', 'open')
        .where('updated', '<', before)
        .orderBy('updated')
        .limit(most)
        .execute(),
  };
}

/** Whether a subscription's price is the one that a change leads to. One to another price of the same plan shows in nothing else. */
export const leadsTo = (
  { plan, before, price: asked }: Pick<Purchase, 'plan' | 'before' | 'price'>,
  price: Pick<KnownPrice, 'id' | 'plan'>,
): boolean => (plan === before ? price.id === asked : price.plan === plan);

async function begin(
  database: Database,
  at: number,
  { userId, subscription = null, before = null, known, ...rest }: NewPurchase,
): Promise<Purchase | null> {
  const row: Purchase = {
    id: randomUUID(),
    user_id: userId,
    state: 'open',
    round: 1,
    subscription,
    before,
    created: at,
    updated: at,
    ...rest,
  };
  return database.transaction(async (tx) => {
    // Locks the account's row: either it is deleted afterwards and this purchase is found, or it is deleted already.
    const { numUpdatedRows } = await tx
      .updateTable('users')
      .set((each) => ({ updatedAt: each.ref('updatedAt') }))
      .where('id', '=', userId)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return throwRefused(403, messages.deleted);
    if (known !== undefined && (await countPurchases(tx, userId)) !== known) return null;
    const purchase = await tx
      .insertInto('purchases')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
    return purchase ?? null;
  });
}

async function usersOfDeletedAccounts(db: Queries, most: number): Promise<readonly string[]> {
  const deletedUsersIn = (table: 'customers' | 'purchases') =>
    db
      .selectFrom(table)
      .select('user_id')
      .distinct()
      .where('user_id', 'is not', null)
      .where('user_id', 'not in', (from) => from.selectFrom('users').select('users.id'))
      .limit(most)
      .execute();
  const rows = [...(await deletedUsersIn('customers')), ...(await deletedUsersIn('purchases'))];
  return [...new Set(rows.flatMap(({ user_id: id }) => id ?? []))];
}

async function countPurchases(db: Queries, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('purchases')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export type Promotions = ReturnType<typeof createPromotions>;

const noted = 'promotion:';
/** How long records of promotions are kept, in milliseconds. */
const keptMs = 730 * 24 * 60 * 60 * 1000;

export function createPromotions({ db }: Database, keyed: Pick<Hmacs, 'sign'>, now: () => number) {
  const keyOf = (plan: string, email: string): string => `${noted}${keyed.sign('promotion', `${plan}\n${email}`)}`;

  /** Purchases that were abandoned before the card was set up or the first bill was paid don't count. */
  async function givenUp(all: readonly Stripe.Subscription[]): Promise<ReadonlySet<string | undefined>> {
    const ids = all.flatMap(({ metadata }) => metadata.purchase ?? []);
    if (ids.length === 0) return new Set();
    const rows = await db
      .selectFrom('purchases')
      .select('id')
      .where('id', 'in', ids)
      .where('state', '=', 'given up')
      .execute();
    return new Set(rows.map(({ id }) => id));
  }

  return {
    /**
     * Whether the reader has had the promotion of a price.
     *
     * @param email in its normal form
     * @param all the reader's subscriptions at Stripe
     * @param open id of the purchase that is being made
     */
    async had(email: string, price: Price, all: readonly Stripe.Subscription[], open: string | null): Promise<boolean> {
      if (!price.promotion) return false;
      const { zephrPlanId: plan } = price;
      const { offer } = price.promotion;
      const never = await givenUp(all);
      const bought = all.some(
        ({ status, metadata, items }) =>
          !isUnpaid({ status }) &&
          !never.has(metadata.purchase) &&
          (open === null || metadata.purchase !== open) &&
          (metadata.promotion === plan || items.data.some(({ current_trial: trial }) => trial?.trial_offer === offer)),
      );
      if (bought) return true;
      const note = await findNote(db, keyOf(plan, email));
      return note !== null && note.at > now() - keptMs;
    },
    /** Stores the promotions of an account that is being deleted. */
    async keep(tx: AccountsTransaction, email: string, states: readonly StripeState[]): Promise<void> {
      for (const state of states) {
        const { promotion } = state;
        if (promotion === null || isUnpaid(state) || awaitsCard(state)) continue;
        await storeNote(tx, keyOf(promotion, email), '', now());
      }
    },
  };
}

/** Deletes notes of promotions after that time. @param now epoch milliseconds */
export const prunePromotions = (db: Queries, now: number): Promise<void> => pruneNotes(db, noted, now - keptMs);
