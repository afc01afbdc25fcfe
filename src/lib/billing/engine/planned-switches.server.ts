/**
 * Changes of plan that take effect with the next bill: the schedule of a subscription at Stripe, with the phases before and
 * after the change.
 */
import { randomUUID } from 'node:crypto';
import Stripe from 'stripe';
import type { Logger } from '../../logging.ts';
import type { Price } from '../schema.ts';
import { type KnownPrice, type StripeState, switchKind } from '../subscription-model.ts';
import type { Catalog } from './catalog.server.ts';
import { chosenBy, idOf } from './fetch-subscription.server.ts';
import { findReleased, type LeftPhases, phasesAgain } from './released-schedules.server.ts';
import { withIdempotencyKey } from './stripe.server.ts';

/** Part of `BillingDependencies`; importing its file would create a circular import. */
interface Dependencies {
  readonly stripe: Stripe;
  readonly catalog: Pick<Catalog, 'plan' | 'known'>;
  readonly log: Logger;
  readonly now: () => number;
}

type PhaseParams = Stripe.SubscriptionScheduleUpdateParams.Phase;

const inSeconds = (ms: number): number => Math.floor(ms / 1000);

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
 * Plans again what a cancellation or a failed upgrade has released: all later phases of the schedule as they were. Where Stripe no longer
 * has them, or no longer sells one of their prices, the next plan at its present price, unless that is no longer sold either.
 *
 * @throws StripeError
 */
export async function restorePlannedSwitch(
  dependencies: Dependencies,
  state: StripeState,
  planId: string,
): Promise<void> {
  const { stripe, catalog, log, now } = dependencies;
  const released = await findReleased(stripe, state, now());
  if (!released || !(await restorePhases(dependencies, state, released))) {
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
  }
  await clearPlannedSwitch(stripe, state);
}

/** @returns `false` where Stripe refuses the phases */
async function restorePhases(
  { stripe, log }: Dependencies,
  state: StripeState,
  released: LeftPhases,
): Promise<boolean> {
  const last = laterEnd(state);
  const schedule = await openSchedule(stripe, randomUUID(), state);
  const running = await stripe.subscriptions.retrieve(state.id, { expand: ['discounts'] });
  const later = phasesAgain(released, running, last === null ? null : inSeconds(last));
  const params: Stripe.SubscriptionScheduleUpdateParams = {
    end_behavior: last === null ? released.endBehavior : 'cancel',
    proration_behavior: 'none',
    phases: [presentPhase(state, schedule, running, released.begins), ...later],
  };
  const card = idOf(running.default_payment_method);
  if (released.metadata) params.metadata = released.metadata;
  if (released.hasCard && card !== null) params.default_settings = { default_payment_method: card };
  try {
    await stripe.subscriptionSchedules.update(schedule.id, params);
    return true;
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    log.warn({ err: error, subscription: state.id }, 'Stripe refused to plan the phases of a released schedule again');
    await releaseSchedule(stripe, { ...state, schedule: schedule.id });
    return false;
  }
}

/** The publisher's schedule that ran before, in the metadata of one that the reader's choice of a plan has made. */
interface Replaced {
  readonly schedule: string;
  /** `zephrPlanId` of its next phase. */
  readonly plan: string;
}

/**
 * Releases a schedule that the publisher has made, before the reader's choice of a plan replaces it. It is noted as a planned change, so
 * that it is planned again if the choice fails.
 *
 * @returns the subscription without it, and what to plan again when the reader takes the choice back
 */
export async function releasePublishersSchedule(
  stripe: Stripe,
  state: StripeState,
): Promise<{ readonly state: StripeState; readonly replaced: Replaced | null }> {
  const { schedule, next, planned, released } = state;
  if (schedule === null && planned && released) {
    // A cancellation has released it already.
    const { metadata: of } = await stripe.subscriptionSchedules.retrieve(released);
    return { state, replaced: of?.[chosenBy] === 'reader' ? null : { schedule: released, plan: planned } };
  }
  if (schedule === null || next === null) return { state, replaced: null };
  const { metadata } = await stripe.subscriptionSchedules.retrieve(schedule);
  if (metadata?.[chosenBy] === 'reader') return { state, replaced: null };
  await notePlannedSwitch(stripe, state, next.plan);
  await releaseSchedule(stripe, state);
  const aside = { ...state, schedule: null, next: null, planned: next.plan, released: schedule };
  return { state: aside, replaced: { schedule, plan: next.plan } };
}

/** The publisher's schedule that the reader's choice has replaced; `null`: none. */
export async function findReplaced(stripe: Stripe, { schedule }: StripeState): Promise<Replaced | null> {
  if (schedule === null) return null;
  const { metadata } = await stripe.subscriptionSchedules.retrieve(schedule);
  const { replaced, replaced_plan: plan } = metadata ?? {};
  return replaced && plan ? { schedule: replaced, plan } : null;
}

/**
 * Schedules the other plan from the next bill on.
 *
 * @param key part of the idempotency keys @param replaced as of {@link releasePublishersSchedule}
 */
export async function planSwitch(
  stripe: Stripe,
  key: string,
  state: StripeState,
  price: PlannedPrice,
  replaced: Replaced | null = null,
): Promise<void> {
  const schedule = await openSchedule(stripe, key, state);
  const running = await stripe.subscriptions.retrieve(state.id, { expand: ['discounts'] });
  const params: Stripe.SubscriptionScheduleUpdateParams = {
    // Only the schedule decides how its subscription ends.
    end_behavior: laterEnd(state) === null ? 'release' : 'cancel',
    proration_behavior: 'none',
    metadata: {
      [chosenBy]: 'reader',
      ...(replaced && { replaced: replaced.schedule, replaced_plan: replaced.plan }),
    },
    phases: [presentPhase(state, schedule, running), plannedPhase(state, price, running)],
  };
  await withIdempotencyKey(`planned:${key}`, (options) =>
    stripe.subscriptionSchedules.update(schedule.id, params, options),
  );
}

/** The schedule of a subscription; a new one where it has none. @param key part of the idempotency key */
const openSchedule = (
  stripe: Stripe,
  key: string,
  { id, schedule }: StripeState,
): Promise<Stripe.SubscriptionSchedule> =>
  schedule !== null
    ? stripe.subscriptionSchedules.retrieve(schedule)
    : withIdempotencyKey(`plan:${key}`, (options) =>
        stripe.subscriptionSchedules.create({ from_subscription: id }, options),
      );

/**
 * Charges all later phases of a schedule, the publisher's too, to the subscription's new card: a phase that names a card makes it the
 * subscription's when it begins. Phases without a card use the customer's default, which is the new card.
 *
 * @throws StripeError unless Stripe refuses the phases
 */
export async function useCardForPlanned({ stripe, log }: Dependencies, state: StripeState): Promise<void> {
  if (state.schedule === null) return;
  const schedule = await stripe.subscriptionSchedules.retrieve(state.schedule);
  const { id, current_phase: now, default_settings: settings, end_behavior: endBehavior } = schedule;
  if (now === null) return;
  const later = schedule.phases.filter(({ start_date: start }) => start >= now.end_date);
  const hasCard = settings.default_payment_method !== null;
  if (!hasCard && later.every(({ default_payment_method: card }) => card === null)) return;
  const running = await stripe.subscriptions.retrieve(state.id, { expand: ['discounts'] });
  const card = idOf(running.default_payment_method);
  if (card === null) return;
  const present = schedule.phases.find(({ start_date: start }) => start === now.start_date);
  const kept: LeftPhases = {
    endBehavior,
    hasCard,
    since: schedule.created,
    present,
    begins: now.end_date,
    phases: later,
  };
  const phases = [presentPhase(state, schedule, running, now.end_date), ...phasesAgain(kept, running, null)];
  const params: Stripe.SubscriptionScheduleUpdateParams = { proration_behavior: 'none', phases };
  if (hasCard) params.default_settings = { default_payment_method: card };
  try {
    await stripe.subscriptionSchedules.update(id, params);
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    // The card of this period is saved, so that an unpaid bill can be paid with it.
    log.error(
      { err: error, subscription: state.id, schedule: id },
      'Stripe refused a reader’s new card for a planned change of plan',
    );
  }
}

/**
 * Records a planned change, with its schedule, in the subscription's metadata before the schedule is released.
 *
 * @param plan `zephrPlanId`; empty: there is none
 */
export async function notePlannedSwitch(
  stripe: Stripe,
  { id, planned, next, schedule, released }: StripeState,
  plan: string,
): Promise<void> {
  // A schedule without a next phase is one that could not be restored yet.
  const from = plan === '' ? '' : ((next ? schedule : released) ?? '');
  if (plan === (planned ?? '') && from === (released ?? '')) return;
  await stripe.subscriptions.update(id, { metadata: { planned: plan, released: from } });
}

/** Removes the record of an earlier planned change, because a later decision replaces it. */
export const clearPlannedSwitch = (stripe: Stripe, state: StripeState): Promise<void> =>
  notePlannedSwitch(stripe, state, '');

/** The phase that runs now, unchanged. @param end Unix seconds; by default the end of the period */
function presentPhase(
  state: StripeState,
  { phases, current_phase: current }: Stripe.SubscriptionSchedule,
  running: Stripe.Subscription,
  end = inSeconds(state.periodEnd),
): PhaseParams {
  const present = phases.find(({ start_date: start }) => start === current?.start_date);
  const phase: PhaseParams = {
    items: [{ price: state.price.id, quantity: 1 }],
    start_date: present?.start_date ?? inSeconds(state.periodStart),
    end_date: end,
  };
  // A phase may last longer than its trial.
  if (state.status === 'trialing' && end > inSeconds(state.periodEnd)) phase.trial_end = inSeconds(state.periodEnd);
  else if (state.status === 'trialing') phase.trial = true;
  return withRunning(phase, running, running.discounts);
}

/** The new plan, from the end of the period on. */
function plannedPhase(state: StripeState, price: PlannedPrice, running: Stripe.Subscription): PhaseParams {
  const end = inSeconds(state.periodEnd);
  // Without them, Stripe would begin the new plan without the reader's discounts.
  const lasting = running.discounts.filter((one) => typeof one !== 'string' && (one.end === null || one.end > end));
  const { interval, count } = price;
  const phase: PhaseParams = { items: [{ price: price.id, quantity: 1 }] };
  const last = laterEnd(state);
  if (last === null) phase.duration = { interval, interval_count: count };
  else phase.end_date = inSeconds(last);
  // For another interval Stripe would keep the old anchor, and would not bill the new plan when it begins.
  if (interval !== state.price.interval || count !== state.price.count) phase.billing_cycle_anchor = 'phase_start';
  return withRunning(phase, running, lasting);
}

/**
 * Adds what each phase has to repeat: a phase replaces the discounts, and a phase without a card would use the customer's default, which
 * buyers don't have.
 */
function withRunning(
  phase: PhaseParams,
  running: Stripe.Subscription,
  discounts: Stripe.Subscription['discounts'],
): PhaseParams {
  const card = idOf(running.default_payment_method);
  if (discounts.length > 0) phase.discounts = discounts.map((one) => ({ discount: idOf(one) ?? '' }));
  if (card !== null) phase.default_payment_method = card;
  if (running.automatic_tax.enabled) phase.automatic_tax = { enabled: true };
  return phase;
}
