/** Updates of a subscription: its price, its quantity or its trial, with their prorations. */

import type { StripeAccount } from '../core/account.ts';
import { invalid } from '../core/errors.ts';
import type { Invoice, Line, Price, Subscription, SubscriptionItem } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { addIntervals, periodAround, shortDate } from './calendar.ts';
import { collect, invoicePaymentError } from './collecting.ts';
import { makeItem, type PaymentBehavior, recurring, sendsInvoices } from './creating.ts';
import { amountIn } from './currencies.ts';
import { activeDiscounts, applyDiscounts, net, round } from './discounts.ts';
import { addInvoiceItem, finalize, makeInvoice, periodLine } from './invoicing.ts';
import { offerEnd } from './trial-offers.ts';

export interface ItemChange {
  readonly id?: string | null | undefined;
  readonly price?: Price | undefined;
  readonly quantity?: number | undefined;
  readonly deleted?: boolean | undefined;
}

export interface SubscriptionChange {
  readonly items?: readonly ItemChange[] | undefined;
  readonly proration: 'create_prorations' | 'always_invoice' | 'none';
  /** Moment from which prorations are computed, Unix seconds. */
  readonly prorationDate?: number | null | undefined;
  /** The end of the trial, or `now` to end it at once. */
  readonly trialEnd?: number | 'now' | undefined;
  /** Whether a new billing period begins now. */
  readonly restart?: boolean | undefined;
}

/**
 * Applies a change.
 *
 * @returns the invoice that is due at once, a draft, or `null`
 * @throws {ApiError} 400 for another subscription's items and for a moment outside the period
 */
export function changeSubscription(
  account: StripeAccount,
  subscription: Subscription,
  requested: SubscriptionChange,
): Invoice | null {
  const now = account.now(subscription);
  const customer = account.need('customer', subscription.customer);
  const inTrial = subscription.trial_end !== null && now < subscription.trial_end;
  const endsTrial = inTrial && requested.trialEnd === 'now';
  const inFreeTrial = inTrial && !endsTrial;
  const at = requested.prorationDate ?? now;
  if (requested.trialEnd !== undefined && offerEnd(subscription) !== null) {
    throw invalid("You can't use trial offers and `trial_end` together.", 'trial_end');
  }
  account.store.touch(subscription);
  const [first] = subscription.items.data;
  if (first && (at < first.current_period_start || at > first.current_period_end)) {
    throw invalid('Cannot specify `proration_date` outside of current subscription period.', 'proration_date');
  }
  const prorates = requested.proration !== 'none' && !inFreeTrial && !endsTrial;
  const charges: (() => void)[] = [];
  for (const [index, itemChange] of (requested.items ?? []).entries()) {
    const item = itemFor(account, subscription, itemChange);
    const before = account.need('price', item.price);
    const after = itemChange.price ?? before;
    if (after !== before && !after.active) {
      throw invalid('The price specified is inactive. This field only accepts active prices.', 'items[0][price]');
    }
    amountIn(after, subscription.currency, `items[${index}][price]`);
    const quantity = itemChange.quantity ?? item.quantity;
    if (after === before && quantity === item.quantity && !itemChange.deleted && item._billed) continue;
    if (prorates) creditUnusedTime(account, subscription, item, at);
    // The declarations offer no other way to end an offer's trial than a new price for the item.
    if (itemChange.price) item.current_trial = null;
    item.price = after.id;
    item.quantity = quantity;
    if (itemChange.deleted) {
      subscription.items.data = subscription.items.data.filter((one) => one !== item);
      continue;
    }
    if (prorates) charges.push(() => chargeRemainingTime(account, subscription, item, at));
    const [oldCycle, newCycle] = [recurring(before), recurring(after)];
    if (oldCycle.interval === newCycle.interval && oldCycle.interval_count === newCycle.interval_count) continue;
    // In flexible billing mode the anchor stays unless the call moves it (docs.stripe.com/billing/subscriptions/billing-mode/compare).
    const period = periodAround(subscription.billing_cycle_anchor, newCycle, at);
    if (!inFreeTrial) Object.assign(item, { current_period_start: period.start, current_period_end: period.end });
  }
  if (subscription.items.data.length === 0) {
    throw invalid('A subscription must have at least one active plan.', 'items', 'subscription_item_required');
  }
  if (typeof requested.trialEnd === 'number') return extendTrial(account, subscription, requested.trialEnd);

  if (!inFreeTrial && (requested.restart || endsTrial)) {
    // Unchanged items are credited for their unused time, too, because their period starts again.
    if (prorates)
      for (const item of subscription.items.data) if (item._billed) creditUnusedTime(account, subscription, item, at);
    return restart(account, subscription, at);
  }
  for (const charge of charges) charge();
  if (requested.proration !== 'always_invoice' || charges.length === 0) return null;
  return makeInvoice(account, { customer, subscription, reason: 'subscription_update', prorationDate: at });
}

function itemFor(account: StripeAccount, subscription: Subscription, requested: ItemChange): SubscriptionItem {
  const { data } = subscription.items;
  const found = requested.id ? data.find(({ id }) => id === requested.id) : undefined;
  if (found) return found;
  if (requested.id) throw invalid(`No such subscription item: '${requested.id}'`, 'items[0][id]', 'resource_missing');
  if (!requested.price)
    throw invalid('Missing required param: items[0][price].', 'items[0][price]', 'parameter_missing');
  if (data.some(({ price }) => price === requested.price?.id)) {
    throw invalid(
      `Price \`${requested.price.id}\` is already being used on an existing Subscription Item.`,
      'items[0][price]',
    );
  }
  const now = account.now(subscription);
  const end = data[0]?.current_period_end ?? addIntervals(now, recurring(requested.price));
  const item = makeItem(subscription.id, requested.price, requested.quantity ?? 1, now, end);
  data.push(item);
  return item;
}

/**
 * Credits the unused time of an item's last debit from `moment` on, to the second. The item's present price makes no difference
 * (docs.stripe.com/billing/subscriptions/prorations#credit-prorations, flexible billing mode).
 */
export function creditUnusedTime(
  account: StripeAccount,
  subscription: Subscription,
  item: SubscriptionItem,
  moment: number,
): void {
  const billed = item._billed;
  if (!billed || billed.amount <= 0 || moment >= billed.end) return;
  // A date before the debit credits no more than was debited.
  const at = Math.max(moment, billed.start);
  const price = account.need('price', billed.price);
  const product = account.store.find('product', price.product);
  const amount = round((billed.amount * (billed.end - at)) / (billed.end - billed.start));
  item._billed = null;
  if (amount === 0) return;
  addInvoiceItem(account, {
    customer: subscription.customer,
    amount: -amount,
    currency: subscription.currency,
    quantity: item.quantity,
    description: `Unused time on ${item.quantity > 1 ? `${item.quantity} × ` : ''}${product?.name} after ${shortDate(at)}`,
    discountable: false,
    proration: true,
    period: { start: at, end: billed.end },
    _subscription: subscription.id,
    _item: item.id,
    _price: price.id,
    _product: price.product,
    _credited: { invoice: billed.invoice, line: billed.line },
  });
}

function chargeRemainingTime(
  account: StripeAccount,
  subscription: Subscription,
  item: SubscriptionItem,
  at: number,
): void {
  const price = account.need('price', item.price);
  const product = account.store.find('product', price.product);
  const { current_period_start: start, current_period_end: end } = item;
  if (at >= end) return;
  const { currency } = subscription;
  const amount = round((priceAfterDiscounts(account, subscription, item) * (end - at)) / (end - start));
  const charged = addInvoiceItem(account, {
    customer: subscription.customer,
    amount,
    currency,
    quantity: item.quantity,
    description: `Remaining time on ${item.quantity > 1 ? `${item.quantity} × ` : ''}${product?.name} after ${shortDate(at)}`,
    discountable: false,
    proration: true,
    period: { start: at, end },
    _subscription: subscription.id,
    _item: item.id,
    _price: price.id,
    _product: price.product,
  });
  item._billed = { amount, price: price.id, start: at, end, invoice: '', line: charged.id };
}

/**
 * What a whole period of an item costs after its share of the subscription's discounts. Proration items are not discountable: their
 * amounts include the discounts (docs.stripe.com/billing/subscriptions/prorations#prorations-and-discounts).
 */
function priceAfterDiscounts(account: StripeAccount, subscription: Subscription, item: SubscriptionItem): number {
  const lines = subscription.items.data.map((one) => {
    const { current_period_start: start, current_period_end: end } = one;
    return periodLine(account, subscription, one, { start, end, trial: false }) as Line;
  });
  applyDiscounts(account, lines, activeDiscounts(account, subscription.discounts, account.now(subscription)));
  const own = lines.find(({ _item }) => _item === item.id);
  return own ? net(own) : 0;
}

/** Begins a new period now, which is charged at once. @param prorationDate moment from which unused time is credited */
function restart(account: StripeAccount, subscription: Subscription, prorationDate: number): Invoice {
  const at = account.now(subscription);
  const customer = account.need('customer', subscription.customer);
  if (subscription.trial_end !== null && at < subscription.trial_end) subscription.trial_end = at;
  if (subscription.status === 'trialing') subscription.status = 'active';
  subscription.billing_cycle_anchor = at;
  for (const item of subscription.items.data) {
    const price = account.need('price', item.price);
    item.current_period_start = at;
    item.current_period_end = addIntervals(at, recurring(price));
    item._billed = null;
  }
  const lines = subscription.items.data.map((item) =>
    periodLine(account, subscription, item, { start: at, end: item.current_period_end, trial: false }),
  );
  if (subscription.cancel_at_period_end) {
    subscription.cancel_at = Math.min(...subscription.items.data.map((item) => item.current_period_end));
  }
  return makeInvoice(account, { customer, subscription, reason: 'subscription_update', lines, prorationDate });
}

function extendTrial(account: StripeAccount, subscription: Subscription, end: number): null {
  const now = account.now(subscription);
  subscription.trial_start ??= now;
  subscription.trial_end = end;
  subscription.billing_cycle_anchor = end;
  subscription.status = subscription.status === 'incomplete' ? 'incomplete' : 'trialing';
  for (const item of subscription.items.data) item.current_period_end = end;
  return null;
}

/** The fields of a subscription that a change can affect. */
const changeable = [
  'billing_cycle_anchor',
  'discounts',
  'items',
  'status',
  'trial_end',
  'trial_start',
  'cancel_at',
] as const;
export type Snapshot = Pick<Subscription, (typeof changeable)[number]>;
export const snapshot = (subscription: Subscription): Snapshot =>
  structuredClone(Object.fromEntries(changeable.map((field) => [field, subscription[field]]))) as Snapshot;

/** Collects the invoice of a change, as `payment_behavior` says. */
export function collectChangeInvoice(
  account: StripeAccount,
  subscription: Subscription,
  invoice: Invoice,
  options: { behavior: PaymentBehavior; offSession: boolean; snapshot: Snapshot },
): void {
  finalize(account, invoice);
  const { behavior } = options;
  if (sendsInvoices(subscription) && invoice.amount_due > 0) return;
  if (invoice.amount_due > 0 && behavior === 'default_incomplete') {
    subscription.status = 'past_due';
    return;
  }
  const outcome = collect(account, invoice, options);
  if (outcome === 'succeeded') return;
  if (behavior === 'error_if_incomplete') throw invoicePaymentError(account, invoice, false);
  if (behavior === 'pending_if_incomplete') makePendingUpdate(account, subscription, invoice, options.snapshot);
  else if (subscription.status === 'active' || subscription.status === 'trialing') subscription.status = 'past_due';
}

/** A pending update expires after this time, or at the end of the trial or the period if that comes first. */
const pendingUpdateSeconds = 23 * 3600;

/** Parameters that a pending update may have (docs.stripe.com/billing/subscriptions/pending-updates). */
const pendingUpdateParameters = [
  ...['expand', 'payment_behavior', 'proration_behavior', 'proration_date', 'billing_cycle_anchor', 'items'],
  ...['trial_end', 'trial_from_plan', 'add_invoice_items', 'metadata', 'discounts', 'cancel_at_period_end'],
];

/** The text of this error isn't published anywhere. @throws {ApiError} 400 */
export function checkPendingUpdateParams(subscription: Subscription, params: Params): void {
  if (sendsInvoices(subscription)) {
    throw invalid(
      '`payment_behavior=pending_if_incomplete` is only supported with `collection_method=charge_automatically`.',
      'payment_behavior',
    );
  }
  const other = params.keys().find((name) => !pendingUpdateParameters.includes(name));
  if (other !== undefined)
    throw invalid(`You cannot pass ${other} with \`payment_behavior=pending_if_incomplete\`.`, other);
}

/**
 * Restores the subscription and stores the change as a pending update until the invoice is paid
 * (docs.stripe.com/billing/subscriptions/pending-updates).
 */
function makePendingUpdate(
  account: StripeAccount,
  subscription: Subscription,
  invoice: Invoice,
  previous: Snapshot,
): void {
  const after = snapshot(subscription);
  Object.assign(subscription, previous);
  const status = previous.status;
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  account.store.touch(invoice);
  subscription._pending = { invoice: invoice.id, after: { ...after, status } };
  subscription.pending_update = {
    billing_cycle_anchor: after.billing_cycle_anchor,
    cancel_at_period_end: null,
    discount: null,
    discounts: null,
    expires_at: Math.min(
      account.now(subscription) + pendingUpdateSeconds,
      subscription.status === 'trialing'
        ? (subscription.trial_end ?? Number.POSITIVE_INFINITY)
        : Number.POSITIVE_INFINITY,
      ...subscription.items.data.map((item) => item.current_period_end),
    ),
    metadata: null,
    subscription_items: after.items.data,
    trial_end: after.trial_end,
    trial_from_plan: null,
  };
}
