/**
 * From one plan to another. What opens more begins now: the unused time is credited, the rest charged at once, and the plan changes
 * only when that is paid (a pending update). What opens less begins with the next bill (a schedule), except during a Trial Offer, which
 * Stripe takes into no schedule: there it begins now, too.
 */
import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import type { Session } from '../../accounts/service.ts';
import { knownIn } from '../currency.ts';
import { idOf } from '../read-state.ts';
import type { Billed } from '../service.ts';
import { isEnding, isPaused, isRunning, type KnownPrice, type StripeState, switchKind, switchOf } from '../state.ts';
import { isInGoodStanding } from '../status.ts';
import type { Price, QuoteAnswer, SwitchAnswer } from '../wire.ts';
import { dropSwitch, goOn } from './dropping.server.ts';
import { billed, isUncertain, no, ok, refuse } from './errors.ts';
import { underKey } from './idempotency.ts';
import type { Kept } from './mirror.server.ts';
import type { Parts } from './parts.ts';
import type { Paying } from './paying.server.ts';
import type { Purchase } from './purchases.server.ts';
import { quoteSwitch, upgradeParams } from './quotes.server.ts';
import { checkoutSaid, type Subscribing } from './subscribing.server.ts';
import type { InTurn } from './turns.ts';

export interface SwitchAsk {
  readonly planId: string;
  readonly prorationDate?: number;
  readonly expected?: number;
  readonly attempt?: string;
}

export interface Switching {
  switchPlan(session: Session, ask: SwitchAsk): Promise<Billed<SwitchAnswer>>;
  /** For a reader who has a subscription. @throws Refused, StripeError */
  quote(state: StripeState, price: Price): Promise<QuoteAnswer>;
  /** Goes back to what is, without what was planned for the next bill. */
  unplan(state: StripeState): Promise<void>;
  /** Plans a switch again that a cancellation had ended. What is not sold any more is left out. @throws StripeError */
  replan(state: StripeState, planId: string): Promise<void>;
  /** Gives up a change that is not paid yet. @throws StripeError */
  leaveOff(userId: string): Promise<void>;
}

export const switchSaid = {
  promotion: 'This offer is for new subscribers. To change your plan, please choose another one.',
  none: 'You have no subscription yet. Please choose a plan.',
  unpaid: 'Your last payment did not go through. Please update your card first.',
  paused: 'Billing of your subscription is paused. You can change your plan once it resumes.',
} as const;

/** Seconds for which a quoted proration stays good. */
const quoteSeconds = 3600;

export function createSwitching(
  parts: Parts,
  paying: Paying,
  { abandon }: Pick<Subscribing, 'abandon'>,
  inTurn: InTurn,
): Switching {
  const { stripe, catalogue, customers, purchases, mirror, database, log } = parts;

  async function running(userId: string): Promise<Kept> {
    const one = (await mirror.ofUser(userId)).find(({ state }) => isRunning(state));
    const fresh = one && (await mirror.sync(one.state.id));
    if (!fresh || !isRunning(fresh.state)) return refuse(404, switchSaid.none, { code: 'no_subscription' });
    return fresh;
  }

  const granted = (kept: Kept, effective: SwitchAnswer['effective']): SwitchAnswer => ({
    subscriptionId: kept.state.id,
    paymentIntentStatus: 'succeeded',
    clientSecret: null,
    paymentType: 'recurring',
    grant_id: kept.grantId,
    effective,
  });

  async function unplan({ schedule }: StripeState): Promise<void> {
    if (schedule !== null) await stripe.subscriptionSchedules.release(schedule);
  }

  /** The other plan in the currency of the subscription, which stays. @throws Refused where it is not sold in it */
  function target(state: StripeState, price: Price): KnownPrice {
    const known = catalogue.known(price.id);
    const to = known && knownIn(known, state.price.currency);
    return to?.currency === state.price.currency ? to : refuse(400, checkoutSaid.gone);
  }

  /** The moment for which the proration is worked out. Never far from Stripe's own: a later one would make the upgrade free. */
  async function quote(state: StripeState, price: Price, asked: number | null = null): Promise<QuoteAnswer> {
    const to = target(state, price);
    const fresh = await quoteSwitch(stripe, state, price, to, null);
    const at = fresh.prorationDate;
    if (asked === null || at === null || asked === at) return fresh;
    if (asked > at + 60 || asked < at - quoteSeconds) return fresh;
    return quoteSwitch(stripe, state, price, to, asked);
  }

  async function begin(session: Session, state: StripeState, price: Price, ask: SwitchAsk): Promise<Purchase> {
    const open = await purchases.open(session.userId);
    // Paid at the last moment, in another tab: what is shown here is not what there is.
    if (open && (await abandon(open)) === 'done') refuse(409, checkoutSaid.changed, { code: 'amount_changed' });
    const purchase = await purchases.begin({
      userId: session.userId,
      kind: 'switch',
      plan: price.zephrPlanId,
      price: price.id,
      coupon: null,
      attempt: ask.attempt ?? null,
      payment_method: null,
      subscription: state.id,
      before: state.price.plan,
    });
    return purchase ?? refuse(409, checkoutSaid.busy, { retryAfter: 5 });
  }

  async function upgrade(session: Session, state: StripeState, price: Price, ask: SwitchAsk) {
    const told = await quote(state, price, ask.prorationDate ?? null);
    if (ask.expected !== undefined && told.dueToday !== ask.expected) {
      refuse(409, checkoutSaid.changed, { due: told.dueToday, code: 'amount_changed' });
    }
    const purchase = await begin(session, state, price, ask);
    await unplan(state);
    const params = upgradeParams(state, price, told.prorationDate);
    try {
      const update = { ...params, payment_behavior: 'pending_if_incomplete' } as const;
      await underKey(`switch:${purchase.id}`, (options) => stripe.subscriptions.update(state.id, update, options));
    } catch (error) {
      // Whether it was done is looked up when the reader, a webhook or the worker comes next.
      if (!isUncertain(error)) await purchases.end(database.db, purchase.id, 'given up');
      throw error;
    }
    const answer = await paying.answer(await paying.till(state.id));
    if (!answer.ok) {
      await dropSwitch(stripe, state.id);
      await mirror.sync(state.id);
      await purchases.end(database.db, purchase.id, 'given up');
      return answer;
    }
    await forgetPlanned(state);
    return ok<SwitchAnswer>({ ...answer.value, effective: 'now' });
  }

  async function downgrade(session: Session, state: StripeState, price: Price, ask: SwitchAsk) {
    const purchase = await begin(session, state, price, ask);
    // Who takes a smaller plan means to stay.
    await goOn(stripe, state);
    try {
      await plan(purchase.id, state, price);
      await forgetPlanned(state);
    } catch (error) {
      if (isEnding(state)) await stripe.subscriptions.update(state.id, { cancel_at_period_end: true }).catch(() => {});
      throw error;
    }
    const kept = await mirror.sync(state.id);
    if (!kept) return no(404, checkoutSaid.unknown);
    await purchases.end(database.db, purchase.id, kept.state.next?.plan === purchase.plan ? 'done' : 'given up');
    return ok(granted(kept, 'renewal'));
  }

  /** The other plan, from the next bill on. */
  async function plan(key: string, state: StripeState, price: Price): Promise<void> {
    const expand = ['phases.discounts.discount'];
    const schedule =
      state.schedule !== null
        ? await stripe.subscriptionSchedules.retrieve(state.schedule, { expand })
        : await underKey(`plan:${key}`, (options) =>
            stripe.subscriptionSchedules.create({ from_subscription: state.id, expand }, options),
          );
    const present = schedule.phases.find(({ start_date: start }) => start === schedule.current_phase?.start_date);
    const running = await stripe.subscriptions.retrieve(state.id);
    const params: Stripe.SubscriptionScheduleUpdateParams = {
      end_behavior: 'release',
      proration_behavior: 'none',
      phases: phases(state, present, price, running),
    };
    await underKey(`planned:${key}`, (options) => stripe.subscriptionSchedules.update(schedule.id, params, options));
  }

  async function replan(state: StripeState, planId: string): Promise<void> {
    const price = catalogue.plan(planId);
    const to = price && catalogue.known(price.id);
    if (price && to && switchKind(state.price, to) === 'downgrade') await plan(randomUUID(), state, price);
    else
      log.warn(
        { subscription: state.id, plan: planId },
        'A planned switch could not be restored: the plan is not sold',
      );
    await forgetPlanned(state);
  }

  /** A later decision counts, not what was planned before a cancellation. */
  async function forgetPlanned({ id, planned }: StripeState): Promise<void> {
    if (planned) await stripe.subscriptions.update(id, { metadata: { planned: '' } });
  }

  async function switchNow(session: Session, ask: SwitchAsk): Promise<Billed<SwitchAnswer>> {
    const price = catalogue.plan(ask.planId);
    if (!price) return no(400, checkoutSaid.gone);
    if (price.promotion) return no(409, switchSaid.promotion, { code: 'promotion_used' });
    if (price.print && !(await customers.shipping(session.userId))) {
      return no(400, checkoutSaid.address, { code: 'shipping' });
    }
    await customers.sendShipping(session.userId);
    const kept = await running(session.userId);
    const { state } = kept;
    const before = ask.attempt === undefined ? null : await purchases.ofAttempt(session.userId, ask.attempt);
    if (before?.state === 'done' && before.plan === ask.planId) {
      return ok(granted(kept, state.price.plan === ask.planId ? 'now' : 'renewal'));
    }
    // The same decision once more, while its payment still waits for the reader.
    if (before?.state === 'open' && before.kind === 'switch' && before.plan === ask.planId) {
      const answer = await paying.answer(await paying.till(state.id));
      if (answer.ok && answer.value.clientSecret !== null) return ok({ ...answer.value, effective: 'now' });
    }
    // It is still at the till: whoever ends that purchase ends the subscription that was to be switched.
    const open = await purchases.open(session.userId);
    if (open?.kind === 'subscribe' && open.id === state.purchase) return no(409, checkoutSaid.busy, { retryAfter: 5 });
    if (!isInGoodStanding(state)) return no(409, switchSaid.unpaid, { code: 'unpaid' });
    // Stripe collects no invoice of a paused subscription: an upgrade would be had for nothing.
    if (isPaused(state)) return no(409, switchSaid.paused, { code: 'paused' });
    const kind = switchOf(state, target(state, price));
    if (kind === 'upgrade') return upgrade(session, state, price, ask);
    if (kind === 'downgrade') {
      // In another tab it has become one: the button said a sum, and nothing would be due.
      if (ask.expected) return no(409, checkoutSaid.changed, { due: 0, code: 'amount_changed' });
      return downgrade(session, state, price, ask);
    }
    await unplan(state);
    return ok(granted((await mirror.sync(state.id)) ?? kept, 'now'));
  }

  return {
    switchPlan: (session, ask) => inTurn(session.userId, () => billed(() => switchNow(session, ask))),
    quote: (state, price) => quote(state, price),
    unplan,
    replan,
    async leaveOff(userId) {
      const open = await purchases.open(userId);
      if (open?.kind === 'switch') await abandon(open);
    },
  };
}

/**
 * The present time as it is, to its end; then the new plan, which goes on by itself.
 *
 * @param running what each phase has to say again: a phase without a card would be charged to the customer's default, and a buyer of
 *   ours has none
 */
function phases(
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
  // Without a word Stripe would begin the new plan without the discounts that the reader has.
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
  // With another interval Stripe would keep the old anchor, and the new plan would not be billed when it begins.
  if (interval !== state.price.interval || count !== state.price.count) later.billing_cycle_anchor = 'phase_start';
  return [add(now, kept), add(later, lasting)];
}
