/**
 * Cancellations with their reason, one offer, and the outcome. Without Stripe or a coupon there is no offer, and the reader can cancel all
 * the same.
 */
import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import type { Session } from '../../accounts/service.ts';
import type { AccountsTransaction, Queries } from '../../database.ts';
import { messages } from '../messages.ts';
import {
  type CancelFeedback,
  cancelReason,
  cancelReasons,
  limits,
  type RetentionOffer,
  type Subscription,
} from '../schema.ts';

import type { Billed, CancellationCount } from '../service.ts';
import { isEnding, isInTrial, isPaused, isRunning, type StripeState, subscriptionOf } from '../subscription-model.ts';
import type { CancellationsTable } from '../tables.ts';
import { monthsAfter } from './coupons.server.ts';
import type { BillingDependencies } from './dependencies.ts';
import { idOf, taxOf } from './fetch-subscription.server.ts';
import { ok, refusal, throwRefused, withIdempotencyKey } from './stripe.server.ts';

type CancellationDetails = Stripe.SubscriptionUpdateParams.CancellationDetails;

const dayMs = 24 * 60 * 60 * 1000;
/** After this time a new visit counts as another cancellation. */
const openMs = dayMs;

/**
 * Stores the reason and decides on the offer. Runs within the lock of the reader.
 *
 * @param id of the subscription; without it, the one that is shown
 */
export async function beginCancellation(
  dependencies: BillingDependencies,
  { userId }: Session,
  { reason, words }: CancelFeedback,
  id?: string,
): Promise<Billed<null>> {
  const { database, subscriptions } = dependencies;
  const state = await subscriptions.running(userId, id);
  if (!state) return refusal(404, messages.noSubscription, { code: 'no_subscription' });
  // The page is out of date: the subscription is canceled already.
  if (isEnding(state)) return ok(null);
  const feedback = { reason, words: words?.trim().slice(0, limits.reason) || null };
  const row = await openRow(dependencies, userId, state.id);
  if (row) await database.db.updateTable('cancellations').set(feedback).where('id', '=', row.id).execute();
  else await insertRow(dependencies, userId, state, feedback, await makeOffer(dependencies, userId, state));
  return ok(null);
}

/** The offer of the current cancellation. @param id as with {@link beginCancellation} */
export async function findOffer(
  dependencies: BillingDependencies,
  { userId }: Session,
  id?: string,
): Promise<RetentionOffer | null> {
  const state = await dependencies.subscriptions.running(userId, id);
  const row = state && (await openRow(dependencies, userId, state.id));
  if (!state || !row?.offer) return null;
  const offer = JSON.parse(row.offer) as RetentionOffer;
  return isStillTrue(offer, state, dependencies.now()) ? offer : null;
}

/**
 * Whether an offer's amount for the next bill is still right: the plan may have changed in another tab, or the publisher may have
 * given a discount.
 */
const isStillTrue = ({ from, at }: RetentionOffer, state: StripeState, now: number): boolean =>
  mayBeReduced(state, now) && state.nextAmount === from && state.periodEnd === at;

/**
 * Accepts the offer; accepting twice has no further effect. Runs within the reader's lock.
 *
 * @param id as with {@link beginCancellation}
 */
export async function acceptOffer(
  dependencies: BillingDependencies,
  { userId }: Session,
  id?: string,
): Promise<Billed<Subscription>> {
  const { stripe, subscriptions, rules, now } = dependencies;
  const answer = (state: StripeState) => ok(subscriptionOf(state, now(), rules.graceDays));
  const state = await subscriptions.running(userId, id);
  if (!state) return refusal(404, messages.noSubscription, { code: 'no_subscription' });
  const row = await newestRow(dependencies, userId, state.id);
  if (row?.outcome === 'stayed') return answer(state);
  if (row?.outcome !== 'open' || row.offer === null) return refusal(409, messages.offerOver, { code: 'no_offer' });
  const offer = JSON.parse(row.offer) as RetentionOffer;
  const { coupon } = offer;
  const fresh = (await subscriptions.reconcile(state.id))?.state;
  if (fresh && (await hasCoupon(dependencies, fresh, coupon))) {
    // An earlier call gave the discount, and was cut off before it could store that.
    await endRow(dependencies, row.id, 'stayed');
    return answer(fresh);
  }
  if (!fresh || !isRunning(fresh) || !isStillTrue(offer, fresh, now())) {
    return throwRefused(409, messages.offerOver, { code: 'no_offer' });
  }
  const discounts = [{ coupon }];
  await withIdempotencyKey(`stay:${row.id}`, (options) =>
    stripe.subscriptions.update(fresh.id, { discounts }, options),
  );
  await endRow(dependencies, row.id, 'stayed');
  return answer((await subscriptions.reconcile(fresh.id))?.state ?? fresh);
}

async function hasCoupon({ stripe }: BillingDependencies, state: StripeState, coupon: string): Promise<boolean> {
  if ((state.discounts ?? []).length === 0) return false;
  const { discounts } = await stripe.subscriptions.retrieve(state.id, { expand: ['discounts'] });
  return discounts.some((one) => typeof one !== 'string' && idOf(one.source.coupon) === coupon);
}

/** Cancels and stores the reason. It has its own lock outside the reader's, so that two clicks are one cancellation. */
export async function cancelAndRecord(
  dependencies: BillingDependencies,
  session: Session,
  { reason, id }: { readonly reason: string | null; readonly id: string | undefined },
  cancel: (details: CancellationDetails) => Promise<Billed<Subscription>>,
): Promise<Billed<Subscription>> {
  const { userId } = session;
  const state = await dependencies.subscriptions.running(userId, id);
  // The reason of a cancellation of another subscription isn't this one's.
  const row = state && (await openRow(dependencies, userId, state.id));
  const known = cancelReason(reason);
  const feedback: CancelFeedback = row
    ? { reason: cancelReason(row.reason), words: row.words }
    : { reason: known, words: known === null && reason ? reason.slice(0, limits.reason) : null };
  const cancelled = await cancel(cancellationDetails(feedback));
  if (!cancelled.ok || !state || isEnding(state)) return cancelled;
  const recorded = row?.id ?? (await insertRow(dependencies, userId, state, feedback, null));
  await endRow(dependencies, recorded, 'cancelled');
  return cancelled;
}

/** A cancellation's reason in Stripe's format. */
function cancellationDetails({ reason, words }: CancelFeedback): CancellationDetails {
  const known = cancelReasons.find(({ id }) => id === reason);
  return { ...(words && { comment: words }), ...(known && { feedback: known.feedback }) };
}

/** Records that a cancellation was reverted. */
export async function recordResumed({ database, now }: BillingDependencies, userId: string, id: string): Promise<void> {
  await database.db
    .updateTable('cancellations')
    .set({ outcome: 'resumed', updated: now() })
    .where('user_id', '=', userId)
    .where('subscription', '=', id)
    .where('outcome', '=', 'cancelled')
    .execute();
}

/** Cancellations by reason and outcome. @param since epoch milliseconds */
export async function countCancellations(db: Queries, since: number): Promise<readonly CancellationCount[]> {
  const rows = await db
    .selectFrom('cancellations')
    .select((is) => ['reason', 'outcome', is.fn.countAll<number | string | bigint>().as('count')])
    .where('created', '>=', since)
    .groupBy(['reason', 'outcome'])
    .execute();
  return rows.map(
    ({ reason, outcome, count }): CancellationCount => ({
      reason: cancelReason(reason) ?? (reason === null ? 'skipped' : 'other'),
      outcome,
      count: Number(count),
    }),
  );
}

/** A reader's cancellations, for the export. */
export async function cancellationsOf(
  db: Queries,
  userId: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const rows = await db.selectFrom('cancellations').selectAll().where('user_id', '=', userId).execute();
  return rows.map(({ plan, reason, words, offer, outcome, created }) => ({
    plan,
    reason,
    words,
    outcome,
    offered: offer !== null,
    time: new Date(created).toISOString(),
  }));
}

/** Removes the user and the text of the reason; the counts stay. */
export async function forgetCancellations(tx: AccountsTransaction, userId: string): Promise<void> {
  await tx.updateTable('cancellations').set({ user_id: null, words: null }).where('user_id', '=', userId).execute();
}

async function newestRow({ database, now }: BillingDependencies, userId: string, subscription: string) {
  return database.db
    .selectFrom('cancellations')
    .selectAll()
    .where('user_id', '=', userId)
    .where('subscription', '=', subscription)
    .where('created', '>', now() - openMs)
    .orderBy('created', 'desc')
    .executeTakeFirst();
}

async function openRow(
  dependencies: BillingDependencies,
  userId: string,
  subscription: string,
): Promise<CancellationsTable | null> {
  const row = await newestRow(dependencies, userId, subscription);
  return row?.outcome === 'open' ? row : null;
}

async function insertRow(
  { database, now }: BillingDependencies,
  userId: string,
  state: StripeState,
  { reason, words }: CancelFeedback,
  offer: RetentionOffer | null,
): Promise<string> {
  const id = randomUUID();
  await database.db
    .insertInto('cancellations')
    .values({
      id,
      user_id: userId,
      subscription: state.id,
      plan: state.price.plan,
      reason,
      words,
      offer: offer && JSON.stringify(offer),
      outcome: 'open',
      created: now(),
      updated: now(),
    })
    .execute();
  return id;
}

async function endRow(
  { database, now }: BillingDependencies,
  id: string,
  outcome: 'stayed' | 'cancelled',
): Promise<void> {
  await database.db.updateTable('cancellations').set({ outcome, updated: now() }).where('id', '=', id).execute();
}

/** The offer by Stripe's preview of the next bill; `null` if the coupon takes nothing off, or an offer was made not long ago. */
async function makeOffer(
  { stripe, database, rules: { stay }, log, now }: BillingDependencies,
  userId: string,
  state: StripeState,
): Promise<RetentionOffer | null> {
  if (!stay) return null;
  const earlierOffer = await database.db
    .selectFrom('cancellations')
    .select('id')
    .where('user_id', '=', userId)
    .where('offer', 'is not', null)
    .where('created', '>', now() - stay.everyDays * dayMs)
    .executeTakeFirst();
  if (earlierOffer) return null;
  try {
    const coupon = await stripe.coupons.retrieve(stay.coupon, { expand: ['currency_options'] });
    const bills = invoicesReduced(state, coupon, now());
    if (bills === 0) return null;
    const discounts = [{ coupon: coupon.id }];
    const preview = await stripe.invoices.createPreview({ subscription: state.id, discounts });
    const { nextAmount: from, periodEnd: at, price } = state;
    const { amount_due: to } = preview;
    if (to >= from) return null;
    return { coupon: coupon.id, currency: price.currency, from, to, tax: taxOf(preview), at, bills };
  } catch (error) {
    log.warn({ err: error, coupon: stay.coupon }, 'The offer for a reader who cancels could not be made');
    return null;
  }
}

/** Whether the next bill is an ordinary one: without a discount, a planned change, a pause or an end. */
function mayBeReduced(state: StripeState, now: number): boolean {
  const running = state.status === 'active' && !isInTrial(state, now) && !isPaused(state);
  return running && !isEnding(state) && state.schedule === null && (state.discounts ?? []).length === 0;
}

/** The number of bills that the coupon would reduce, `null` for all; 0 if it isn't offered, such as to a reader with a discount. */
function invoicesReduced(state: StripeState, coupon: Stripe.Coupon, now: number): number | null {
  const { price, nextAmount } = state;
  if (!mayBeReduced(state, now) || !coupon.valid || nextAmount === 0) return 0;
  if (coupon.amount_off !== null && coupon.currency !== price.currency && !coupon.currency_options?.[price.currency])
    return 0;
  return invoicesWithin(state, coupon, now);
}

/** The number of bills within the duration of a coupon that starts now. */
function invoicesWithin({ price, periodEnd }: StripeState, coupon: Stripe.Coupon, now: number): number | null {
  if (coupon.duration === 'forever') return null;
  if (coupon.duration === 'once') return 1;
  const end = later(now, 'month', coupon.duration_in_months ?? 0);
  let count = 0;
  while (later(periodEnd, price.interval, count * price.count) < end) count++;
  return count;
}

function later(at: number, interval: StripeState['price']['interval'], count: number): number {
  if (interval === 'month' || interval === 'year') return monthsAfter(at, count * (interval === 'year' ? 12 : 1));
  return at + count * (interval === 'week' ? 7 : 1) * 86_400_000;
}
