/**
 * Who has had a promotion: it is for once in a reader's life. While there is an account Stripe knows; of one that is deleted an HMAC of its
 * address is kept for a while, so that leaving and coming back is not a way to have it again.
 */
import type Stripe from 'stripe';
import type { AccountsTransaction, Database, Queries } from '../../database.ts';
import type { Hmacs } from '../../hmacs.server.ts';
import { awaitsCard, type StripeState } from '../state.ts';
import { isUnpaid } from '../status.ts';
import type { Price } from '../wire.ts';

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
