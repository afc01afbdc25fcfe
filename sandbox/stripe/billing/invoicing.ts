/** Invoices: their lines, totals and finalization. */

import type { StripeAccount } from '../core/account.ts';
import { blankInvoice } from '../core/blank.ts';
import { invalid } from '../core/errors.ts';
import { token } from '../core/ids.ts';
import type {
  BillingReason,
  Customer,
  Invoice,
  InvoiceItem,
  Line,
  Price,
  Subscription,
  SubscriptionItem,
} from '../core/model.ts';
import { makePaymentIntent } from '../payments/intents.ts';
import { day, hour, money } from './calendar.ts';
import { subscriptionOf } from './collecting.ts';
import { amountIn, smallestCharge } from './currencies.ts';
import { activeDiscounts, applyDiscounts, net } from './discounts.ts';
import { addTax } from './tax.ts';

type LineDraft = Omit<Line, 'id' | 'invoice'>;

const emptyLine = {
  object: 'line_item',
  discount_amounts: [],
  discounts: [],
  livemode: false,
  pretax_credit_amounts: [],
  taxes: [],
};

const pricing = (price: string, product: string, amount: number): Line['pricing'] => ({
  price_details: { price, product },
  type: 'price_details',
  unit_amount_decimal: String(amount),
});

const recurrence = ({ recurring }: Price): string =>
  recurring ? ` / ${recurring.interval_count > 1 ? `${recurring.interval_count} ` : ''}${recurring.interval}` : '';

/** The line for an item's time from `start` to `end`; free of charge during a trial. */
export function periodLine(
  account: StripeAccount,
  subscription: Subscription,
  item: SubscriptionItem,
  { start, end, trial }: { start: number; end: number; trial: boolean },
): LineDraft {
  const price = account.need('price', item.price);
  const product = account.store.find('product', price.product);
  const each = amountIn(price, subscription.currency);
  const amount = trial ? 0 : each * item.quantity;
  return {
    ...emptyLine,
    amount,
    subtotal: amount,
    currency: subscription.currency,
    description: trial
      ? `Free trial for ${item.quantity} × ${product?.name}`
      : `${item.quantity} × ${product?.name} (at ${money(each, subscription.currency)}${recurrence(price)})`,
    discountable: true,
    metadata: subscription.metadata,
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: false,
        proration_details: null,
        subscription: subscription.id,
        subscription_item: item.id,
      },
      type: 'subscription_item_details',
    },
    period: { start, end },
    pricing: pricing(price.id, price.product, trial ? 0 : each),
    quantity: item.quantity,
    quantity_decimal: String(item.quantity),
    subscription: subscription.id,
    _item: item.id,
  };
}

function itemLine(item: InvoiceItem): LineDraft {
  const credited = item._credited && {
    credited_items: { invoice: item._credited.invoice, invoice_line_items: [item._credited.line] },
  };
  const details = {
    proration: item.proration,
    proration_details: item.proration ? (credited ?? { credited_items: null }) : null,
  };
  return {
    ...emptyLine,
    amount: item.amount,
    subtotal: item.amount,
    currency: item.currency,
    description: item.description,
    discountable: item.discountable,
    metadata: {},
    parent: item._item
      ? {
          invoice_item_details: null,
          subscription_item_details: {
            ...details,
            invoice_item: item.id,
            subscription: item._subscription,
            subscription_item: item._item,
          },
          type: 'subscription_item_details',
        }
      : {
          invoice_item_details: { ...details, invoice_item: item.id, subscription: item._subscription },
          subscription_item_details: null,
          type: 'invoice_item_details',
        },
    period: item.period,
    pricing: pricing(item._price, item._product, item.amount / (item.quantity || 1)),
    quantity: item.quantity,
    quantity_decimal: String(item.quantity),
    subscription: item._subscription,
    ...(item._item && { _item: item._item }),
  };
}

/** Adds an item that the next invoice charges or credits. */
export function addInvoiceItem(
  account: StripeAccount,
  values: Pick<InvoiceItem, 'customer' | 'amount' | 'currency' | 'description'> & Partial<InvoiceItem>,
): InvoiceItem {
  const owner = account.need('customer', values.customer);
  const now = account.now(owner);
  const { _price = `price_${token(24)}`, _product = `prod_${token(14)}`, quantity = 1 } = values;
  return account.add(
    'invoiceitem',
    {
      object: 'invoiceitem',
      customer_account: null,
      date: now,
      discountable: true,
      discounts: [],
      invoice: null,
      livemode: false,
      metadata: {},
      net_amount: values.amount,
      parent: values._subscription
        ? {
            type: 'subscription_details',
            subscription_details: {
              subscription: values._subscription,
              ...(values._item && { subscription_item: values._item }),
            },
          }
        : null,
      period: { start: now, end: now },
      pricing: pricing(_price, _product, values.amount / quantity),
      proration: false,
      quantity,
      quantity_decimal: String(quantity),
      tax_rates: [],
      test_clock: owner.test_clock,
      _subscription: null,
      _item: null,
      _credited: null,
      ...values,
      _price,
      _product,
    } as Omit<InvoiceItem, 'id'>,
    owner,
  );
}

export interface InvoiceDraft {
  readonly customer: Customer;
  readonly subscription?: Subscription | null;
  readonly reason: BillingReason;
  readonly lines?: readonly LineDraft[];
  readonly periodStart?: number;
  readonly periodEnd?: number;
  readonly prorationDate?: number;
  /** Whether this invoice includes the customer's pending items (default: `true`). */
  readonly pending?: boolean;
  readonly description?: string | null;
  readonly metadata?: Record<string, string>;
}

/** Moves the customer's pending items onto this invoice. */
function takePendingItems(
  { store }: StripeAccount,
  { customer, subscription }: InvoiceDraft,
  invoice: string,
): InvoiceItem[] {
  const items = [...store.all('invoiceitem')].filter(
    (item) =>
      item.customer === customer.id &&
      item.invoice === null &&
      (item._subscription === null || item._subscription === subscription?.id),
  );
  for (const item of items) {
    item.invoice = invoice;
    store.touch(item);
  }
  return items;
}

/** Makes a draft with its lines and totals. */
export function makeInvoice(account: StripeAccount, draft: InvoiceDraft): Invoice {
  const { customer, subscription, reason } = draft;
  const now = account.now(customer);
  const id = `in_${token(24)}`;
  const pending = draft.pending === false ? [] : takePendingItems(account, draft, id);
  const lines = [...pending.map(itemLine), ...(draft.lines ?? [])].map(
    (line): Line => ({ id: `il_${token(24)}`, ...line, invoice: id }) as Line,
  );
  const [first] = lines;
  const method = subscription?.default_payment_method ?? null;
  const days = (subscription?.days_until_due as number | null | undefined) ?? null;
  const invoice = account.add(
    'invoice',
    {
      ...blankInvoice(),
      id,
      auto_advance: reason !== 'manual',
      automatically_finalizes_at: reason === 'subscription_cycle' ? now + hour : null,
      billing_reason: reason,
      ...(days !== null && { collection_method: 'send_invoice', due_date: now + days * day }),
      created: now,
      currency: first?.currency ?? subscription?.currency ?? 'usd',
      customer: customer.id,
      customer_address: customer.address ?? null,
      customer_email: customer.email,
      customer_name: customer.name,
      customer_phone: customer.phone ?? null,
      customer_shipping: customer.shipping,
      default_payment_method: method,
      description: draft.description ?? null,
      lines: {
        object: 'list',
        data: lines,
        has_more: false,
        url: `/v1/invoices/${id}/lines`,
      },
      metadata: draft.metadata ?? {},
      next_payment_attempt: reason === 'subscription_cycle' && days === null ? now + hour : null,
      parent: subscription
        ? {
            quote_details: null,
            subscription_details: {
              metadata: subscription.metadata,
              subscription: subscription.id,
              ...(draft.prorationDate && { subscription_proration_date: draft.prorationDate }),
            },
            type: 'subscription_details',
          }
        : null,
      payment_settings: {
        default_mandate: null,
        payment_method_options: null,
        payment_method_types: subscription?.payment_settings.payment_method_types ?? null,
      },
      period_end: draft.periodEnd ?? now,
      period_start: draft.periodStart ?? now,
      starting_balance: customer.balance,
      test_clock: customer.test_clock,
      _token: token(32),
    } as unknown as Omit<Invoice, 'id'> & { id: string },
    customer,
  );
  computeTotals(account, invoice);
  if (subscription) {
    subscription.latest_invoice = invoice.id;
    account.store.touch(subscription);
  }
  return invoice;
}

/** Recomputes the totals of a draft. */
export function computeTotals(account: StripeAccount, invoice: Invoice): void {
  const subscription = subscriptionOf(account, invoice);
  const discounts = activeDiscounts(account, subscription?.discounts ?? [], invoice.created);
  const lines = invoice.lines.data;
  applyDiscounts(account, lines, discounts);
  const customer = account.need('customer', invoice.customer);
  invoice.discounts = discounts.map(({ id }) => id);
  invoice.subtotal = lines.reduce((sum, { amount }) => sum + amount, 0);
  invoice.total = lines.reduce((sum, line) => sum + net(line), 0);
  invoice.subtotal_excluding_tax = invoice.subtotal;
  invoice.total_excluding_tax = invoice.total;
  invoice.total_discount_amounts = discounts.map(({ id }) => ({
    amount: lines
      .flatMap((line) => line.discount_amounts)
      .reduce((sum, one) => sum + (one.discount === id ? one.amount : 0), 0),
    discount: id,
  }));
  if (subscription?.automatic_tax.enabled) addTax(invoice, customer);
  invoice.starting_balance = customer.balance;
  const after = invoice.total + customer.balance;
  const small = after > 0 && after < smallestCharge(invoice.currency);
  invoice.amount_due = after <= 0 || small ? 0 : after;
  invoice.amount_remaining = invoice.amount_due;
  invoice.ending_balance = invoice.total === 0 ? customer.balance : after <= 0 || small ? after : 0;
  account.store.touch(invoice);
}

/** Finalizes an invoice: it gets a number and, if an amount is due, a payment intent, which collecting.ts confirms. */
export function finalize(account: StripeAccount, invoice: Invoice): void {
  if (invoice.status !== 'draft') {
    throw invalid(
      "This invoice is already finalized, you can't re-finalize a non-draft invoice.",
      undefined,
      'invoice_not_editable',
    );
  }
  computeTotals(account, invoice);
  const customer = account.need('customer', invoice.customer);
  const now = account.now(customer);
  customer.balance = invoice.ending_balance ?? 0;
  customer._invoices += 1;
  account.store.touch(customer);
  invoice.status = 'open';
  invoice.number = `${customer.invoice_prefix}-${String(customer._invoices).padStart(4, '0')}`;
  invoice.effective_at = now;
  invoice.status_transitions = { ...invoice.status_transitions, finalized_at: now };
  invoice.automatically_finalizes_at = null;
  invoice.hosted_invoice_url = `/invoices/${invoice._token}`;
  invoice.invoice_pdf = `/invoices/${invoice._token}/pdf`;
  recordDebits(account, invoice);
  if (invoice.amount_due > 0) addInvoicePayment(account, invoice);
  account.emit('invoice.finalized', invoice);
}

/** Records on each item what was debited for it, and removes discounts that apply to one invoice. */
function recordDebits(account: StripeAccount, invoice: Invoice): void {
  const subscription = subscriptionOf(account, invoice);
  if (!subscription) return;
  account.store.touch(subscription);
  for (const line of invoice.lines.data) {
    const item = subscription.items.data.find(({ id }) => id === line._item);
    if (!item || line.amount < 0 || line.period.end <= line.period.start) continue;
    const isCurrent = line.pricing.price_details.price === item.price && line.period.end === item.current_period_end;
    if (!isCurrent) continue;
    const { start, end } = line.period;
    item._billed = { amount: net(line), price: item.price, start, end, invoice: invoice.id, line: line.id };
  }
  for (const { amount, discount: id } of invoice.total_discount_amounts) {
    const discount = account.store.find('discount', id);
    const coupon = discount && account.store.find('coupon', discount.source.coupon);
    if (!discount || amount === 0 || coupon?.duration !== 'once') continue;
    discount._usedUp = true;
    account.store.touch(discount);
    subscription.discounts = subscription.discounts.filter((one) => one !== id);
    account.emit('customer.discount.deleted', discount);
  }
}

function addInvoicePayment(account: StripeAccount, invoice: Invoice): void {
  const intent = makePaymentIntent(account, {
    amount: invoice.amount_due,
    currency: invoice.currency,
    customer: invoice.customer,
    description: invoice.billing_reason === 'subscription_create' ? 'Subscription creation' : 'Subscription update',
    invoice: invoice.id,
    setupFutureUsage: invoice.parent ? 'off_session' : null,
    allowed: (invoice.payment_settings as { payment_method_types: string[] | null }).payment_method_types,
  });
  invoice._intent = intent.id;
  account.add(
    'invoice_payment',
    {
      object: 'invoice_payment',
      amount_paid: null,
      amount_requested: invoice.amount_due,
      currency: invoice.currency,
      invoice: invoice.id,
      is_default: true,
      livemode: false,
      payment: { payment_intent: intent.id, type: 'payment_intent' },
      status: 'open',
      status_transitions: { canceled_at: null, paid_at: null },
    },
    account.need('customer', invoice.customer),
  );
}
