/**
 * What readers decided to buy, written down before Stripe is asked, with the outcome; and who has had a promotion, which is sold once in a
 * reader's life. While there is an account, Stripe knows; of one that is deleted an HMAC of its address is kept for a while, so that leaving
 * and coming back is not a way to have the promotion again.
 */

import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import type { AccountsTransaction, Database, Queries } from '../../database.ts';
import type { Hmacs } from '../../hmacs.server.ts';
import { messages } from '../messages.ts';
import { awaitsCard, type StripeState } from '../state.ts';
import { isUnpaid } from '../status.ts';
import type { PurchaseState, PurchasesTable } from '../tables.ts';
import type { Price } from '../wire.ts';
import { refuse } from './errors.ts';

export type Purchase = PurchasesTable;
export type NewPurchase = Pick<PurchasesTable, 'kind' | 'plan' | 'price' | 'attempt' | 'coupon' | 'payment_method'> & {
  readonly userId: string;
  readonly subscription?: string | null;
  readonly before?: string | null;
  /** `count` before Stripe was asked what the reader has: a purchase that another process made since then is one too many. */
  readonly known?: number;
};

export interface Purchases {
  /** How many a reader has begun, whatever came of them. */
  count(userId: string): Promise<number>;
  /**
   * @returns `null` when the reader has another one open, which the database sees to, or more than the caller knew
   * @throws Refused where the account is deleted
   */
  begin(purchase: NewPurchase): Promise<Purchase | null>;
  open(userId: string): Promise<Purchase | null>;
  get(id: string): Promise<Purchase | null>;
  /** Newest one of a decision. */
  ofAttempt(userId: string, attempt: string): Promise<Purchase | null>;
  /** Newest one of a reader, whatever came of it. */
  newest(userId: string): Promise<Purchase | null>;
  change(
    id: string,
    what: Partial<Pick<Purchase, 'subscription' | 'payment_method' | 'round' | 'attempt'>>,
  ): Promise<void>;
  /** Ends an open one; what has ended stays as it is. @returns whether this call ended it */
  end(db: Queries | AccountsTransaction, id: string, state: Exclude<PurchaseState, 'open'>): Promise<boolean>;
  /** Readers who have bought or begun to buy, and whose account is deleted: where its deletion was cut off. */
  left(most: number): Promise<readonly string[]>;
  /** Open ones that nothing happened to since. @param before epoch milliseconds */
  idle(before: number, most: number): Promise<readonly Purchase[]>;
}

export function createPurchases(database: Database, now: () => number): Purchases {
  const { db } = database;
  const of = (userId: string) => db.selectFrom('purchases').selectAll().where('user_id', '=', userId);
  const first = async (query: ReturnType<typeof of>): Promise<Purchase | null> =>
    (await query.orderBy('created', 'desc').executeTakeFirst()) ?? null;
  return {
    count: (userId) => countPurchases(db, userId),
    async begin({ userId, subscription = null, before = null, known, ...rest }) {
      const at = now();
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
        // The account's row is held: either it is deleted afterwards, and finds this purchase, or it is gone already.
        const { numUpdatedRows } = await tx
          .updateTable('users')
          .set((each) => ({ updatedAt: each.ref('updatedAt') }))
          .where('id', '=', userId)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return refuse(403, messages.deleted);
        if (known !== undefined && (await countPurchases(tx, userId)) !== known) return null;
        const made = await tx
          .insertInto('purchases')
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .returningAll()
          .executeTakeFirst();
        return made ?? null;
      });
    },
    open: (userId) => first(of(userId).where('state', '=', 'open')),
    get: async (id) => (await db.selectFrom('purchases').selectAll().where('id', '=', id).executeTakeFirst()) ?? null,
    ofAttempt: (userId, attempt) => first(of(userId).where('attempt', '=', attempt)),
    newest: (userId) => first(of(userId)),
    async change(id, what) {
      await db
        .updateTable('purchases')
        .set({ ...what, updated: now() })
        .where('id', '=', id)
        .execute();
    },
    async end(queries, id, state) {
      const { numUpdatedRows } = await queries
        .updateTable('purchases')
        .set({ state, payment_method: null, updated: now() })
        .where('id', '=', id)
        .where('state', '=', 'open')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async left(most) {
      const gone = (table: 'customers' | 'purchases') =>
        db
          .selectFrom(table)
          .select('user_id')
          .distinct()
          .where('user_id', 'is not', null)
          .where('user_id', 'not in', (from) => from.selectFrom('users').select('users.id'))
          .limit(most)
          .execute();
      const rows = [...(await gone('customers')), ...(await gone('purchases'))];
      return [...new Set(rows.flatMap(({ user_id: id }) => id ?? []))];
    },
    idle: (before, most) =>
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

async function countPurchases(db: Queries | AccountsTransaction, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('purchases')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export interface Promotions {
  /**
   * @param email in its normal form
   * @param all the reader's subscriptions at Stripe
   * @param open number of the purchase that is being made
   */
  had(email: string, price: Price, all: readonly Stripe.Subscription[], open: string | null): Promise<boolean>;
  /** Notes, of a reader who is being forgotten, what they have had. */
  keep(tx: AccountsTransaction, email: string, states: readonly StripeState[]): Promise<void>;
}

const noted = 'promotion:';
/** As long as it is kept. */
const keptMs = 730 * 24 * 60 * 60 * 1000;

export function createPromotions({ db }: Database, keyed: Pick<Hmacs, 'sign'>, now: () => number): Promotions {
  const keyOf = (plan: string, email: string): string => `${noted}${keyed.sign('promotion', `${plan}\n${email}`)}`;

  /** What was given up before its card was set up, or before it was paid, was never had. */
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
    async had(email, price, all, open) {
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
      const key = keyOf(plan, email);
      const note = await db.selectFrom('billing_notes').select('at').where('key', '=', key).executeTakeFirst();
      return note !== undefined && note.at > now() - keptMs;
    },
    async keep(tx, email, states) {
      for (const state of states) {
        const { promotion } = state;
        if (promotion === null || isUnpaid(state) || awaitsCard(state)) continue;
        await tx
          .insertInto('billing_notes')
          .values({ key: keyOf(promotion, email), value: '', at: now() })
          .onConflict((conflict) => conflict.column('key').doUpdateSet({ at: now() }))
          .execute();
      }
    },
  };
}

/** Deletes what has been kept long enough. @param now epoch milliseconds */
export async function prunePromotions(db: Queries, now: number): Promise<void> {
  await db
    .deleteFrom('billing_notes')
    .where('key', 'like', `${noted}%`)
    .where('at', '<', now - keptMs)
    .execute();
}
