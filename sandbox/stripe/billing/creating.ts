/** New subscriptions (docs.stripe.com/api/subscriptions/create). */

import type { StripeAccount } from '../core/account.ts';
import { blankSubscription } from '../core/blank.ts';
import { invalid, missing } from '../core/errors.ts';
import { token } from '../core/ids.ts';
import type { Customer, InvoiceItem, Price, Subscription, SubscriptionItem, TrialOffer } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { cardBehavior } from '../payments/cards.ts';
import { confirmSetup, makeSetupIntent } from '../payments/intents.ts';
import { findMethod, requireAttached } from '../payments/methods.ts';
import { addIntervals, day } from './calendar.ts';
import { collect, invoicePaymentError } from './collecting.ts';
import { amountIn, checkCustomerCurrency, checkSubscriptionCurrency } from './currencies.ts';
import { checkMinimum, readDiscounts, setDiscounts } from './discounts.ts';
import { addInvoiceItem, finalize, makeInvoice, periodLine } from './invoicing.ts';
import { checkTaxLocation } from './tax.ts';
import { beginTrial, checkOfferParams, isFreeOffer, readOffer } from './trial-offers.ts';

const behaviors = ['allow_incomplete', 'default_incomplete', 'error_if_incomplete', 'pending_if_incomplete'] as const;
export type PaymentBehavior = (typeof behaviors)[number];
export const readPaymentBehavior = (params: Params): PaymentBehavior =>
  params.one('payment_behavior', behaviors) ?? 'allow_incomplete';

export const recurring = (
  price: Price,
): { interval: NonNullable<Price['recurring']>['interval']; interval_count: number } => {
  if (price.recurring) return price.recurring;
  throw invalid(
    `The price specified is set to \`type=one_time\` but this field only accepts prices with \`type=recurring\`.`,
    'items[0][price]',
  );
};

/** Parameters that the sandbox accepts and ignores. */
export const ignoredParameters = [
  ...['application_fee_percent', 'billing_thresholds', 'default_tax_rates', 'invoice_settings', 'on_behalf_of'],
  ...['pending_invoice_item_interval'],
  ...['transfer_data', 'expand', 'proration_behavior', 'default_source', 'trial_from_plan', 'pause_collection'],
];

/**
 * Billing is flexible, which is Stripe's default in this API version, and proration amounts include discounts (`included`, also
 * the default). Everything else is refused, so that no test relies on behavior that isn't modeled.
 */
export function readBillingMode(params: Params): void {
  const mode = params.object('billing_mode');
  if (!mode) return;
  const discounts = mode.object('flexible')?.text('proration_discounts') ?? 'included';
  if (mode.need('type') === 'flexible' && discounts === 'included') return;
  throw invalid('The sandbox models flexible billing mode with included proration discounts only.', 'billing_mode');
}

/** Sets how invoices are collected: Stripe charges the card, or mails the customer an invoice. */
export function setCollection(subscription: Subscription, params: Params): void {
  const method =
    params.one('collection_method', ['charge_automatically', 'send_invoice']) ?? subscription.collection_method;
  const days = params.int('days_until_due') ?? null;
  const known = days ?? (subscription.days_until_due as number | null);
  // Declarations: "Valid only for subscriptions where `collection_method` is set to `send_invoice`."
  if (method !== 'send_invoice' && days !== null) {
    throw invalid('`days_until_due` is valid only with `collection_method=send_invoice`.', 'days_until_due');
  }
  if (method === 'send_invoice' && known === null) throw missing('days_until_due');
  subscription.collection_method = method;
  subscription.days_until_due = method === 'send_invoice' ? known : null;
}

export const sendsInvoices = (subscription: Subscription | null | undefined): boolean =>
  subscription?.collection_method === 'send_invoice';

export function createSubscription(account: StripeAccount, params: Params): Subscription {
  params.allow(...ignoredParameters);
  readBillingMode(params);
  const customer = account.need('customer', params.need('customer'), 'customer');
  const prices = readItems(account, params);
  if (prices.some(({ offer }) => offer !== null)) checkOfferParams(params);
  checkCustomerCurrency(account, customer, params.text('currency') ?? prices[0]?.price.currency ?? 'usd');
  const behavior = readPaymentBehavior(params);
  const offSession = params.bool('off_session') ?? false;
  const discounts = readDiscounts(account, params, customer);
  const methodId = params.text('default_payment_method');
  const method = methodId ? findMethod(account, methodId, 'default_payment_method') : null;
  if (method) requireAttached(method, customer.id, 'default_payment_method');
  const tax = params.object('automatic_tax')?.allow('liability').bool('enabled') ?? false;
  if (tax) checkTaxLocation(customer);
  const settings = params.object('payment_settings')?.allow('payment_method_options');
  const subscription = makeSubscription(account, customer, prices, {
    currency: params.text('currency') ?? null,
    automaticTax: tax,
    trialEnd: readTrial(account, params, customer),
    metadata: params.metadata(),
    description: params.text('description') ?? null,
    defaultPaymentMethod: method?.id ?? null,
    saveDefaultPaymentMethod: settings?.one('save_default_payment_method', ['off', 'on_subscription']) ?? 'off',
    paymentMethodTypes: settings?.texts('payment_method_types') ?? null,
    missingPaymentMethod:
      params.object('trial_settings')?.object('end_behavior')?.text('missing_payment_method') ?? 'create_invoice',
  });
  setCollection(subscription, params);
  setCancellation(account, subscription, params);
  if (discounts) setDiscounts(account, subscription, discounts);
  addInvoiceItems(account, subscription, params);

  const invoice = firstInvoice(account, customer, subscription);
  checkMinimum(discounts, invoice.subtotal, invoice.currency);
  finalize(account, invoice);
  const trial = subscription.trial_end !== null || isFreeOffer(account, subscription);
  if (invoice.amount_due === 0) {
    subscription.status = trial ? 'trialing' : 'active';
    collect(account, invoice, { offSession });
    makePendingSetupIntent(account, subscription, customer);
    return subscription;
  }
  // It is active at once, no matter when the invoice is paid (docs.stripe.com/billing/collection-method).
  if (sendsInvoices(subscription)) {
    subscription.status = trial ? 'trialing' : 'active';
    return subscription;
  }
  if (behavior === 'default_incomplete') return subscription;
  const outcome = collect(account, invoice, { offSession });
  if (outcome !== 'succeeded' && behavior === 'error_if_incomplete') throw invoicePaymentError(account, invoice, false);
  return subscription;
}

export interface NewItem {
  readonly price: Price;
  readonly quantity: number;
  readonly metadata: Record<string, string>;
  /** The trial offer that the item begins with; `price` is then that of the offer. */
  readonly offer: TrialOffer | null;
}

export function readItems(account: StripeAccount, params: Params): NewItem[] {
  const items = params.list('items') ?? [];
  if (items.length === 0) throw missing('items');
  return items.map((item) => {
    const trial = readOffer(account, item);
    const price = trial?.price ?? account.need('price', item.need('price'), item.name('price'));
    if (!price.active)
      throw invalid(`The price specified is inactive. This field only accepts active prices.`, item.name('price'));
    recurring(price);
    item.allow('discounts', 'tax_rates', 'billing_thresholds');
    return { price, quantity: item.int('quantity') ?? 1, metadata: item.metadata(), offer: trial?.offer ?? null };
  });
}

function readTrial(account: StripeAccount, params: Params, customer: Customer): number | null {
  const now = account.now(customer);
  const days = params.int('trial_period_days');
  const end = params.text('trial_end');
  if (days && end) {
    throw invalid('You may only specify one of these parameters: trial_end, trial_period_days.', 'trial_end');
  }
  if (days) return now + days * day;
  if (!end || end === 'now') return null;
  return readFutureTimestamp(end, now, 'trial_end');
}

/**
 * `trial_end` of a change to a subscription.
 * @throws {ApiError} 400 when it has passed
 */
export function readTrialEnd(params: Params, now: number): number | 'now' | undefined {
  const end = params.text('trial_end');
  if (end === 'now') return end;
  if (!end) return undefined;
  return readFutureTimestamp(end, now, params.name('trial_end'));
}

/** @throws {ApiError} 400 when it has passed */
export function readFutureTimestamp(text: string, now: number, param: string): number {
  const moment = Number(text);
  if (!Number.isInteger(moment)) throw invalid(`Invalid timestamp: ${text}`, param);
  if (moment <= now) throw invalid(`Invalid timestamp: must be an integer Unix timestamp in the future.`, param);
  return moment;
}

interface NewSubscription {
  readonly currency?: string | null;
  readonly automaticTax?: boolean;
  readonly trialEnd: number | null;
  readonly metadata?: Record<string, string>;
  readonly description?: string | null;
  readonly defaultPaymentMethod?: string | null;
  readonly saveDefaultPaymentMethod?: string;
  /** Types of payment methods that may pay its invoices. */
  readonly paymentMethodTypes?: string[] | null;
  readonly missingPaymentMethod?: string;
}

/** Creates a subscription without an invoice. */
export function makeSubscription(
  account: StripeAccount,
  customer: Customer,
  prices: readonly NewItem[],
  values: NewSubscription,
): Subscription {
  const now = account.now(customer);
  const id = `sub_${token(24)}`;
  const { trialEnd, automaticTax: tax = false } = values;
  const currency = values.currency ?? prices[0]?.price.currency ?? 'usd';
  for (const { price } of prices) amountIn(price, currency);
  return account.add(
    'subscription',
    {
      ...blankSubscription(),
      id,
      automatic_tax: { disabled_reason: null, enabled: tax, liability: tax ? { type: 'self' } : null },
      billing_cycle_anchor: trialEnd ?? now,
      created: now,
      currency,
      customer: customer.id,
      default_payment_method: values.defaultPaymentMethod ?? null,
      description: values.description ?? null,
      items: {
        object: 'list',
        data: prices.map(({ price, quantity, metadata, offer }) => {
          const item = makeItem(id, price, quantity, now, trialEnd ?? addIntervals(now, recurring(price)), metadata);
          if (offer) beginTrial(account, item, offer, currency);
          return item;
        }),
        has_more: false,
        url: `/v1/subscription_items?subscription=${id}`,
      },
      metadata: values.metadata ?? {},
      payment_settings: {
        payment_method_options: null,
        payment_method_types: values.paymentMethodTypes ?? null,
        save_default_payment_method: values.saveDefaultPaymentMethod ?? 'off',
      },
      start_date: now,
      test_clock: customer.test_clock,
      trial_end: trialEnd,
      trial_settings: {
        end_behavior: {
          billing_cycle_anchor: null,
          missing_payment_method: values.missingPaymentMethod ?? 'create_invoice',
        },
      },
      trial_start: trialEnd === null ? null : now,
    } as unknown as Omit<Subscription, 'id'> & { id: string },
    customer,
  );
}

export const makeItem = (
  subscription: string,
  price: Price,
  quantity: number,
  start: number,
  end: number,
  metadata: Record<string, string> = {},
): SubscriptionItem => ({
  id: `si_${token(14)}`,
  object: 'subscription_item',
  billing_thresholds: null,
  created: start,
  current_period_end: end,
  current_period_start: start,
  current_trial: null,
  discounts: [],
  metadata,
  price: price.id,
  quantity,
  subscription,
  tax_rates: [],
  _billed: null,
});

/** `add_invoice_items` of a subscription: charged once, on the next invoice. */
export function addInvoiceItems(account: StripeAccount, subscription: Subscription, params: Params): void {
  for (const one of params.list('add_invoice_items') ?? [])
    addInvoiceItemFromParams(account, one, subscription.customer, subscription.id);
}

/** Adds an invoice item, which is charged once, from its parameters: an amount, a one-time price or `price_data`. */
export function addInvoiceItemFromParams(
  account: StripeAccount,
  params: Params,
  customer: string,
  subscription: string | null,
): InvoiceItem {
  params.allow('discounts', 'tax_rates', 'metadata', 'period', 'discountable');
  const onSubscription = subscription === null ? null : account.need('subscription', subscription, 'subscription');
  const quantity = params.int('quantity') ?? 1;
  const data = params.object('price_data');
  if (data) {
    data.allow('tax_behavior');
    const amount = data.int('unit_amount') ?? 0;
    const product = account.need('product', data.need('product'), data.name('product'));
    if (onSubscription) checkSubscriptionCurrency(onSubscription, data.need('currency'), data.name('currency'));
    return addInvoiceItem(account, {
      customer,
      amount: amount * quantity,
      currency: data.need('currency'),
      description: params.text('description') ?? product.name,
      quantity,
      _subscription: subscription,
      _product: product.id,
    });
  }
  const amount = params.int('amount');
  if (amount !== undefined && amount !== null) {
    const currency = params.text('currency') ?? 'usd';
    if (onSubscription) checkSubscriptionCurrency(onSubscription, currency, 'currency');
    return addInvoiceItem(account, {
      customer,
      amount,
      currency,
      description: params.text('description') ?? '',
      _subscription: subscription,
    });
  }
  const price = account.need('price', params.need('price'), params.name('price'));
  if (price.recurring) {
    throw invalid(
      'The price specified is set to `type=recurring` but this field only accepts prices with `type=one_time`.',
      params.name('price'),
    );
  }
  const product = account.need('product', price.product);
  const currency = onSubscription?.currency ?? price.currency;
  return addInvoiceItem(account, {
    customer,
    amount: amountIn(price, currency) * quantity,
    currency,
    description: product.name,
    quantity,
    _subscription: subscription,
    _price: price.id,
    _product: product.id,
  });
}

export function firstInvoice(account: StripeAccount, customer: Customer, subscription: Subscription) {
  const trial = subscription.trial_end !== null;
  return makeInvoice(account, {
    customer,
    subscription,
    reason: 'subscription_create',
    lines: subscription.items.data.map((item) =>
      periodLine(account, subscription, item, {
        start: item.current_period_start,
        end: item.current_period_end,
        trial,
      }),
    ),
  });
}

/** `cancel_at_period_end` and `cancel_at`. */
export function setCancellation(account: StripeAccount, subscription: Subscription, params: Params): void {
  const atEnd = params.bool('cancel_at_period_end');
  const at = params.text('cancel_at');
  const details = params.object('cancellation_details');
  const now = account.now(subscription);
  if (details) {
    const { cancellation_details: before } = subscription;
    const [comment, feedback] = [details.text('comment'), details.text('feedback')];
    subscription.cancellation_details = {
      ...before,
      ...(comment !== undefined && { comment }),
      ...(feedback !== undefined && { feedback }),
    };
  }
  if (atEnd === undefined && at === undefined) return;
  // The message is quoted in github.com/laravel/cashier-stripe/issues/1748.
  if (subscription.schedule) {
    throw invalid(
      `The subscription is managed by the subscription schedule \`${subscription.schedule}\`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.`,
    );
  }
  const moment = atEnd
    ? Math.min(...subscription.items.data.map((item) => item.current_period_end))
    : at
      ? readFutureTimestamp(at, now, 'cancel_at')
      : null;
  subscription.cancel_at_period_end = atEnd ?? false;
  subscription.cancel_at = moment;
  subscription.canceled_at = moment === null ? null : now;
  subscription.cancellation_details = {
    ...subscription.cancellation_details,
    reason: moment === null ? null : 'cancellation_requested',
  };
}

/** Creates the setup intent that authenticates the card for later charges, if nothing is due now. */
function makePendingSetupIntent(account: StripeAccount, subscription: Subscription, customer: Customer): void {
  const id = subscription.default_payment_method ?? customer.invoice_settings.default_payment_method;
  const method = id ? account.store.find('payment_method', id) : null;
  if (method && (method._setUp || cardBehavior(method._number).authentication === 'never')) return;
  const setup = makeSetupIntent(account, { customer: customer.id, subscription: subscription.id });
  subscription.pending_setup_intent = setup.id;
  if (method) confirmSetup(account, setup, { method, offSession: false });
}

/**
 * After a setup intent has succeeded: its subscription doesn't wait for it anymore. That the card becomes the subscription's default is
 * documented for payments only (`payment_settings.save_default_payment_method`).
 */
export function applySetupIntent(account: StripeAccount, setup: string): void {
  for (const subscription of account.store.all('subscription')) {
    if (subscription.pending_setup_intent !== setup) continue;
    subscription.pending_setup_intent = null;
    account.store.touch(subscription);
  }
}
