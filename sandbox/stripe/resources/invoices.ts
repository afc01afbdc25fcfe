/** Invoices, invoice items and invoice payments. */

import {
  collect,
  invoicePaymentError,
  methodFor,
  payOutOfBand,
  reactivateIfPaid,
  subscriptionOf,
  voidInvoice,
} from '../billing/collecting.ts';
import { addInvoiceItemFromParams } from '../billing/creating.ts';
import { finalize, makeInvoice } from '../billing/invoicing.ts';
import { preview } from '../billing/preview.ts';
import { invalid } from '../core/errors.ts';
import { findMethod, requireAttached } from '../payments/methods.ts';
import { del, deleted, get, matching, ofCustomer, page, post, type Route } from './route.ts';

export const invoices: Route[] = [
  post('/v1/invoices/create_preview', ({ account, params }) => ({ wire: preview(account, params) })),
  post('/v1/invoices', ({ account, params }) => {
    params.allow('expand', 'collection_method', 'days_until_due', 'auto_advance', 'currency', 'default_payment_method');
    const pending = params.one('pending_invoice_items_behavior', ['include', 'exclude']) === 'include';
    const customer = account.need('customer', params.need('customer'), 'customer');
    const id = params.text('subscription');
    return makeInvoice(account, {
      customer,
      reason: 'manual',
      pending,
      metadata: params.metadata(),
      description: params.text('description') ?? null,
      subscription: id ? account.need('subscription', id, 'subscription') : null,
    });
  }),
  get('/v1/invoices', ({ account, params }) => {
    const [subscription, status] = [params.text('subscription'), params.text('status')];
    params.allow('collection_method', 'due_date');
    let found = ofCustomer({ account, params }, account.store.all('invoice'));
    if (subscription) {
      found = found.filter(({ parent }) => parent?.subscription_details.subscription === subscription);
    }
    return page(params, '/v1/invoices', matching(found, 'status', status));
  }),
  get('/v1/invoices/:id', ({ account, id }) => account.need('invoice', id)),
  get('/v1/invoices/:id/lines', ({ account, params, id }) =>
    page(params, `/v1/invoices/${id}/lines`, account.need('invoice', id).lines.data),
  ),
  post('/v1/invoices/:id', ({ account, params, id }) => {
    const invoice = account.need('invoice', id);
    account.store.touch(invoice);
    params.allow('expand', 'description', 'footer', 'collection_method');
    invoice.metadata = params.metadata(invoice.metadata);
    invoice.auto_advance = params.bool('auto_advance') ?? invoice.auto_advance;
    const method = params.text('default_payment_method');
    if (method !== undefined)
      invoice.default_payment_method = method && findMethod(account, method, 'default_payment_method').id;
    return invoice;
  }),
  del('/v1/invoices/:id', ({ account, id }) => {
    const invoice = account.need('invoice', id);
    if (invoice.status !== 'draft')
      throw invalid('You can only delete draft invoices.', undefined, 'invoice_not_editable');
    // A subscription's invoices can't be deleted, only finalized and voided (docs.stripe.com/api/invoices/delete).
    if (subscriptionOf(account, invoice))
      throw invalid('You cannot delete an invoice of a subscription.', undefined, 'invoice_not_editable');
    account.store.remove('invoice', id);
    return deleted(invoice);
  }),
  post('/v1/invoices/:id/finalize', ({ account, params, id }) => {
    params.allow('auto_advance', 'expand');
    const invoice = account.need('invoice', id);
    finalize(account, invoice);
    if (invoice.amount_due === 0) collect(account, invoice, { offSession: true });
    return invoice;
  }),
  post('/v1/invoices/:id/pay', ({ account, params, id }) => {
    const invoice = account.need('invoice', id);
    const name = params.text('payment_method');
    const offSession = params.bool('off_session') ?? true;
    params.allow('expand', 'forgive', 'mandate', 'source');
    const outOfBand = params.bool('paid_out_of_band');
    if (invoice.status === 'paid') throw invalid('Invoice is already paid', undefined, 'invoice_already_paid');
    if (invoice.status === 'void')
      throw invalid('You cannot pay an invoice that is void.', undefined, 'invoice_not_editable');
    if (invoice.status === 'draft') finalize(account, invoice);
    if (outOfBand) {
      payOutOfBand(account, invoice);
      return invoice;
    }
    const method = name ? findMethod(account, name) : methodFor(account, invoice);
    if (!method && invoice.amount_due > 0) throw invoicePaymentError(account, invoice);
    if (method) requireAttached(method, invoice.customer, 'payment_method');
    if (collect(account, invoice, { method, offSession }) !== 'succeeded') throw invoicePaymentError(account, invoice);
    return invoice;
  }),
  post('/v1/invoices/:id/void', ({ account, id }) => {
    const invoice = account.need('invoice', id);
    voidInvoice(account, invoice);
    return invoice;
  }),
  post('/v1/invoices/:id/mark_uncollectible', ({ account, id }) => {
    const invoice = account.need('invoice', id);
    if (invoice.status !== 'open')
      throw invalid('You can only mark open invoices as uncollectible.', undefined, 'invoice_not_editable');
    account.store.touch(invoice);
    invoice.status = 'uncollectible';
    invoice.auto_advance = false;
    invoice.status_transitions = { ...invoice.status_transitions, marked_uncollectible_at: account.now(invoice) };
    account.emit('invoice.marked_uncollectible', invoice);
    // An invoice that is written off as a bad debt isn't owed anymore.
    const subscription = subscriptionOf(account, invoice);
    if (subscription) {
      account.store.touch(subscription);
      reactivateIfPaid(account, subscription);
    }
    return invoice;
  }),
];

export const invoiceItems: Route[] = [
  post('/v1/invoiceitems', ({ account, params }) => {
    params.allow('expand', 'invoice');
    const customer = account.need('customer', params.need('customer'), 'customer');
    const pricing = params.object('pricing');
    return addInvoiceItemFromParams(account, pricing ?? params, customer.id, params.text('subscription') ?? null);
  }),
  get('/v1/invoiceitems', ({ account, params }) => {
    const pending = params.bool('pending');
    const own = ofCustomer({ account, params }, account.store.all('invoiceitem'));
    const found = pending === undefined ? own : own.filter((item) => (item.invoice === null) === pending);
    return page(params, '/v1/invoiceitems', matching(found, 'invoice', params.text('invoice')));
  }),
  get('/v1/invoiceitems/:id', ({ account, id }) => account.need('invoiceitem', id)),
  del('/v1/invoiceitems/:id', ({ account, id }) => {
    const item = account.need('invoiceitem', id);
    if (item.invoice) throw invalid('An invoice item that is on an invoice cannot be deleted.');
    account.store.remove('invoiceitem', id);
    return deleted(item);
  }),
];

export const invoicePayments: Route[] = [
  get('/v1/invoice_payments', ({ account, params }) => {
    const payment = params.object('payment');
    payment?.allow('type');
    const intent = payment?.text('payment_intent');
    let found = matching(account.store.all('invoice_payment'), 'invoice', params.text('invoice'));
    found = matching(found, 'status', params.text('status'));
    return page(
      params,
      '/v1/invoice_payments',
      intent ? found.filter((one) => one.payment.payment_intent === intent) : found,
    );
  }),
  get('/v1/invoice_payments/:id', ({ account, id }) => account.need('invoice_payment', id)),
];
