/** Collects invoices that are due: charges, retries, and the consequences for the subscription. */

import type { StripeAccount } from '../core/account.ts';
import { ApiError, cardError, invalid } from '../core/errors.ts';
import type { CardProblem, Invoice, PaymentIntent, PaymentMethod, Subscription } from '../core/model.ts';
import { cancelIntent, confirmPayment, type Outcome } from '../payments/intents.ts';
import { day } from './calendar.ts';

/** Days from one failed attempt to the next; after the last of them the subscription is canceled by default. */
const retryDays = [3, 5, 7] as const;

export const subscriptionOf = (account: StripeAccount, invoice: Invoice): Subscription | undefined =>
  account.store.find('subscription', invoice.parent?.subscription_details.subscription ?? '');

/** The card that is charged when none is named. */
export function methodFor(account: StripeAccount, invoice: Invoice): PaymentMethod | null {
  const customer = account.need('customer', invoice.customer);
  const id =
    invoice.default_payment_method ??
    subscriptionOf(account, invoice)?.default_payment_method ??
    customer.invoice_settings.default_payment_method;
  return (id && account.store.find('payment_method', id)) || null;
}

export interface Attempt {
  readonly method?: PaymentMethod | null;
  readonly offSession: boolean;
  /** Whether this attempt is a scheduled retry, not a manual one. */
  readonly retry?: boolean;
}

/** Charges an open invoice; a missing card counts as a failure. */
export function collect(
  account: StripeAccount,
  invoice: Invoice,
  { method, offSession, retry = false }: Attempt,
): Outcome {
  if (invoice.amount_due === 0) {
    markPaid(account, invoice);
    return 'succeeded';
  }
  const intent = account.need('payment_intent', invoice._intent ?? '');
  const card = method ?? methodFor(account, invoice);
  const outcome = card ? confirmPayment(account, intent, { method: card, offSession }) : 'failed';
  afterAttempt(account, intent, outcome, { offSession, retry });
  return outcome;
}

/**
 * Records the result of an intent's payment on its invoice.
 *
 * @param offSession whether the customer is absent: then a payment that requires authentication fails
 * @param retry see {@link Attempt}
 */
export function afterAttempt(
  account: StripeAccount,
  intent: PaymentIntent,
  outcome: Outcome,
  { offSession = false, retry = false } = {},
): void {
  const invoice = intent._invoice ? account.store.find('invoice', intent._invoice) : undefined;
  if (invoice?.status !== 'open' && invoice?.status !== 'uncollectible') return;
  if (outcome === 'succeeded') {
    markPaid(account, invoice, intent);
    return;
  }
  account.store.touch(invoice);
  invoice.attempted = true;
  if (outcome === 'requires_action') {
    account.emit('invoice.payment_action_required', invoice);
    if (!offSession) return;
  }
  recordFailure(account, invoice, retry);
}

function markPaid(account: StripeAccount, invoice: Invoice, intent?: PaymentIntent): void {
  const now = account.now(invoice);
  account.store.touch(invoice);
  invoice.status = 'paid';
  invoice.attempted = true;
  if (intent) invoice.attempt_count += 1;
  invoice.amount_paid = invoice.amount_due;
  invoice.amount_remaining = 0;
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions = { ...invoice.status_transitions, paid_at: now };
  const payment = [...account.store.all('invoice_payment')].find(
    (one) => one.invoice === invoice.id && one.status === 'open',
  );
  if (payment) {
    payment.status = 'paid';
    payment.amount_paid = invoice.amount_due;
    payment.status_transitions = { ...payment.status_transitions, paid_at: now };
    account.store.touch(payment);
  }
  const subscription = subscriptionOf(account, invoice);
  if (subscription) {
    account.store.touch(subscription);
    if (intent?.payment_method && subscription.payment_settings.save_default_payment_method === 'on_subscription') {
      subscription.default_payment_method = intent.payment_method;
    }
    applyPendingUpdate(account, subscription, invoice);
    reactivateIfPaid(account, subscription);
  }
  account.emit('invoice.paid', invoice);
  account.emit('invoice.payment_succeeded', invoice);
  if (payment) account.emit('invoice_payment.paid', payment);
}

/** Marks an invoice as paid outside of Stripe. Its payment is canceled, so that the customer isn't charged as well. */
export function payOutOfBand(account: StripeAccount, invoice: Invoice): void {
  cancelPayment(account, invoice, null);
  invoice.amount_paid_off_stripe = invoice.amount_due;
  markPaid(account, invoice);
}

/** Makes an incomplete, past due or unpaid subscription active again once it has no open invoice. */
export function reactivateIfPaid(account: StripeAccount, subscription: Subscription): void {
  if (!['incomplete', 'past_due', 'unpaid'].includes(subscription.status)) return;
  const hasOpenInvoice = [...account.store.all('invoice')].some(
    (invoice) => invoice.status === 'open' && subscriptionOf(account, invoice) === subscription,
  );
  if (hasOpenInvoice) return;
  const trial = subscription.trial_end !== null && account.now(subscription) < subscription.trial_end;
  subscription.status = trial ? 'trialing' : 'active';
}

/** Applies a pending update that this invoice pays for. */
function applyPendingUpdate(account: StripeAccount, subscription: Subscription, invoice: Invoice): void {
  const pending = subscription._pending as { invoice: string; after: Partial<Subscription> } | undefined;
  if (pending?.invoice !== invoice.id) return;
  Object.assign(subscription, structuredClone(pending.after), { pending_update: null });
  delete subscription._pending;
  account.emit('customer.subscription.pending_update_applied', subscription);
}

function recordFailure(account: StripeAccount, invoice: Invoice, retry: boolean): void {
  const subscription = subscriptionOf(account, invoice);
  const now = account.now(invoice);
  // After the first attempt only scheduled retries count (docs.stripe.com/api/invoices, `attempt_count`).
  if (invoice.attempt_count > 0 && !retry) {
    account.emit('invoice.payment_failed', invoice);
    return;
  }
  invoice.attempt_count += 1;
  invoice.attempted = true;
  if (subscription && invoice.billing_reason !== 'subscription_create') {
    account.store.touch(subscription);
    if (['active', 'trialing'].includes(subscription.status)) subscription.status = 'past_due';
    const wait = retryDays[invoice.attempt_count - 1];
    invoice.next_payment_attempt = invoice.auto_advance && wait !== undefined ? now + wait * day : null;
    account.emit('invoice.payment_failed', invoice);
    if (wait === undefined && subscription.status === 'past_due') endRetries(account, subscription, invoice);
    return;
  }
  account.emit('invoice.payment_failed', invoice);
}

/** Called after the last failed attempt: the account's settings decide what happens (`/_sandbox/settings`). */
function endRetries(account: StripeAccount, subscription: Subscription, invoice: Invoice): void {
  const after = account.store.find('setting', 'billing')?.afterLastRetry ?? 'cancel';
  invoice.auto_advance = false;
  if (after === 'unpaid') subscription.status = 'unpaid';
  else if (after === 'cancel') cancelSubscription(account, subscription, 'payment_failed');
}

/** Cancels a subscription now, without a refund. */
export function cancelSubscription(account: StripeAccount, subscription: Subscription, reason: string): void {
  const now = account.now(subscription);
  account.store.touch(subscription);
  subscription.status = 'canceled';
  subscription.ended_at = now;
  subscription.canceled_at ??= now;
  subscription.cancellation_details = {
    ...subscription.cancellation_details,
    reason: subscription.cancellation_details.reason ?? reason,
  };
  const schedule = subscription.schedule ? account.store.find('subscription_schedule', subscription.schedule) : null;
  if (schedule && schedule.status === 'active') {
    schedule.status = 'canceled';
    schedule.canceled_at = now;
    account.store.touch(schedule);
  }
  for (const invoice of account.store.all('invoice')) {
    if (subscriptionOf(account, invoice) !== subscription) continue;
    // Drafts stay drafts and open invoices stay open, without collection.
    if (invoice.status === 'draft' || invoice.status === 'open') {
      invoice.auto_advance = false;
      invoice.next_payment_attempt = null;
      account.store.touch(invoice);
    }
  }
  account.emit('customer.subscription.deleted', subscription);
}

export function voidInvoice(account: StripeAccount, invoice: Invoice): void {
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
    throw invalid(`You can only pass in open invoices. This invoice isn't open.`, undefined, 'invoice_not_editable');
  }
  account.store.touch(invoice);
  invoice.status = 'void';
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.amount_remaining = invoice.amount_due;
  invoice.status_transitions = { ...invoice.status_transitions, voided_at: account.now(invoice) };
  cancelPayment(account, invoice, 'void_invoice');
  returnBalance(account, invoice);
  account.emit('invoice.voided', invoice);
  const subscription = subscriptionOf(account, invoice);
  // Without its first invoice a subscription never begins.
  if (subscription?.status === 'incomplete') expireSubscription(account, subscription);
  else if (subscription) {
    account.store.touch(subscription);
    reactivateIfPaid(account, subscription);
    // Voiding its invoice also discards a pending update (docs.stripe.com/billing/subscriptions/pending-updates).
    if ((subscription._pending as { invoice: string } | undefined)?.invoice === invoice.id) {
      subscription.pending_update = null;
      delete subscription._pending;
    }
  }
}

/** Returns the customer's balance that was applied to an invoice (docs.stripe.com/changelog/2019-12-03). */
function returnBalance(account: StripeAccount, invoice: Invoice): void {
  const customer = account.store.find('customer', invoice.customer);
  const applied = (invoice.ending_balance ?? invoice.starting_balance) - invoice.starting_balance;
  if (!customer || applied === 0) return;
  customer.balance -= applied;
  account.store.touch(customer);
}

/** Cancels the open payment of an invoice and its payment intent. */
function cancelPayment(account: StripeAccount, invoice: Invoice, reason: string | null): void {
  const intent = invoice._intent ? account.store.find('payment_intent', invoice._intent) : null;
  if (intent && intent.status !== 'succeeded' && intent.status !== 'canceled') cancelIntent(account, intent, reason);
  for (const payment of account.store.all('invoice_payment')) {
    if (payment.invoice !== invoice.id || payment.status !== 'open') continue;
    payment.status = 'canceled';
    payment.status_transitions = { ...payment.status_transitions, canceled_at: account.now(invoice) };
    account.store.touch(payment);
  }
}

/**
 * Discards a pending update and voids its invoice, as a later update or the next phase of a schedule does
 * (docs.stripe.com/billing/subscriptions/pending-updates).
 */
export function discardPendingUpdate(account: StripeAccount, subscription: Subscription): void {
  const pending = subscription._pending as { invoice: string } | undefined;
  if (!pending) return;
  const invoice = account.store.find('invoice', pending.invoice);
  if (invoice?.status === 'open') voidInvoice(account, invoice);
}

/** Called when the first invoice was not paid in time. */
export function expireSubscription(account: StripeAccount, subscription: Subscription): void {
  account.store.touch(subscription);
  subscription.status = 'incomplete_expired';
  subscription.ended_at = account.now(subscription);
  for (const invoice of account.store.all('invoice')) {
    if (invoice.status === 'open' && subscriptionOf(account, invoice) === subscription) voidInvoice(account, invoice);
  }
}

/** The error for an invoice that could not be paid: 402 with the bank's reason, or 400 without a card. */
export function invoicePaymentError(account: StripeAccount, invoice: Invoice, commits = true): ApiError {
  const intent = invoice._intent ? account.store.find('payment_intent', invoice._intent) : null;
  if (intent?.status === 'requires_action') {
    return cardError(
      {
        type: 'card_error',
        code: 'invoice_payment_intent_requires_action',
        message: 'This payment requires additional user action before it can be completed successfully.',
      },
      { payment_intent: account.present(intent) },
      commits,
    );
  }
  const problem: CardProblem | null = intent?.last_payment_error ?? null;
  if (!problem) {
    return new ApiError(
      400,
      {
        type: 'invalid_request_error',
        code: 'resource_missing',
        message:
          'This customer has no attached payment source or default payment method. Please consider adding a default payment method. For more information, visit https://stripe.com/docs/billing/subscriptions/payment-methods-setting#payment-method-priority.',
      },
      commits,
    );
  }
  return cardError(problem, { payment_intent: intent && account.present(intent) }, commits);
}
