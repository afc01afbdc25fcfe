/**
 * Subscription schedules: phases that follow each other, and how each one changes the subscription when it begins or the
 * schedule ends.
 */

import type { StripeAccount } from '../core/account.ts';
import { invalid, missing } from '../core/errors.ts';
import type { Interval, Phase, Price, Schedule, Subscription, SubscriptionItem } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { requireAttached } from '../payments/methods.ts';
import { addIntervals } from './calendar.ts';
import { changeSubscription, collectChangeInvoice, snapshot } from './changing.ts';
import { cancelSubscription, discardPendingUpdate } from './collecting.ts';
import { recurring } from './creating.ts';
import { amountIn } from './currencies.ts';
import { setDiscounts } from './discounts.ts';
import { addInvoiceItem } from './invoicing.ts';

const intervals: readonly Interval[] = ['day', 'week', 'month', 'year'];

const emptyPhase = {
  add_invoice_items: [],
  application_fee_percent: null,
  billing_cycle_anchor: null,
  billing_thresholds: null,
  collection_method: null,
  default_payment_method: null,
  default_tax_rates: [],
  description: null,
  invoice_settings: null,
  on_behalf_of: null,
  transfer_data: null,
};

/** The current phase of a subscription, for a schedule that is created from it. */
export const phaseOf = (subscription: Subscription): Phase => ({
  ...emptyPhase,
  currency: subscription.currency,
  default_payment_method: subscription.default_payment_method,
  discounts: subscription.discounts.map((discount) => ({ coupon: null, promotion_code: null, discount })),
  start_date: subscription.items.data[0]?.current_period_start ?? subscription.created,
  end_date: subscription.items.data[0]?.current_period_end ?? subscription.created,
  items: subscription.items.data.map(({ price, quantity }) => phaseItem(price, quantity)),
  metadata: {},
  proration_behavior: 'create_prorations',
  trial_end: subscription.trial_end,
});

const phaseItem = (
  price: string,
  quantity: number,
  metadata: Readonly<Record<string, string>> = {},
): Phase['items'][number] => ({
  billing_thresholds: null,
  discounts: [],
  metadata,
  plan: price,
  price,
  quantity,
  tax_rates: [],
});

/** `phases` of an update; the first begins where the current phase began. */
export function readPhases(
  account: StripeAccount,
  params: Params,
  {
    current_phase: currentPhase,
    customer,
    subscription,
  }: Pick<Schedule, 'current_phase' | 'customer' | 'subscription'>,
  now: number,
): Phase[] {
  const given = params.list('phases');
  if (!given || given.length === 0) throw missing('phases');
  let start = currentPhase?.start_date ?? now;
  const currency = subscription ? account.need('subscription', subscription).currency : null;
  return given.map((one, index) => {
    one.allow('collection_method', 'automatic_tax', 'invoice_settings', 'description', 'currency');
    one.allow('add_invoice_items', 'trial', 'iterations', 'transfer_data');
    const from = one.text('start_date');
    // Declarations: "Must be set on the first phase".
    if (index === 0 && !from) throw missing(one.name('start_date'));
    const startDate = !from || from === 'now' ? start : Number(from);
    if (index === 0 && currentPhase && startDate !== currentPhase.start_date) {
      throw invalid('You can not modify the start date of the current phase.', one.name('start_date'));
    }
    if (index > 0 && startDate !== start) {
      throw invalid('The start date of each phase must be the end date of the phase before.', one.name('start_date'));
    }
    const items = (one.list('items') ?? []).map((item) => {
      item.allow('discounts', 'tax_rates', 'billing_thresholds');
      const price = account.need('price', item.need('price'), item.name('price'));
      recurring(price);
      amountIn(price, currency ?? price.currency);
      return { price, item: phaseItem(price.id, item.int('quantity') ?? 1, item.metadata()) };
    });
    const first = items[0];
    if (!first) throw missing(one.name('items'));
    const duration = one.object('duration');
    const until = one.text('end_date');
    const trialEnd = one.int('trial_end') ?? null;
    checkPhaseParams(one);
    const endDate =
      until === 'now'
        ? now
        : until
          ? Number(until)
          : duration
            ? addIntervals(startDate, {
                interval: duration.one('interval', intervals) ?? 'month',
                interval_count: duration.int('interval_count') ?? 1,
              })
            : addIntervals(startDate, recurring(first.price));
    if (endDate <= startDate) throw invalid('The end of a phase must come after its start.', one.name('end_date'));
    start = endDate;
    return {
      ...emptyPhase,
      billing_cycle_anchor: one.one('billing_cycle_anchor', ['automatic', 'phase_start']) ?? null,
      currency: currency ?? first.price.currency,
      default_payment_method: methodOf(account, one, customer),
      discounts: (one.list('discounts') ?? []).map((discount) => ({
        coupon: discount.text('coupon') ?? null,
        promotion_code: discount.text('promotion_code') ?? null,
        discount: discount.text('discount') ?? null,
      })),
      start_date: startDate,
      end_date: endDate,
      items: items.map(({ item }) => item),
      metadata: one.metadata(),
      proration_behavior:
        one.one('proration_behavior', ['create_prorations', 'always_invoice', 'none']) ?? 'create_prorations',
      trial_end: trialEnd,
    };
  });
}

/** Refuses combinations that the declarations of a phase exclude (SubscriptionScheduleUpdateParams.Phase). @throws {ApiError} 400 */
function checkPhaseParams(phase: Params): void {
  if (phase.has('end_date') && phase.has('duration')) {
    throw invalid('If `duration` is set, `end_date` must not be set.', phase.name('duration'));
  }
  const hasTrial = phase.has('trial_end') || phase.bool('trial') === true;
  if (hasTrial && phase.text('billing_cycle_anchor') === 'phase_start') {
    throw invalid(
      '`billing_cycle_anchor` cannot be `phase_start` if the phase specifies a trial.',
      phase.name('billing_cycle_anchor'),
    );
  }
}

/** @throws {ApiError} 400 for another customer's card */
function methodOf(account: StripeAccount, phase: Params, customer: string): string | null {
  const id = phase.text('default_payment_method');
  if (!id) return null;
  const param = phase.name('default_payment_method');
  requireAttached(account.need('payment_method', id, param), customer, param);
  return id;
}

/** The phase that applies at a moment. */
export const phaseAt = (schedule: Schedule, moment: number): Phase | undefined =>
  schedule.phases.find(({ start_date, end_date }) => start_date <= moment && moment < end_date);

/** When the current phase ends; `null` when the schedule is over. */
export const phaseEnd = (schedule: Schedule): number | null =>
  schedule.status === 'active' ? (schedule.current_phase?.end_date ?? null) : null;

/** Starts the next phase, or ends the schedule. Called at the end of a phase, before the renewal at that moment. */
export function startNextPhase(account: StripeAccount, schedule: Schedule): void {
  const now = account.now(schedule);
  const subscription = schedule.subscription ? account.store.find('subscription', schedule.subscription) : null;
  account.store.touch(schedule);
  const next = phaseAt(schedule, now);
  if (!subscription || !next) {
    schedule.current_phase = null;
    if (schedule.end_behavior === 'cancel' && subscription) {
      schedule.status = 'completed';
      schedule.completed_at = now;
      cancelSubscription(account, subscription, 'cancellation_requested');
      account.emit('subscription_schedule.completed', schedule);
      return;
    }
    release(account, schedule);
    return;
  }
  schedule.current_phase = { start_date: next.start_date, end_date: next.end_date };
  discardPendingUpdate(account, subscription);
  applyPhase(account, subscription, next, next.proration_behavior as 'none');
}

/** Applies a phase to a subscription. */
export function applyPhase(
  account: StripeAccount,
  subscription: Subscription,
  phase: Phase,
  proration: 'create_prorations' | 'always_invoice' | 'none',
): void {
  account.store.touch(subscription);
  const now = account.now(subscription);
  const before = snapshot(subscription);
  const phaseItems = phase.items.map(({ price, quantity }) => ({ price: account.need('price', price), quantity }));
  const sameItems =
    phaseItems.length === subscription.items.data.length &&
    phaseItems.every(({ price, quantity }, index) => {
      const item = subscription.items.data[index];
      return item?.price === price.id && item.quantity === quantity;
    });
  const kept = phase.discounts.filter(({ discount }) => discount && subscription.discounts.includes(discount));
  // A phase replaces the discounts; a phase without discounts removes them (docs.stripe.com/api/subscription_schedules/create).
  if (kept.length < Math.max(phase.discounts.length, subscription.discounts.length)) {
    setDiscounts(
      account,
      subscription,
      phase.discounts.map(({ coupon, promotion_code, discount }) => {
        const code = promotion_code ? account.need('promotion_code', promotion_code) : null;
        const existing = discount ? account.store.find('discount', discount) : undefined;
        const id = coupon ?? code?.promotion.coupon ?? existing?.source.coupon ?? '';
        return { coupon: account.need('coupon', id), code, ...(existing && { existing }) };
      }),
    );
  }
  subscription.metadata = { ...subscription.metadata, ...phase.metadata };
  // Without a card of its own a phase falls back on the customer's (docs.stripe.com/api/subscription_schedules/create).
  subscription.default_payment_method = phase.default_payment_method as string | null;
  if (sameItems) return;
  const items = subscription.items.data.map((item, index) => ({
    id: item.id,
    ...(phaseItems[index] ?? { deleted: true }),
  }));
  // At the end of a period nothing is left to credit; the renewal that follows charges the new price.
  const atPeriodEnd = subscription.items.data.every((item) => item.current_period_end <= now);
  if (atPeriodEnd) {
    replaceItems(account, subscription, phaseItems, phase);
    return;
  }
  const invoice = changeSubscription(account, subscription, { items, proration });
  if (invoice)
    collectChangeInvoice(account, subscription, invoice, {
      behavior: 'allow_incomplete',
      offSession: true,
      snapshot: before,
    });
}

/**
 * The items of the next phase, at the end of a period. With `phase_start` a new cycle begins, which the renewal at this moment
 * charges. Without it, a price of another interval isn't collected on its own: its amount waits for the next invoice, as
 * reported in github.com/better-auth/better-auth/issues/11336.
 */
function replaceItems(
  account: StripeAccount,
  subscription: Subscription,
  phaseItems: readonly { price: Price; quantity: number }[],
  phase: Phase,
): void {
  const now = account.now(subscription);
  subscription.items.data.forEach((item, index) => {
    const next = phaseItems[index];
    if (!next) return;
    const [oldCycle, newCycle] = [recurring(account.need('price', item.price)), recurring(next.price)];
    const sameInterval = oldCycle.interval === newCycle.interval && oldCycle.interval_count === newCycle.interval_count;
    item.price = next.price.id;
    item.quantity = next.quantity;
    item._billed = null;
    if (phase.billing_cycle_anchor === 'phase_start') subscription.billing_cycle_anchor = now;
    else if (!sameInterval) billWithNextInvoice(account, subscription, item, next.price);
  });
}

function billWithNextInvoice(
  account: StripeAccount,
  subscription: Subscription,
  item: SubscriptionItem,
  price: Price,
): void {
  const now = account.now(subscription);
  const { currency } = subscription;
  item.current_period_start = now;
  item.current_period_end = addIntervals(now, recurring(price));
  addInvoiceItem(account, {
    customer: subscription.customer,
    amount: amountIn(price, currency) * item.quantity,
    currency,
    description: `Remaining time on ${price.nickname ?? price.id}`,
    quantity: item.quantity,
    proration: true,
    period: { start: now, end: item.current_period_end },
    _subscription: subscription.id,
    _item: item.id,
    _price: price.id,
    _product: price.product,
  });
}

/**
 * A schedule that cancels at its end sets `cancel_at` of its subscription; a schedule that doesn't, or its release, removes that
 * (docs.stripe.com/billing/subscriptions/subscription-schedules, "Completing a schedule").
 */
export function setCancelAt(account: StripeAccount, subscription: Subscription, end: number | null): void {
  if (subscription.cancel_at === end) return;
  account.store.touch(subscription);
  subscription.cancel_at = end;
  subscription.cancel_at_period_end = false;
  subscription.canceled_at = end === null ? null : account.now(subscription);
}

export function release(
  account: StripeAccount,
  schedule: Schedule,
  { keepsEnd: preserveCancelDate = false } = {},
): void {
  const subscription = schedule.subscription ? account.store.find('subscription', schedule.subscription) : null;
  account.store.touch(schedule);
  schedule.status = 'released';
  schedule.released_at = account.now(schedule);
  schedule.released_subscription = schedule.subscription;
  schedule.current_phase = null;
  schedule.subscription = null;
  if (subscription) {
    subscription.schedule = null;
    account.store.touch(subscription);
    if (!preserveCancelDate) setCancelAt(account, subscription, null);
  }
  account.emit('subscription_schedule.released', schedule);
}
