/** Changes of a subscription: another price, another quantity, the end of a trial, and what they cost. */

import type { StripeAccount } from '../core/account.ts';
import { invalid } from '../core/errors.ts';
import type { Invoice, Line, Price, Subscription, SubscriptionItem } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { addIntervals, periodAround, shortDate } from './calendar.ts';
import { collect, refusal } from './collecting.ts';
import { isByInvoice, makeItem, type PaymentBehavior, recurring } from './creating.ts';
import { amountIn } from './currencies.ts';
import { activeDiscounts, applyDiscounts, net, round } from './discounts.ts';
import { addItem, finalize, makeInvoice, periodLine } from './invoicing.ts';
import { offerEnd } from './trial-offers.ts';

export interface ItemChange {
  readonly id?: string | null | undefined;
  readonly price?: Price | undefined;
  readonly quantity?: number | undefined;
  readonly deleted?: boolean | undefined;
}

export interface Change {
  readonly items?: readonly ItemChange[] | undefined;
  readonly proration: 'create_prorations' | 'always_invoice' | 'none';
  /** Moment from which prorations are computed, Unix seconds. */
  readonly prorationDate?: number | null | undefined;
  /** The end of the trial, or `now` to end it at once. */
  readonly trialEnd?: number | 'now' | undefined;
  /** Begins a new period now. */
  readonly restart?: boolean | undefined;
}

/**
 * Applies a change.
 *
 * @returns the invoice that is due at once, a draft, or `null`
 * @throws {ApiError} 400 for another subscription's items and for a moment outside the period
 */
export function change(account: StripeAccount, subscription: Subscription, wanted: Change): Invoice | null {
  const now = account.now(subscription);
  const customer = account.need('customer', subscription.customer);
  const inTrial = subscription.trial_end !== null && now < subscription.trial_end;
  const endsTrial = inTrial && wanted.trialEnd === 'now';
  const free = inTrial && !endsTrial;
  const at = wanted.prorationDate ?? now;
  if (wanted.trialEnd !== undefined && offerEnd(subscription) !== null) {
    throw invalid("You can't use trial offers and `trial_end` together.", 'trial_end');
  }
  account.store.touch(subscription);
  const [first] = subscription.items.data;
  if (first && (at < first.current_period_start || at > first.current_period_end)) {
    throw invalid('Cannot specify `proration_date` outside of current subscription period.', 'proration_date');
  }
  const prorates = wanted.proration !== 'none' && !free && !endsTrial;
  const charges: (() => void)[] = [];
  for (const [index, asked] of (wanted.items ?? []).entries()) {
    const item = itemFor(account, subscription, asked);
    const before = account.need('price', item.price);
    const after = asked.price ?? before;
    if (after !== before && !after.active) {
      throw invalid('The price specified is inactive. This field only accepts active prices.', 'items[0][price]');
    }
    amountIn(after, subscription.currency, `items[${index}][price]`);
    const quantity = asked.quantity ?? item.quantity;
    if (after === before && quantity === item.quantity && !asked.deleted && item._billed) continue;
    if (prorates) credit(account, subscription, item, at);
    // The declarations offer no other way to end an offer's trial than a new price for the item.
    if (asked.price) item.current_trial = null;
    item.price = after.id;
    item.quantity = quantity;
    if (asked.deleted) {
      subscription.items.data = subscription.items.data.filter((one) => one !== item);
      continue;
    }
    if (prorates) charges.push(() => chargeRest(account, subscription, item, at));
    const [old, young] = [recurring(before), recurring(after)];
    if (old.interval === young.interval && old.interval_count === young.interval_count) continue;
    // In flexible billing mode the anchor stays unless the call moves it (docs.stripe.com/billing/subscriptions/billing-mode/compare).
    const period = periodAround(subscription.billing_cycle_anchor, young, at);
    if (!free) Object.assign(item, { current_period_start: period.start, current_period_end: period.end });
  }
  if (subscription.items.data.length === 0) {
    throw invalid('A subscription must have at least one active plan.', 'items', 'subscription_item_required');
  }
  if (typeof wanted.trialEnd === 'number') return extendTrial(account, subscription, wanted.trialEnd);

  if (!free && (wanted.restart || endsTrial)) {
    // Unchanged items are credited for their unused time, too, because their period starts again.
    if (prorates) for (const item of subscription.items.data) if (item._billed) credit(account, subscription, item, at);
    return restart(account, subscription, at);
  }
  for (const charge of charges) charge();
  if (wanted.proration !== 'always_invoice' || charges.length === 0) return null;
  return makeInvoice(account, { customer, subscription, reason: 'subscription_update', prorationDate: at });
}

function itemFor(account: StripeAccount, subscription: Subscription, asked: ItemChange): SubscriptionItem {
  const { data } = subscription.items;
  const found = asked.id ? data.find(({ id }) => id === asked.id) : undefined;
  if (found) return found;
  if (asked.id) throw invalid(`No such subscription item: '${asked.id}'`, 'items[0][id]', 'resource_missing');
  if (!asked.price) throw invalid('Missing required param: items[0][price].', 'items[0][price]', 'parameter_missing');
  if (data.some(({ price }) => price === asked.price?.id)) {
    throw invalid(
      `Price \`${asked.price.id}\` is already being used on an existing Subscription Item.`,
      'items[0][price]',
    );
  }
  const now = account.now(subscription);
  const end = data[0]?.current_period_end ?? addIntervals(now, recurring(asked.price));
  const item = makeItem(subscription.id, asked.price, asked.quantity ?? 1, now, end);
  data.push(item);
  return item;
}

/**
 * Credits the unused time of an item's last debit from `moment` on, to the second. The item's present price makes no difference
 * (docs.stripe.com/billing/subscriptions/prorations#credit-prorations, flexible billing mode).
 */
export function credit(
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
  addItem(account, {
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

function chargeRest(account: StripeAccount, subscription: Subscription, item: SubscriptionItem, at: number): void {
  const price = account.need('price', item.price);
  const product = account.store.find('product', price.product);
  const { current_period_start: start, current_period_end: end } = item;
  if (at >= end) return;
  const { currency } = subscription;
  const amount = round((priceAfterDiscounts(account, subscription, item) * (end - at)) / (end - start));
  const charged = addItem(account, {
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
  const whole = subscription.items.data.map((one) => {
    const { current_period_start: start, current_period_end: end } = one;
    return periodLine(account, subscription, one, { start, end, trial: false }) as Line;
  });
  applyDiscounts(account, whole, activeDiscounts(account, subscription.discounts, account.now(subscription)));
  const own = whole.find(({ _item }) => _item === item.id);
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
export type Before = Pick<Subscription, (typeof changeable)[number]>;
export const before = (subscription: Subscription): Before =>
  structuredClone(Object.fromEntries(changeable.map((field) => [field, subscription[field]]))) as Before;

/** Collects the invoice of a change, as `payment_behavior` says. */
export function settleChange(
  account: StripeAccount,
  subscription: Subscription,
  invoice: Invoice,
  how: { behavior: PaymentBehavior; offSession: boolean; before: Before },
): void {
  finalize(account, invoice);
  const { behavior } = how;
  if (isByInvoice(subscription) && invoice.amount_due > 0) return;
  if (invoice.amount_due > 0 && behavior === 'default_incomplete') {
    subscription.status = 'past_due';
    return;
  }
  const outcome = collect(account, invoice, how);
  if (outcome === 'succeeded') return;
  if (behavior === 'error_if_incomplete') throw refusal(account, invoice, false);
  if (behavior === 'pending_if_incomplete') postpone(account, subscription, invoice, how.before);
  else if (subscription.status === 'active' || subscription.status === 'trialing') subscription.status = 'past_due';
}

/** How long a change waits for its payment at most; it ends with the trial or the period if that comes first. */
const pendingPaymentSeconds = 23 * 3600;

/** Parameters that a change waiting for its payment may have (docs.stripe.com/billing/subscriptions/pending-updates). */
const pendingUpdateParameters = [
  ...['expand', 'payment_behavior', 'proration_behavior', 'proration_date', 'billing_cycle_anchor', 'items'],
  ...['trial_end', 'trial_from_plan', 'add_invoice_items', 'metadata', 'discounts', 'cancel_at_period_end'],
];

/** The text of this error isn't published anywhere. @throws {ApiError} 400 */
export function refuseUnlessMayWait(subscription: Subscription, params: Params): void {
  if (isByInvoice(subscription)) {
    throw invalid(
      '`payment_behavior=pending_if_incomplete` is only supported with `collection_method=charge_automatically`.',
      'payment_behavior',
    );
  }
  const other = params.keys().find((name) => !pendingUpdateParameters.includes(name));
  if (other !== undefined)
    throw invalid(`You cannot pass ${other} with \`payment_behavior=pending_if_incomplete\`.`, other);
}

/** Leaves everything as it was until the invoice is paid (docs.stripe.com/billing/subscriptions/pending-updates). */
function postpone(account: StripeAccount, subscription: Subscription, invoice: Invoice, old: Before): void {
  const after = before(subscription);
  Object.assign(subscription, old);
  const status = old.status;
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
      account.now(subscription) + pendingPaymentSeconds,
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
