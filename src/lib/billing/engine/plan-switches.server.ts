/**
 * Changes of plan. An upgrade begins now: unused time is credited, the rest is charged at once, and the plan changes when that is paid (a
 * pending update). A downgrade begins with the next bill (a schedule), except during a Trial Offer, which a schedule can't contain.
 */
import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import type { Session } from '../../accounts/service.ts';
import { knownIn } from '../currency.ts';
import { messages } from '../messages.ts';
import type { Price, QuoteAnswer, SwitchAnswer, SwitchAsk } from '../schema.ts';
import type { Billed } from '../service.ts';
import {
  isEnding,
  isInGoodStanding,
  isPaused,
  type KnownPrice,
  type StripeState,
  switchKind,
  switchOf,
} from '../subscription-model.ts';
import { resume, voidSwitch } from './cancel.server.ts';
import { abandonPurchase } from './checkout.server.ts';
import type { BillingDependencies } from './dependencies.ts';
import { idOf } from './fetch-subscription.server.ts';
import { fetchAttempt, finish } from './payments.server.ts';
import type { Purchase } from './purchases.server.ts';
import { quoteSwitch, upgradeParams } from './quotes.server.ts';
import { isUncertain, ok, refusal, refuse, withIdempotencyKey } from './stripe.server.ts';
import type { StoredSubscription } from './subscriptions.server.ts';

/** Seconds for which a quoted proration is valid. */
const quoteSeconds = 3600;

/** Changes the plan. Runs within the lock of the reader. */
export async function switchPlan(
  dependencies: BillingDependencies,
  session: Session,
  body: SwitchAsk,
): Promise<Billed<SwitchAnswer>> {
  const { stripe, catalog, customers, purchases, subscriptions } = dependencies;
  const price = catalog.plan(body.planId);
  if (!price) return refusal(400, messages.planGone);
  if (price.promotion) return refusal(409, messages.newSubscribers, { code: 'promotion_used' });
  if (price.print && !(await customers.shipping(session.userId))) {
    return refusal(400, messages.address, { code: 'shipping' });
  }
  await customers.sendShipping(session.userId);
  const stored = await subscriptions.reconcileRunning(session.userId);
  const { state } = stored;
  const before = body.attempt === undefined ? null : await purchases.ofAttempt(session.userId, body.attempt);
  if (before?.state === 'done' && before.plan === body.planId) {
    return ok(answerOf(stored, state.price.plan === body.planId ? 'now' : 'renewal'));
  }
  // The same decision again, while its payment still waits for the reader.
  if (before?.state === 'open' && before.kind === 'switch' && before.plan === body.planId) {
    const answer = await finish(dependencies, await fetchAttempt(dependencies, state.id));
    if (answer.ok && answer.value.clientSecret !== null) return ok({ ...answer.value, effective: 'now' });
  }
  // Its purchase is still open: abandoning that would end the subscription that should change.
  const open = await purchases.open(session.userId);
  if (open?.kind === 'subscribe' && open.id === state.purchase) return refusal(409, messages.busy, { retryAfter: 5 });
  if (!isInGoodStanding(state)) return refusal(409, messages.unpaid, { code: 'unpaid' });
  // Stripe collects no invoice of a paused subscription: an upgrade would be free.
  if (isPaused(state)) return refusal(409, messages.paused, { code: 'paused' });
  const kind = switchOf(state, targetPrice(dependencies, state, price));
  if (kind === 'upgrade') return upgrade(dependencies, session, state, price, body);
  if (kind === 'downgrade') {
    // It became a downgrade in another tab: the button showed an amount, but nothing would be due.
    if (body.expected) return refusal(409, messages.amountChanged, { due: 0, code: 'amount_changed' });
    return downgrade(dependencies, session, state, price, body);
  }
  await releaseSchedule(stripe, state);
  return ok(answerOf((await subscriptions.reconcile(state.id)) ?? stored, 'now'));
}

/**
 * What a switch costs.
 *
 * @param asked Unix seconds for which the proration was quoted before. Never far from Stripe's own time: a later one would make the
 *   upgrade free
 * @throws Refused, StripeError
 */
export async function quotePlanSwitch(
  dependencies: BillingDependencies,
  state: StripeState,
  price: Price,
  asked: number | null = null,
): Promise<QuoteAnswer> {
  const { stripe } = dependencies;
  const to = targetPrice(dependencies, state, price);
  const fresh = await quoteSwitch(stripe, state, price, to, null);
  const at = fresh.prorationDate;
  if (asked === null || at === null || asked === at) return fresh;
  if (asked > at + 60 || asked < at - quoteSeconds) return fresh;
  return quoteSwitch(stripe, state, price, to, asked);
}

/** Releases the schedule of a planned change, so that the current plan continues. */
export async function releaseSchedule(stripe: Stripe, { schedule }: StripeState): Promise<void> {
  if (schedule !== null) await stripe.subscriptionSchedules.release(schedule);
}

/** Plans a change again that a cancellation had ended, unless the plan isn't sold any more. @throws StripeError */
export async function restorePlannedSwitch(
  dependencies: BillingDependencies,
  state: StripeState,
  planId: string,
): Promise<void> {
  const { stripe, catalog, log } = dependencies;
  const price = catalog.plan(planId);
  const to = price && catalog.known(price.id);
  if (price && to && switchKind(state.price, to) === 'downgrade') await schedule(stripe, randomUUID(), state, price);
  else
    log.warn(
      { subscription: state.id, plan: planId },
      'A planned change of plan could not be restored: the plan isn’t sold any more',
    );
  await clearPlannedSwitch(stripe, state);
}

/** Abandons an upgrade that is not paid yet. @throws StripeError */
export async function abandonOpenSwitch(dependencies: BillingDependencies, userId: string): Promise<void> {
  const open = await dependencies.purchases.open(userId);
  if (open?.kind === 'switch') await abandonPurchase(dependencies, open);
}

const answerOf = ({ state, grantId }: StoredSubscription, effective: SwitchAnswer['effective']): SwitchAnswer => ({
  subscriptionId: state.id,
  paymentIntentStatus: 'succeeded',
  clientSecret: null,
  paymentType: 'recurring',
  grant_id: grantId,
  effective,
});

/** The other plan in the currency of the subscription. @throws Refused if it isn't sold in that currency */
function targetPrice({ catalog }: BillingDependencies, state: StripeState, price: Price): KnownPrice {
  const known = catalog.known(price.id);
  const to = known && knownIn(known, state.price.currency);
  return to?.currency === state.price.currency ? to : refuse(400, messages.planGone);
}

async function beginSwitch(
  dependencies: BillingDependencies,
  session: Session,
  state: StripeState,
  price: Price,
  body: SwitchAsk,
): Promise<Purchase> {
  const { purchases } = dependencies;
  const open = await purchases.open(session.userId);
  // Paid at the last moment, in another tab: the quote is out of date.
  if (open && (await abandonPurchase(dependencies, open)) === 'done')
    refuse(409, messages.amountChanged, { code: 'amount_changed' });
  const purchase = await purchases.begin({
    userId: session.userId,
    kind: 'switch',
    plan: price.zephrPlanId,
    price: price.id,
    coupon: null,
    attempt: body.attempt ?? null,
    payment_method: null,
    subscription: state.id,
    before: state.price.plan,
  });
  return purchase ?? refuse(409, messages.busy, { retryAfter: 5 });
}

async function upgrade(
  dependencies: BillingDependencies,
  session: Session,
  state: StripeState,
  price: Price,
  body: SwitchAsk,
): Promise<Billed<SwitchAnswer>> {
  const { stripe, database, purchases, subscriptions } = dependencies;
  const quote = await quotePlanSwitch(dependencies, state, price, body.prorationDate ?? null);
  if (body.expected !== undefined && quote.dueToday !== body.expected) {
    refuse(409, messages.amountChanged, { due: quote.dueToday, code: 'amount_changed' });
  }
  const purchase = await beginSwitch(dependencies, session, state, price, body);
  await releaseSchedule(stripe, state);
  const update = {
    ...upgradeParams(state, price, quote.prorationDate),
    payment_behavior: 'pending_if_incomplete',
  } as const;
  try {
    await withIdempotencyKey(`switch:${purchase.id}`, (options) =>
      stripe.subscriptions.update(state.id, update, options),
    );
  } catch (error) {
    // Where the outcome is unknown, the next call, webhook or background task finds it.
    if (!isUncertain(error)) await purchases.end(database.db, purchase.id, 'given up');
    throw error;
  }
  const answer = await finish(dependencies, await fetchAttempt(dependencies, state.id));
  if (!answer.ok) {
    await voidSwitch(stripe, state.id);
    await subscriptions.reconcile(state.id);
    await purchases.end(database.db, purchase.id, 'given up');
    return answer;
  }
  await clearPlannedSwitch(stripe, state);
  return ok<SwitchAnswer>({ ...answer.value, effective: 'now' });
}

async function downgrade(
  dependencies: BillingDependencies,
  session: Session,
  state: StripeState,
  price: Price,
  body: SwitchAsk,
): Promise<Billed<SwitchAnswer>> {
  const { stripe, database, purchases, subscriptions } = dependencies;
  const purchase = await beginSwitch(dependencies, session, state, price, body);
  // Choosing a smaller plan takes a cancellation back.
  await resume(stripe, state);
  try {
    await schedule(stripe, purchase.id, state, price);
    await clearPlannedSwitch(stripe, state);
  } catch (error) {
    if (isEnding(state)) await stripe.subscriptions.update(state.id, { cancel_at_period_end: true }).catch(() => {});
    throw error;
  }
  const stored = await subscriptions.reconcile(state.id);
  if (!stored) return refusal(404, messages.unknownSubscription);
  await purchases.end(database.db, purchase.id, stored.state.next?.plan === purchase.plan ? 'done' : 'given up');
  return ok(answerOf(stored, 'renewal'));
}

/** Schedules the other plan from the next bill on. @param key part of the idempotency keys */
async function schedule(stripe: Stripe, key: string, state: StripeState, price: Price): Promise<void> {
  const expand = ['phases.discounts.discount'];
  const made =
    state.schedule !== null
      ? await stripe.subscriptionSchedules.retrieve(state.schedule, { expand })
      : await withIdempotencyKey(`plan:${key}`, (options) =>
          stripe.subscriptionSchedules.create({ from_subscription: state.id, expand }, options),
        );
  const present = made.phases.find(({ start_date: start }) => start === made.current_phase?.start_date);
  const running = await stripe.subscriptions.retrieve(state.id);
  const params: Stripe.SubscriptionScheduleUpdateParams = {
    end_behavior: 'release',
    proration_behavior: 'none',
    phases: phasesOf(state, present, price, running),
  };
  await withIdempotencyKey(`planned:${key}`, (options) =>
    stripe.subscriptionSchedules.update(made.id, params, options),
  );
}

/** Removes the change that was planned before a cancellation, because a later decision counts. */
async function clearPlannedSwitch(stripe: Stripe, { id, planned }: StripeState): Promise<void> {
  if (planned) await stripe.subscriptions.update(id, { metadata: { planned: '' } });
}

/**
 * The phases of a schedule: the current period unchanged, then the new plan.
 *
 * @param running what each phase has to repeat: a phase without a card would be charged to the customer's default, and buyers have none
 */
function phasesOf(
  state: StripeState,
  present: Stripe.SubscriptionSchedule.Phase | undefined,
  price: Price,
  running: Stripe.Subscription,
): Stripe.SubscriptionScheduleUpdateParams.Phase[] {
  const end = Math.floor(state.periodEnd / 1000);
  const kept = present?.discounts.flatMap(({ discount }) => (discount === null ? [] : [discount])) ?? [];
  const card = idOf(running.default_payment_method);
  const add = (phase: Stripe.SubscriptionScheduleUpdateParams.Phase, discounts: typeof kept) => {
    if (discounts.length > 0) phase.discounts = discounts.map((one) => ({ discount: idOf(one) ?? '' }));
    if (card !== null) phase.default_payment_method = card;
    if (running.automatic_tax.enabled) phase.automatic_tax = { enabled: true };
    return phase;
  };
  // Without them, Stripe would begin the new plan without the reader's discounts.
  const lasting = kept.filter((one) => typeof one !== 'string' && (one.end === null || one.end > end));
  const { interval, interval_count: count } = price.recurring;
  const now: Stripe.SubscriptionScheduleUpdateParams.Phase = {
    items: [{ price: state.price.id, quantity: 1 }],
    start_date: present?.start_date ?? Math.floor(state.periodStart / 1000),
    end_date: end,
  };
  if (state.status === 'trialing') now.trial = true;
  const later: Stripe.SubscriptionScheduleUpdateParams.Phase = {
    items: [{ price: price.id, quantity: 1 }],
    duration: { interval, interval_count: count },
  };
  // For another interval Stripe would keep the old anchor, and would not bill the new plan when it begins.
  if (interval !== state.price.interval || count !== state.price.count) later.billing_cycle_anchor = 'phase_start';
  return [add(now, kept), add(later, lasting)];
}
