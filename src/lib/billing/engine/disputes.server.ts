/**
 * Payments that readers have their banks take back. One that is lost counts as given back (state.ts); one that is open closes nothing,
 * and operators are told: only they can answer it, in Stripe's dashboard, until a day.
 */
import Stripe from 'stripe';
import type { AccountsTransaction, Queries } from '../../database.ts';
import type { Logger } from '../../logging.ts';
import type { StripeState } from '../state.ts';

/** Of one charge there is hardly ever a second. */
const mostOfOne = 10;

/** @returns the disputes of these charges; none where the key may not read them */
export async function askDisputes(
  stripe: Stripe,
  charges: readonly Stripe.Charge[],
  log: Logger,
): Promise<readonly Stripe.Dispute[]> {
  const disputed = charges.filter(({ disputed: is }) => is);
  try {
    const pages = await Promise.all(disputed.map(({ id }) => stripe.disputes.list({ charge: id, limit: mostOfOne })));
    return pages.flatMap(({ data }) => data);
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripePermissionError)) throw error;
    log.error({}, 'The key may not read disputes: what a bank has taken back stays open until it is refunded by hand');
    return [];
  }
}

const noteKey = (id: string): string => `dispute:${id}`;

/**
 * Keeps which of a subscription's disputes are open.
 *
 * @returns those that were not known yet
 */
export async function noteDisputes(
  tx: AccountsTransaction,
  { id, disputes = [] }: Pick<StripeState, 'id' | 'disputes'>,
  now: number,
): Promise<readonly string[]> {
  const fresh: string[] = [];
  for (const { id: dispute, outcome, due } of disputes) {
    const key = noteKey(dispute);
    if (outcome !== 'open') {
      await tx.deleteFrom('billing_notes').where('key', '=', key).execute();
      continue;
    }
    const made = await tx
      .insertInto('billing_notes')
      .values({ key, value: JSON.stringify({ subscription: id, due }), at: now })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .returning('key')
      .executeTakeFirst();
    if (made) fresh.push(dispute);
  }
  return fresh;
}

export async function openDisputes(db: Queries): Promise<number> {
  const { count } = await db
    .selectFrom('billing_notes')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('key', 'like', noteKey('%'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Longer than any bank takes. */
const keptMs = 365 * 24 * 60 * 60 * 1000;

/** Deletes notes of disputes whose end nobody told, as when Stripe has deleted the customer. @param now epoch milliseconds */
export async function pruneDisputes(db: Queries, now: number): Promise<void> {
  await db
    .deleteFrom('billing_notes')
    .where('key', 'like', noteKey('%'))
    .where('at', '<', now - keptMs)
    .execute();
}
