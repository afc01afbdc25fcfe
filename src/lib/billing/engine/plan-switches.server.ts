/**
 * Changes of plan. An upgrade takes effect now: unused time is credited, the rest is charged at once, and the plan changes when it is
 * paid (a pending update). A downgrade takes effect with the next bill (a schedule), except during a Trial Offer, which a schedule can't
 * contain.
 */
import type { Session } from '../../accounts/service.ts';
import type { Queries } from '../../database.ts';
import { knownIn } from '../currency.ts';
import { messages } from '../messages.ts';
import type { Price, QuoteAnswer, SwitchAnswer, SwitchAsk } from '../schema.ts';
import type { Billed } from '../service.ts';
import {
  isEnding,
  isInGoodStanding,
  isPaused,
  isRenewalDue,
  type KnownPrice,
  type StripeState,
  switchOf,
} from '../subscription-model.ts';
import { resume, voidSwitch } from './cancel.server.ts';
import { abandonForAnother, abandonPurchase } from './checkout.server.ts';
import type { BillingDependencies } from './dependencies.ts';
import { refuseEarlierCard } from './earlier-owner.server.ts';
import { addNote, deleteNote, findNote, pruneNotes } from './notes.server.ts';
import { fetchAttempt, finish } from './payments.server.ts';
import {
  clearPlannedSwitch,
  findReplaced,
  notePlannedSwitch,
  plannedPrice,
  planSwitch,
  releasePublishersSchedule,
  releaseSchedule,
  restorePlannedSwitch,
} from './planned-switches.server.ts';
import { leadsTo, type Purchase } from './purchases.server.ts';
import { quoteSwitch, upgradeParams } from './quotes.server.ts';
import { isUncertain, ok, refusal, throwRefused, withIdempotencyKey } from './stripe.server.ts';
import type { StoredSubscription } from './subscriptions.server.ts';

/** Seconds for which a quoted proration is valid. */
const quoteSeconds = 3600;

/** Changes the plan. Runs within the lock of the reader. */
export async function switchPlan(
  dependencies: BillingDependencies,
  session: Session,
  body: SwitchAsk,
): Promise<Billed<SwitchAnswer>> {
  const { catalog, customers, purchases, subscriptions } = dependencies;
  const price = catalog.plan(body.planId);
  if (!price) return refusal(400, messages.planGone);
  if (price.promotion) return refusal(409, messages.newSubscribers, { code: 'promotion_used' });
  if (price.print && !(await customers.shipping(session.userId))) {
    return refusal(400, messages.address, { code: 'shipping' });
  }
  await customers.sendShipping(session.userId);
  const stored = await subscriptions.reconcileRunning(session.userId);
  const { state } = stored;
  // Another one is shown since the quote: the reader has not agreed to a change of it.
  if (body.subscriptionId !== undefined && body.subscriptionId !== state.id)
    return refusal(409, messages.amountChanged, { code: 'amount_changed' });
  const before = body.attempt === undefined ? null : await purchases.ofAttempt(session.userId, body.attempt);
  // Unless it was taken back since: then it is a new decision.
  if (before?.state === 'done' && before.plan === body.planId) {
    if (leadsTo(before, state.price)) return ok(answerOf(stored, 'now'));
    if (state.next !== null && leadsTo(before, state.next)) return ok(answerOf(stored, 'renewal'));
  }
  // The same decision again, while its payment still waits for the reader.
  if (before?.state === 'open' && before.kind === 'switch' && before.plan === body.planId) {
    const answer = await finish(dependencies, await fetchAttempt(dependencies, state.id));
    if (answer.ok && answer.value.clientSecret !== null) return ok({ ...answer.value, effective: 'now' });
  }
  // Its purchase is still open: abandoning it would end the subscription that the reader wants to change.
  const open = await purchases.open(session.userId);
  if (open?.kind === 'subscribe' && open.id === state.purchase) return refusal(409, messages.busy, { retryAfter: 5 });
  refuseByInvoice(state);
  await refuseEarlierCard(dependencies.database.db, session.userId);
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
  await takeBackChoice(dependencies, state);
  return ok(answerOf((await subscriptions.reconcile(state.id)) ?? stored, 'now'));
}

/**
 * Cancels the change that the reader has planned, and plans again what the publisher had planned before. What the publisher has planned
 * stays, because the reader would keep a reduced price; only an end that it has set is taken back.
 */
export async function takeBackChoice(dependencies: BillingDependencies, state: StripeState): Promise<void> {
  const { stripe } = dependencies;
  const replaced = state.next === null ? null : await findReplaced(stripe, state);
  if (replaced) {
    const { schedule: released, plan: planned } = replaced;
    await restoreLater(dependencies, state.id);
    await stripe.subscriptions.update(state.id, { metadata: { planned, released } });
    await releaseSchedule(stripe, state);
    return restorePlannedSwitch(dependencies, { ...state, schedule: null, next: null, planned, released }, planned);
  }
  if ((state.next !== null && !state.nextByPublisher) || isEnding(state)) await releaseSchedule(stripe, state);
  // What a cancellation has put aside is planned again when the reader resumes.
  if (state.next !== null) await clearPlannedSwitch(stripe, state);
}

/**
 * What a switch costs.
 *
 * @param asked Unix seconds for which the proration was quoted before. Must be near Stripe's own time: a later time would make the
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
  refuseByInvoice(state);
  const to = targetPrice(dependencies, state, price);
  // Nothing has been paid yet that could be credited, and the renewal would be charged in addition to the upgrade.
  if (switchOf(state, to) === 'upgrade' && isRenewalDue(state))
    throwRefused(409, messages.renewing, { code: 'renewing' });
  const fresh = await quoteSwitch(stripe, state, price, to, null);
  const at = fresh.prorationDate;
  if (asked === null || at === null || asked === at) return fresh;
  if (asked > at + 60 || asked < at - quoteSeconds) return fresh;
  return quoteSwitch(stripe, state, price, to, asked);
}

/**
 * In a subscription that is billed by invoice, Stripe can't make a change wait for its payment, and would charge the planned plan to
 * a card. @throws Refused
 */
function refuseByInvoice({ byInvoice = false }: StripeState): void {
  if (byInvoice) throwRefused(409, messages.byInvoice, { code: 'by_invoice' });
}

/** Abandons an upgrade that is not paid yet. @throws Refused while that is unknown, StripeError */
export async function abandonOpenSwitch(dependencies: BillingDependencies, userId: string): Promise<void> {
  const open = await dependencies.purchases.open(userId);
  if (open?.kind === 'switch') await abandonForAnother(dependencies, open);
}

/**
 * Abandons an open purchase that its reader doesn't continue. A planned change that an upgrade would have replaced is planned again, and a
 * cancellation that a downgrade reverted takes effect again.
 */
export async function abandonAndRestore(dependencies: BillingDependencies, purchase: Purchase): Promise<void> {
  if (purchase.kind === 'switch' && purchase.subscription !== null)
    await restoreLater(dependencies, purchase.subscription);
  const outcome = await abandonPurchase(dependencies, purchase);
  if (outcome !== 'given up' || purchase.kind !== 'switch' || purchase.subscription === null) return;
  await cancelAgain(dependencies, purchase.id, purchase.subscription);
  await restoreReplaced(dependencies, purchase.subscription);
}

/** Key of the note that a subscription was canceled when its downgrade began. @param purchase id of the downgrade */
const cancelledBeforeKey = (purchase: string): string => `canceled before:${purchase}`;

/** Deletes such records of purchases that ended long ago. @param before epoch milliseconds */
export const pruneCancelledBefore = (db: Queries, before: number): Promise<void> =>
  pruneNotes(db, cancelledBeforeKey(''), before);

/** Cancels a subscription again after a downgrade that had reverted the cancellation failed. @throws StripeError */
async function cancelAgain(
  { stripe, database: { db }, subscriptions }: BillingDependencies,
  purchase: string,
  id: string,
): Promise<void> {
  const key = cancelledBeforeKey(purchase);
  if (!(await findNote(db, key))) return;
  const state = (await subscriptions.reconcile(id))?.state;
  // With a planned change the downgrade has succeeded after all.
  if (state && isInGoodStanding(state) && !isEnding(state) && state.next === null) {
    // Stripe can't cancel a subscription that has a schedule.
    await releaseSchedule(stripe, state);
    await stripe.subscriptions.update(id, { cancel_at_period_end: true });
    await subscriptions.reconcile(id);
  }
  await deleteNote(db, key);
}

/** Forgets the cancellation that an open downgrade reverted: the reader has resumed the subscription. */
export async function forgetCancelledBefore(dependencies: BillingDependencies, userId: string): Promise<void> {
  const open = await dependencies.purchases.open(userId);
  if (open) await deleteNote(dependencies.database.db, cancelledBeforeKey(open.id));
}

/** After this time a call that has released a planned change was cut off, in milliseconds. */
const cutOffMs = 60_000;

/** Plans a change again in a minute, if the latest call that has released it fails or is cut off. @param id of the subscription */
export const restoreLater = ({ database, jobs, now }: BillingDependencies, id: string): Promise<void> =>
  jobs.add(database.db, { kind: 'planned', subject: id, once: true, postpones: true, due: now() + cutOffMs });

/** Plans a change again that an unfinished call has released. @param id of the subscription */
export async function restoreReleased(dependencies: BillingDependencies, id: string): Promise<void> {
  const { purchases, subscriptions, withLock } = dependencies;
  const userId = (await subscriptions.get(id))?.userId ?? null;
  if (userId === null) return;
  await withLock(userId, async () => {
    // An upgrade that waits for its payment plans it again where it fails.
    if ((await purchases.open(userId))?.kind !== 'switch') await restoreReplaced(dependencies, id);
  });
}

/** Plans the change again that an upgrade would have replaced, after the upgrade has failed. @param id of the subscription */
async function restoreReplaced(dependencies: BillingDependencies, id: string): Promise<void> {
  const { subscriptions } = dependencies;
  const state = (await subscriptions.reconcile(id))?.state;
  if (!state?.planned || !isInGoodStanding(state) || isEnding(state)) return;
  // It was never released, or is already planned again.
  if (state.next) await clearPlannedSwitch(dependencies.stripe, state);
  else await restorePlannedSwitch(dependencies, state, state.planned);
  await subscriptions.reconcile(id);
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
  return to?.currency === state.price.currency ? to : throwRefused(400, messages.planGone);
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
  if (open && (await abandonForAnother(dependencies, open)) === 'done')
    throwRefused(409, messages.amountChanged, { code: 'amount_changed' });
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
  return purchase ?? throwRefused(409, messages.busy, { retryAfter: 5 });
}

async function upgrade(
  dependencies: BillingDependencies,
  session: Session,
  state: StripeState,
  price: Price,
  body: SwitchAsk,
): Promise<Billed<SwitchAnswer>> {
  const { stripe, subscriptions } = dependencies;
  const quote = await quotePlanSwitch(dependencies, state, price, body.prorationDate ?? null);
  if (body.expected !== undefined && quote.dueToday !== body.expected) {
    throwRefused(409, messages.amountChanged, { due: quote.dueToday, code: 'amount_changed' });
  }
  const purchase = await beginSwitch(dependencies, session, state, price, body);
  // Recorded first: if the upgrade fails, the change that was planned before is restored.
  if (state.next) await notePlannedSwitch(stripe, state, state.next.plan);
  // So does the end that the publisher has planned: only an upgrade that is paid takes it back.
  await releaseSchedule(stripe, state, state.cancelAt !== null);
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
    if (!isUncertain(error)) await giveUpSwitch(dependencies, purchase, state.id);
    throw error;
  }
  const answer = await finish(dependencies, await fetchAttempt(dependencies, state.id));
  if (!answer.ok) {
    await voidSwitch(stripe, state.id);
    await subscriptions.reconcile(state.id);
    await giveUpSwitch(dependencies, purchase, state.id);
    return answer;
  }
  return ok<SwitchAnswer>({ ...answer.value, effective: 'now' });
}

/** Ends a change that has failed. @param id of the subscription */
async function giveUpSwitch(dependencies: BillingDependencies, purchase: Purchase, id: string): Promise<void> {
  const { database, purchases } = dependencies;
  // An ended purchase isn't looked at again.
  await restoreLater(dependencies, id);
  await purchases.end(database.db, purchase.id, 'given up');
  await restoreReplaced(dependencies, id);
}

async function downgrade(
  dependencies: BillingDependencies,
  session: Session,
  state: StripeState,
  price: Price,
  body: SwitchAsk,
): Promise<Billed<SwitchAnswer>> {
  const { stripe, database, purchases, subscriptions, log, now } = dependencies;
  const { db } = database;
  const open = await purchases.open(session.userId);
  const wasCancelled = isEnding(state) || (open !== null && (await findNote(db, cancelledBeforeKey(open.id))) !== null);
  const purchase = await beginSwitch(dependencies, session, state, price, body);
  // Recorded first: if the downgrade fails, the subscription is canceled again.
  if (wasCancelled) await addNote(db, cancelledBeforeKey(purchase.id), '', now());
  // Choosing a smaller plan reverts a cancellation.
  await resume(stripe, state);
  try {
    const { state: free, replaced } = await releasePublishersSchedule(stripe, state);
    await planSwitch(stripe, purchase.id, free, plannedPrice(price), replaced);
    await clearPlannedSwitch(stripe, free);
  } catch (error) {
    try {
      await cancelAgain(dependencies, purchase.id, state.id);
      // Where the outcome is unknown, the background task finds it. A change that is planned after all is done with the state.
      if (!isUncertain(error)) {
        await subscriptions.reconcile(state.id);
        await giveUpSwitch(dependencies, purchase, state.id);
      }
    } catch (cause) {
      // While Stripe is down, the background task cancels it when it abandons the purchase.
      log.warn({ err: cause, subscription: state.id }, 'What a change of plan has replaced could not be restored yet');
    }
    throw error;
  }
  const stored = await subscriptions.reconcile(state.id);
  if (!stored) return refusal(404, messages.unknownSubscription);
  await purchases.end(db, purchase.id, stored.state.next?.plan === purchase.plan ? 'done' : 'given up');
  return ok(answerOf(stored, 'renewal'));
}
