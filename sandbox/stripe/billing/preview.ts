/** `POST /v1/invoices/create_preview`: what would be charged, computed by making the change and rolling it back. */

import type { StripeAccount } from '../core/account.ts';
import { ApiError, invalid, missing } from '../core/errors.ts';
import { token } from '../core/ids.ts';
import type { Customer, Invoice, Schedule, Subscription } from '../core/model.ts';
import type { Fields, Params } from '../core/params.ts';
import type { Wire } from '../core/present.ts';
import { emptyAddress } from '../resources/customers.ts';
import { hour } from './calendar.ts';
import { changeSubscription } from './changing.ts';
import {
  addInvoiceItemFromParams,
  firstInvoice,
  makeSubscription,
  readBillingMode,
  readFutureTimestamp,
  readItems,
  readTrialEnd,
} from './creating.ts';
import { checkCustomerCurrency } from './currencies.ts';
import { readDiscounts, setDiscounts } from './discounts.ts';
import { computeTotals, makeInvoice } from './invoicing.ts';
import { nextInvoice, periodEnd } from './lifecycle.ts';
import { checkOfferParams } from './trial-offers.ts';

export function preview(account: StripeAccount, params: Params): Wire {
  params.allow('expand', 'preview_mode', 'issuer', 'on_behalf_of');
  refuseCombinations(params);
  return account.dryRun(() => {
    const scheduleId = params.text('schedule');
    const schedule = scheduleId ? account.need('subscription_schedule', scheduleId, 'schedule') : null;
    const subscriptionId = params.text('subscription') ?? schedule?.subscription;
    const subscription = subscriptionId ? account.need('subscription', subscriptionId, 'subscription') : null;
    const customer = customerFor(account, params, subscription);
    const tax = params.object('automatic_tax')?.allow('liability').bool('enabled') ?? false;
    const address = params.object('customer_details')?.allow('shipping', 'tax', 'tax_exempt', 'tax_ids').raw('address');
    if (address) customer.address = { ...emptyAddress, ...(address as object) };
    if (subscription && schedule) applyNextPhase(account, subscription, schedule);
    const details = params.object('subscription_details') ?? null;
    details?.allow('default_tax_rates', 'start_date', 'resume_at');
    if (details) readBillingMode(details);
    const invoice = subscription
      ? previewChange(account, params, details, customer, subscription)
      : previewNew(account, params, details, customer, tax);
    const wire = account.present(invoice, params.texts('expand') ?? []);
    return {
      ...wire,
      id: `upcoming_${invoice.id}`,
      billing_reason: 'upcoming',
      automatically_finalizes_at: null,
      next_payment_attempt: invoice.created + hour,
      ...(!subscription && { parent: null }),
    };
  });
}

/**
 * Refuses combinations that the declarations exclude (InvoiceCreatePreviewParams). The texts of these errors aren't published
 * anywhere. @throws {ApiError} 400
 */
function refuseCombinations(params: Params): void {
  const [details, tax] = [fieldsOf(params, 'subscription_details'), fieldsOf(params, 'automatic_tax')];
  if (params.has('schedule') && (params.has('subscription') || details)) {
    throw invalid('You may only specify one of these parameters: schedule, subscription.', 'schedule');
  }
  const customerParams = ['customer', 'customer_details', 'subscription', 'schedule'];
  if (tax?.enabled === 'true' && !customerParams.some((name) => params.has(name))) {
    throw invalid(
      `When automatic tax is enabled, one of ${customerParams.join(', ')} must be set.`,
      'automatic_tax[enabled]',
    );
  }
  if (details?.proration_date === undefined) return;
  const changes = params.has('subscription') && (details.items ?? details.trial_end) !== undefined;
  if (changes && details.proration_behavior !== 'none') return;
  throw invalid(
    'A proration date requires a subscription, its items or the end of its trial, and prorations.',
    'subscription_details[proration_date]',
  );
}

function fieldsOf(params: Params, name: string): Fields | null {
  const value = params.raw(name);
  return typeof value === 'object' ? value : null;
}

/** docs.stripe.com/error-codes#invoice-upcoming-none */
const noUpcomingInvoice = ({ id }: Customer): ApiError =>
  new ApiError(404, {
    type: 'invalid_request_error',
    code: 'invoice_upcoming_none',
    message: `No upcoming invoices for customer: ${id}`,
  });

function customerFor(account: StripeAccount, params: Params, subscription: Subscription | null): Customer {
  const id = params.text('customer') ?? subscription?.customer;
  if (id) return account.need('customer', id, 'customer');
  return account.add('customer', {
    object: 'customer',
    balance: 0,
    email: null,
    name: null,
    metadata: {},
    shipping: null,
    test_clock: null,
    invoice_settings: { default_payment_method: null },
    invoice_prefix: token(8),
    _invoices: 0,
  });
}

const addItemsAndDiscounts = (
  account: StripeAccount,
  params: Params,
  customer: Customer,
  subscription: Subscription,
) => {
  for (const one of params.list('invoice_items') ?? [])
    addInvoiceItemFromParams(account, one, customer.id, subscription.id);
  const discounts = readDiscounts(account, params, customer);
  if (discounts) setDiscounts(account, subscription, discounts);
};

/** The next phase of a schedule, as if it began with the next period. */
function applyNextPhase(
  account: StripeAccount,
  subscription: Subscription,
  { current_phase: now, phases }: Schedule,
): void {
  const next = phases.find(({ start_date: start }) => now !== null && start >= now.end_date);
  const [item] = subscription.items.data;
  const price = next?.items[0]?.price;
  if (!item || !price) return;
  account.store.touch(subscription);
  item.price = price;
  item._billed = null;
}

function previewNew(
  account: StripeAccount,
  params: Params,
  details: Params | null,
  customer: Customer,
  tax: boolean,
): Invoice {
  if (!details) throw missing('subscription_details');
  const now = account.now(customer);
  details.allow(
    'proration_behavior',
    'proration_date',
    'billing_cycle_anchor',
    'cancel_at_period_end',
    'cancel_at',
    'cancel_now',
  );
  const trial = details.text('trial_end');
  const items = readItems(account, details);
  if (items.some(({ offer }) => offer !== null)) checkOfferParams(details);
  checkCustomerCurrency(account, customer, params.text('currency') ?? items[0]?.price.currency ?? 'usd');
  const subscription = makeSubscription(account, customer, items, {
    currency: params.text('currency') ?? null,
    automaticTax: tax,
    trialEnd: trial && trial !== 'now' ? readFutureTimestamp(trial, now, details.name('trial_end')) : null,
  });
  addItemsAndDiscounts(account, params, customer, subscription);
  return firstInvoice(account, customer, subscription);
}

function previewChange(
  account: StripeAccount,
  params: Params,
  details: Params | null,
  customer: Customer,
  subscription: Subscription,
): Invoice {
  params.allow('currency');
  if (notBilledStatuses.includes(subscription.status)) throw noUpcomingInvoice(customer);
  addItemsAndDiscounts(account, params, customer, subscription);
  const proration =
    details?.one('proration_behavior', ['create_prorations', 'always_invoice', 'none']) ?? 'create_prorations';
  const isLast = endsWithPeriod(subscription, details);
  details?.allow('cancel_now');
  const changeInvoice = details
    ? changeSubscription(account, subscription, {
        items: readChanges(account, details),
        proration,
        prorationDate: details.int('proration_date'),
        restart: details.object('billing_cycle_anchor')?.one('type', ['now', 'unchanged', 'timestamp']) === 'now',
        trialEnd: readTrialEnd(details, account.now(subscription)),
      })
    : null;
  if (changeInvoice) return changeInvoice;
  // Otherwise it is the invoice of the next renewal.
  const invoice = isLast ? null : nextInvoice(account, subscription);
  if (invoice) return invoice;
  const last = makeInvoice(account, { customer, subscription, reason: 'subscription_cycle' });
  if (last.lines.data.length === 0) throw noUpcomingInvoice(customer);
  computeTotals(account, last);
  return last;
}

const notBilledStatuses = ['canceled', 'incomplete_expired', 'paused'];

/** Whether the subscription ends before its renewal, as it is or as the preview changes it. */
function endsWithPeriod(subscription: Subscription, details: Params | null): boolean {
  const [atEnd, at] = [details?.bool('cancel_at_period_end'), details?.text('cancel_at')];
  if (atEnd !== undefined) return atEnd;
  const cancelAt = at === undefined ? subscription.cancel_at : at === null ? null : Number(at);
  return cancelAt !== null && cancelAt <= periodEnd(subscription);
}

/** `items` of an update or a preview. */
export function readChanges(account: StripeAccount, params: Params) {
  return params.list('items')?.map((item) => {
    item.allow('discounts', 'tax_rates', 'billing_thresholds', 'clear_usage', 'metadata');
    if (item.has('current_trial')) {
      throw invalid('The sandbox attaches trial offers only to new subscriptions.', item.name('current_trial'));
    }
    const price = item.text('price');
    return {
      id: item.text('id'),
      price: price ? account.need('price', price, item.name('price')) : undefined,
      quantity: item.int('quantity') ?? undefined,
      deleted: item.bool('deleted'),
    };
  });
}
