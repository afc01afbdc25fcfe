/**
 * The tasks of subscriptions, invoices and schedules: trials end, periods are renewed, drafts are finalized after an hour,
 * failed payments are retried, and unpaid first invoices expire.
 */
import type { StripeAccount } from '../core/account.ts';
import type { Invoice, Schedule, StripeObject, Subscription } from '../core/model.ts';
import { addIntervals, boundaryAfter, day, hour } from './calendar.ts';
import { cancelSubscription, collect, expireSubscription, subscriptionOf, voidInvoice } from './collecting.ts';
import { recurring } from './creating.ts';
import { computeTotals, finalize, makeInvoice, periodLine } from './invoicing.ts';
import { applyPause, pauseOf, resume } from './pausing.ts';
import { phaseEnd, startNextPhase } from './scheduling.ts';
import { endTrials, offerEnd } from './trial-offers.ts';

/** Seconds before a renewal at which `invoice.upcoming` is sent. */
const renewalNoticeSeconds = 7 * day;
/** Seconds before the end of a trial at which `customer.subscription.trial_will_end` is sent. */
const trialNoticeSeconds = 3 * day;
const firstPaymentSeconds = 23 * hour;

export interface Task {
  /** Unix seconds. */
  readonly at: number;
  readonly work: () => void;
}

/** Statuses in which a subscription is renewed. */
export const renewingStatuses: readonly string[] = ['trialing', 'active', 'past_due', 'unpaid'];

export const periodEnd = (subscription: Subscription): number =>
  Math.min(...subscription.items.data.map((item) => item.current_period_end));

/** The next task of an object. */
export function nextTask(account: StripeAccount, thing: StripeObject): Task | null {
  if (thing.object === 'subscription') return earliest(subscriptionTasks(account, thing as Subscription));
  if (thing.object === 'invoice') return invoiceTask(account, thing as Invoice);
  if (thing.object === 'subscription_schedule') {
    const schedule = thing as Schedule;
    const at = phaseEnd(schedule);
    return at === null ? null : { at, work: () => startNextPhase(account, schedule) };
  }
  return null;
}

function* subscriptionTasks(account: StripeAccount, subscription: Subscription): Generator<Task> {
  if (subscription.status === 'incomplete') {
    yield { at: subscription.created + firstPaymentSeconds, work: () => expireSubscription(account, subscription) };
    return;
  }
  if (!renewingStatuses.includes(subscription.status)) return;
  const at = periodEnd(subscription);
  const { _announced: announced } = subscription;
  const trialEnd = trialEndOf(subscription);
  if (trialEnd !== null && announced.trial !== trialEnd) {
    yield {
      at: Math.max(trialEnd - trialNoticeSeconds, subscription.created),
      work: () => announceTrialEnd(account, subscription, trialEnd),
    };
  }
  // A subscription that ends on a later day is still billed until then.
  const renews = subscription.cancel_at === null || subscription.cancel_at > at;
  const pause = pauseOf(subscription);
  if (pause && pause.resumes_at !== null) yield { at: pause.resumes_at, work: () => resume(account, subscription) };
  // An invoice that will be voided causes no event.
  if (announced.invoice !== at && renews && pause?.behavior !== 'void') {
    yield {
      at: Math.max(at - renewalNoticeSeconds, subscription.created + 1),
      work: () => announceInvoice(account, subscription, at),
    };
  }
  const pending = subscription.pending_update as { expires_at: number } | null;
  if (pending) yield { at: pending.expires_at, work: () => expirePendingUpdate(account, subscription) };
  const schedule = subscription.schedule ? account.store.find('subscription_schedule', subscription.schedule) : null;
  const phase = schedule ? phaseEnd(schedule) : null;
  if (subscription.cancel_at !== null && !renews) {
    // Its schedule ends the subscription.
    if (phase === subscription.cancel_at) return;
    yield {
      at: subscription.cancel_at,
      work: () => cancelSubscription(account, subscription, 'cancellation_requested'),
    };
    return;
  }
  // A phase that ends with the period ends before the renewal.
  if (phase !== null && phase <= at) return;
  yield { at, work: () => applyPause(account, subscription, renew(account, subscription)) };
}

function invoiceTask(account: StripeAccount, invoice: Invoice): Task | null {
  if (!invoice.auto_advance) return null;
  if (invoice.status === 'draft' && invoice.automatically_finalizes_at !== null) {
    return {
      at: invoice.automatically_finalizes_at,
      work() {
        finalize(account, invoice);
        if (invoice.collection_method === 'send_invoice' && invoice.amount_due > 0) return;
        collect(account, invoice, { offSession: true });
      },
    };
  }
  if (invoice.status === 'open' && invoice.next_payment_attempt !== null) {
    return {
      at: invoice.next_payment_attempt,
      work: () => void collect(account, invoice, { offSession: true, retry: true }),
    };
  }
  const subscription = subscriptionOf(account, invoice);
  const isRunning = subscription?.status === 'active' || subscription?.status === 'trialing';
  if (invoice.status === 'open' && typeof invoice.due_date === 'number' && subscription && isRunning) {
    return { at: invoice.due_date, work: () => markOverdue(account, subscription) };
  }
  return null;
}

/** An invoice by mail that isn't paid by its due date makes its subscription past due (docs.stripe.com/api/subscriptions/object). */
function markOverdue(account: StripeAccount, subscription: Subscription): void {
  account.store.touch(subscription);
  subscription.status = 'past_due';
}

/** The end of the present trial, a free trial or that of an offer. */
const trialEndOf = (subscription: Subscription): number | null =>
  offerEnd(subscription) ?? (subscription.status === 'trialing' ? subscription.trial_end : null);

function announceTrialEnd(account: StripeAccount, subscription: Subscription, end: number): void {
  account.store.touch(subscription);
  subscription._announced = { ...subscription._announced, trial: end };
  account.emit('customer.subscription.trial_will_end', subscription);
}

function announceInvoice(account: StripeAccount, subscription: Subscription, at: number): void {
  const upcoming = account.dryRun((): StripeObject | null => {
    const invoice = nextInvoice(account, subscription);
    if (!invoice) return null;
    const upcomingOnly = { id: `upcoming_${invoice.id}`, billing_reason: 'upcoming', automatically_finalizes_at: null };
    return { ...(account.present(invoice) as unknown as StripeObject), ...upcomingOnly };
  });
  account.store.touch(subscription);
  subscription._announced = { ...subscription._announced, invoice: at };
  if (upcoming) account.emit('invoice.upcoming', upcoming);
}

/**
 * The invoice of the next renewal, with what a schedule changes at that moment (docs.stripe.com/api/invoices/create_preview).
 * It renews the subscription: call it in `account.dryRun`. `null` if nothing will be charged.
 */
export function nextInvoice(account: StripeAccount, subscription: Subscription): Invoice | null {
  const at = periodEnd(subscription);
  return account.atTime(subscription.test_clock ?? '', at, () => {
    const schedule = subscription.schedule ? account.store.find('subscription_schedule', subscription.schedule) : null;
    const phase = schedule ? phaseEnd(schedule) : null;
    if (schedule && phase !== null && phase <= at) startNextPhase(account, schedule);
    const invoice = renew(account, subscription);
    if (!invoice) return null;
    computeTotals(account, invoice);
    return invoice;
  });
}

function expirePendingUpdate(account: StripeAccount, subscription: Subscription): void {
  const pending = subscription._pending as { invoice: string } | undefined;
  account.store.touch(subscription);
  subscription.pending_update = null;
  delete subscription._pending;
  const invoice = pending && account.store.find('invoice', pending.invoice);
  if (invoice?.status === 'open') voidInvoice(account, invoice);
  account.emit('customer.subscription.pending_update_expired', subscription);
}

/** Begins the next period; its invoice is a draft for an hour. */
function renew(account: StripeAccount, subscription: Subscription): Invoice | null {
  const customer = account.need('customer', subscription.customer);
  const start = periodEnd(subscription);
  const [first] = subscription.items.data;
  const periodStart = first?.current_period_start ?? start;
  account.store.touch(subscription);
  const trialEnds = subscription.status === 'trialing' || (offerEnd(subscription) ?? start + 1) <= start;
  if (trialEnds) {
    const card = subscription.default_payment_method ?? customer.invoice_settings.default_payment_method;
    const missingPaymentMethod = subscription.trial_settings.end_behavior.missing_payment_method;
    if (!card && missingPaymentMethod === 'cancel') {
      cancelSubscription(account, subscription, 'cancellation_requested');
      return null;
    }
    if (!card && missingPaymentMethod === 'pause') {
      subscription.status = 'paused';
      account.emit('customer.subscription.paused', subscription);
      return null;
    }
    if (subscription.status === 'trialing') subscription.status = 'active';
  }
  endTrials(account, subscription, start);
  for (const item of subscription.items.data) {
    if (item.current_period_end > start) continue;
    const cycle = recurring(account.need('price', item.price));
    item.current_period_start = start;
    item.current_period_end =
      subscription.billing_cycle_anchor === start
        ? addIntervals(start, cycle)
        : boundaryAfter(subscription.billing_cycle_anchor, cycle, start);
    item._billed = null;
  }
  const lines = subscription.items.data
    .filter((item) => item.current_period_start === start)
    .map((item) => periodLine(account, subscription, item, { start, end: item.current_period_end, trial: false }));
  const invoice = makeInvoice(account, {
    customer,
    subscription,
    lines,
    periodStart,
    periodEnd: start,
    reason: 'subscription_cycle',
  });
  // An unpaid subscription gets invoices without collection.
  if (subscription.status === 'unpaid') invoice.auto_advance = false;
  return invoice;
}

function earliest(tasks: Iterable<Task>): Task | null {
  let first: Task | null = null;
  for (const task of tasks) if (!first || task.at < first.at) first = task;
  return first;
}
