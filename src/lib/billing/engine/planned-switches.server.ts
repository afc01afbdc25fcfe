/**
 * Changes of plan that take effect with the next bill: the schedule of a subscription at Stripe, with the phases before and
 * after the change.
 */
import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import type { Logger } from '../../logging.ts';
import type { Price } from '../schema.ts';
import { type KnownPrice, type StripeState, switchKind } from '../subscription-model.ts';
import type { Catalog } from './catalog.server.ts';
import { idOf } from './fetch-subscription.server.ts';
import { withIdempotencyKey } from './stripe.server.ts';

/** Part of `BillingDependencies`; importing its file would create a circular import. */
interface Dependencies {
  readonly stripe: Stripe;
  readonly catalog: Pick<Catalog, 'plan' | 'known'>;
  readonly log: Logger;
}

/** The price of a later phase. */
export type PlannedPrice = Pick<KnownPrice, 'id' | 'interval' | 'count'>;

export const plannedPrice = ({ id, recurring }: Price): PlannedPrice => ({
  id,
  interval: recurring.interval,
  count: recurring.interval_count,
});

/** The later day on which the publisher ends a subscription, epoch milliseconds; `null`: there is none. */
const laterEnd = ({ cancelAt, periodEnd }: StripeState): number | null =>
  cancelAt !== null && cancelAt > periodEnd ? cancelAt : null;

/**
 * Releases the schedule of a planned change, so that the current plan continues.
 *
 * @param keepsEnd whether the subscription still ends when the schedule would have ended it; by default only on a later day
 */
export async function releaseSchedule(
  stripe: Stripe,
  state: StripeState,
  keepsEnd = laterEnd(state) !== null,
): Promise<void> {
  const { schedule } = state;
  const params = keepsEnd ? { preserve_cancel_date: true } : {};
  if (schedule !== null) await stripe.subscriptionSchedules.release(schedule, params);
}

/**
 * Plans a change again that was removed by a cancellation or a failed upgrade, unless the plan is no longer sold. @throws StripeError
 */
export async function restorePlannedSwitch(
  { stripe, catalog, log }: Dependencies,
  state: StripeState,
  planId: string,
): Promise<void> {
  const price = catalog.plan(planId);
  const to = price && catalog.known(price.id);
  // The same plan at another price is a change that the publisher has planned.
  if (price && to && to.id !== state.price.id && switchKind(state.price, to) !== 'upgrade')
    await planSwitch(stripe, randomUUID(), state, plannedPrice(price));
  else
    log.warn(
      { subscription: state.id, plan: planId },
      'A planned change of plan could not be restored: the plan is no longer sold',
    );
  await clearPlannedSwitch(stripe, state);
}

/** Schedules the other plan from the next bill on. @param key part of the idempotency keys */
export async function planSwitch(stripe: Stripe, key: string, state: StripeState, price: PlannedPrice): Promise<void> {
  const schedule =
    state.schedule !== null
      ? await stripe.subscriptionSchedules.retrieve(state.schedule)
      : await withIdempotencyKey(`plan:${key}`, (options) =>
          stripe.subscriptionSchedules.create({ from_subscription: state.id }, options),
        );
  const present = schedule.phases.find(({ start_date: start }) => start === schedule.current_phase?.start_date);
  const running = await stripe.subscriptions.retrieve(state.id, { expand: ['discounts'] });
  const params: Stripe.SubscriptionScheduleUpdateParams = {
    // Only the schedule decides how its subscription ends.
    end_behavior: laterEnd(state) === null ? 'release' : 'cancel',
    proration_behavior: 'none',
    phases: phasesOf(state, present, price, running),
  };
  await withIdempotencyKey(`planned:${key}`, (options) =>
    stripe.subscriptionSchedules.update(schedule.id, params, options),
  );
}

/** Charges a planned plan to the subscription's new card: the phases of a schedule name the card that they are charged to. */
export async function useCardForPlanned(stripe: Stripe, state: StripeState): Promise<void> {
  if (state.schedule === null || state.next === null) return;
  const { phases, current_phase: now } = await stripe.subscriptionSchedules.retrieve(state.schedule);
  const [next, ...more] = phases.filter(({ start_date: start }) => now !== null && start >= now.end_date);
  // A schedule that the publisher made may have more phases. Phases without a card use the customer's default, which is the new card.
  if (next?.default_payment_method && more.length === 0) await planSwitch(stripe, randomUUID(), state, state.next);
}

/**
 * Records a planned change in the subscription's metadata before its schedule is released. @param plan `zephrPlanId`; empty:
 * there is none
 */
export async function notePlannedSwitch(stripe: Stripe, { id, planned }: StripeState, plan: string): Promise<void> {
  if (plan !== (planned ?? '')) await stripe.subscriptions.update(id, { metadata: { planned: plan } });
}

/** Removes the record of an earlier planned change, because a later decision replaces it. */
export const clearPlannedSwitch = (stripe: Stripe, state: StripeState): Promise<void> =>
  notePlannedSwitch(stripe, state, '');

/**
 * The phases of a schedule: the current period unchanged, then the new plan.
 *
 * @param running values that each phase has to repeat: a phase replaces the discounts, and a phase without a card would use the
 *   customer's default, which buyers don't have
 */
function phasesOf(
  state: StripeState,
  present: Stripe.SubscriptionSchedule.Phase | undefined,
  price: PlannedPrice,
  running: Stripe.Subscription,
): Stripe.SubscriptionScheduleUpdateParams.Phase[] {
  const end = Math.floor(state.periodEnd / 1000);
  const kept = running.discounts;
  const card = idOf(running.default_payment_method);
  const add = (phase: Stripe.SubscriptionScheduleUpdateParams.Phase, discounts: Stripe.Subscription['discounts']) => {
    if (discounts.length > 0) phase.discounts = discounts.map((one) => ({ discount: idOf(one) ?? '' }));
    if (card !== null) phase.default_payment_method = card;
    if (running.automatic_tax.enabled) phase.automatic_tax = { enabled: true };
    return phase;
  };
  // Without them, Stripe would begin the new plan without the reader's discounts.
  const lasting = kept.filter((one) => typeof one !== 'string' && (one.end === null || one.end > end));
  const { interval, count } = price;
  const now: Stripe.SubscriptionScheduleUpdateParams.Phase = {
    items: [{ price: state.price.id, quantity: 1 }],
    start_date: present?.start_date ?? Math.floor(state.periodStart / 1000),
    end_date: end,
  };
  if (state.status === 'trialing') now.trial = true;
  const later: Stripe.SubscriptionScheduleUpdateParams.Phase = { items: [{ price: price.id, quantity: 1 }] };
  const last = laterEnd(state);
  if (last === null) later.duration = { interval, interval_count: count };
  else later.end_date = Math.floor(last / 1000);
  // For another interval Stripe would keep the old anchor, and would not bill the new plan when it begins.
  if (interval !== state.price.interval || count !== state.price.count) later.billing_cycle_anchor = 'phase_start';
  return [add(now, kept), add(later, lasting)];
}
