/** Customers and their payment methods: `/v1/customers` and `/v1/payment_methods`. */
import { cancelSubscription } from '../billing/collecting.ts';
import { checkTaxLocation } from '../billing/tax.ts';
import type { StripeAccount } from '../core/account.ts';
import { invalid, noSuch } from '../core/errors.ts';
import { token } from '../core/ids.ts';
import type { Customer } from '../core/model.ts';
import type { Fields, Params } from '../core/params.ts';
import { numberOf } from '../payments/cards.ts';
import { attach, detach, findMethod, makeMethod, readBilling, readCard, requireAttached } from '../payments/methods.ts';
import { del, deleted, get, matching, ofCustomer, page, post, type Route, setTexts } from './route.ts';

const ignoredParameters = [
  'expand',
  'tax_exempt',
  'preferred_locales',
  'cash_balance',
  'source',
  'tax_id_data',
  'next_invoice_sequence',
];

/** Nested objects that are stored unchanged; empty text is Stripe's null. */
function withNulls(value: string | Fields | undefined): unknown {
  if (value === undefined || value === '') return null;
  if (typeof value === 'string') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withNulls(inner)]));
}

/** Fields of an address that are not given. */
export const emptyAddress = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };

function setFields(account: StripeAccount, customer: Customer, params: Params): void {
  params.allow(...ignoredParameters);
  setTexts(
    customer,
    params,
    'email',
    'name',
    'description',
    'phone',
    'invoice_prefix',
    'business_name',
    'individual_name',
  );
  const email = customer.email;
  // A domain without a dot is refused: see github.com/fjordllc/bootcamp/issues/4134; so is a character that only looks like an @ (7638
  // there).
  if (email !== null && !/^[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+$/.test(email))
    throw invalid(`Invalid email address: ${email}`, 'email', 'email_invalid');
  customer.metadata = params.metadata(customer.metadata);
  const balance = params.int('balance');
  if (typeof balance === 'number') customer.balance = balance;
  if (params.has('address')) {
    const address = withNulls(params.raw('address'));
    customer.address = address && { ...emptyAddress, ...(address as object) };
  }
  if (params.has('shipping')) {
    const shipping = withNulls(params.raw('shipping')) as { address?: object; name?: string; phone?: string } | null;
    if (shipping && !shipping.name)
      throw invalid('Missing required param: shipping[name].', 'shipping[name]', 'parameter_missing');
    customer.shipping = shipping && { phone: null, ...shipping, address: { ...emptyAddress, ...shipping.address } };
  }
  const tax = params.object('tax')?.allow('ip_address');
  if (tax?.text('validate_location') === 'immediately') checkTaxLocation(customer, 'address');
  const settings = params.object('invoice_settings');
  settings?.allow('custom_fields', 'footer', 'rendering_options');
  const method = settings?.text('default_payment_method');
  if (method === null) customer.invoice_settings.default_payment_method = null;
  if (method) {
    const found = findMethod(account, method, 'invoice_settings[default_payment_method]');
    requireAttached(found, customer.id, 'invoice_settings[default_payment_method]');
    customer.invoice_settings = { ...customer.invoice_settings, default_payment_method: found.id };
  }
}

/** @throws {ApiError} 404 for a deleted customer, which can only be retrieved */
function needUndeleted(account: StripeAccount, id: string): Customer {
  const customer = account.need('customer', id);
  if (customer.deleted) throw noSuch('customer', id, 'id');
  return customer;
}

export const customers: Route[] = [
  post('/v1/customers', ({ account, params }) => {
    const clock = params.text('test_clock');
    const testClock = clock ? account.need('test_helpers.test_clock', clock, 'test_clock') : null;
    const first = params.text('payment_method');
    const customer = account.add(
      'customer',
      {
        object: 'customer',
        address: null,
        balance: 0,
        currency: null,
        customer_account: null,
        default_source: null,
        delinquent: false,
        description: null,
        email: null,
        invoice_prefix: token(8).toUpperCase(),
        livemode: false,
        invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
        metadata: {},
        name: null,
        next_invoice_sequence: 1,
        phone: null,
        preferred_locales: [],
        shipping: null,
        tax_exempt: 'none',
        test_clock: testClock?.id ?? null,
        _invoices: 0,
      },
      { id: '', object: '', test_clock: testClock?.id ?? null },
    );
    if (first) attach(account, findMethod(account, first), customer);
    setFields(account, customer, params);
    return customer;
  }),
  get('/v1/customers', ({ account, params }) => {
    const clock = params.text('test_clock');
    const all = [...account.store.all('customer')].filter(
      (one) => !one.deleted && (clock ? one.test_clock === clock : true),
    );
    return page(params, '/v1/customers', matching(all, 'email', params.text('email')));
  }),
  get('/v1/customers/search', ({ account, params }) => {
    const query = params.need('query');
    params.allow('limit', 'page');
    // The part of the query language that the site uses: equality, joined with AND.
    const wanted = [...query.matchAll(/(email|name|metadata\[['"]([^'"]+)['"]\])\s*:\s*['"]([^'"]*)['"]/g)];
    const found = [...account.store.all('customer')].filter(
      (one) =>
        !one.deleted && wanted.every(([, field, key, value]) => (key ? one.metadata[key] : one[field ?? '']) === value),
    );
    return {
      object: 'search_result',
      data: found,
      has_more: false,
      next_page: null,
      url: '/v1/customers/search',
    } as never;
  }),
  get('/v1/customers/:id', ({ account, id }) => {
    const customer = account.need('customer', id);
    return customer.deleted ? deleted(customer) : customer;
  }),
  post('/v1/customers/:id', ({ account, params, id }) => {
    const customer = needUndeleted(account, id);
    account.store.touch(customer);
    setFields(account, customer, params);
    return customer;
  }),
  del('/v1/customers/:id', ({ account, id }) => {
    const customer = needUndeleted(account, id);
    for (const subscription of account.store.all('subscription')) {
      if (subscription.customer === id && !['canceled', 'incomplete_expired'].includes(subscription.status)) {
        cancelSubscription(account, subscription, 'cancellation_requested');
      }
    }
    account.store.touch(customer);
    account.emit('customer.deleted', customer);
    customer.deleted = true;
    return deleted(customer);
  }),
  get('/v1/customers/:id/payment_methods', ({ account, params, id }) => {
    params.allow('allow_redisplay');
    const type = params.text('type');
    const own = matching(account.store.all('payment_method'), 'customer', needUndeleted(account, id).id);
    return page(params, `/v1/customers/${id}/payment_methods`, matching(own, 'type', type));
  }),
  get('/v1/customers/:id/payment_methods/:nestedId', ({ account, id, nestedId }) => {
    const method = account.need('payment_method', nestedId);
    if (method.customer !== id) throw noSuch('PaymentMethod', nestedId);
    return method;
  }),
];

export const paymentMethods: Route[] = [
  post(
    '/v1/payment_methods',
    ({ account, params, browser }) => {
      params.one('type', ['card']);
      params.allow(
        'allow_redisplay',
        'expand',
        ...(browser ? ['key', 'guid', 'muid', 'sid', 'payment_user_agent'] : []),
      );
      const card = params.object('card');
      if (!card) throw invalid('Missing required param: card.', 'card', 'parameter_missing');
      card.allow('networks');
      const metadata = params.metadata();
      const wallet = params.text('_wallet') ?? null;
      const named = card.text('token');
      const number = named && numberOf(named);
      const expYear = new Date(account.now() * 1000).getUTCFullYear() + 1;
      const details = number ? { number, expMonth: 12, expYear, cvc: '314' } : readCard(account, card);
      const method = makeMethod(account, details, { billing: readBilling(params), wallet });
      method.metadata = metadata;
      return method;
    },
    true,
  ),
  get('/v1/payment_methods', ({ account, params }) => {
    const own = ofCustomer({ account, params }, account.store.all('payment_method'));
    return page(params, '/v1/payment_methods', matching(own, 'type', params.text('type')));
  }),
  get('/v1/payment_methods/:id', ({ account, id }) => findMethod(account, id)),
  post('/v1/payment_methods/:id', ({ account, params, id }) => {
    const method = account.need('payment_method', id);
    const [before, card] = [account.present(method), params.object('card')];
    account.store.touch(method);
    method.metadata = params.metadata(method.metadata);
    if (params.has('billing_details')) method.billing_details = readBilling(params);
    const [month, year] = [card?.int('exp_month'), card?.int('exp_year')];
    method.card = { ...method.card, ...(month && { exp_month: month }), ...(year && { exp_year: year }) };
    account.emit('payment_method.updated', method, { card: before.card });
    return method;
  }),
  post('/v1/payment_methods/:id/attach', ({ account, params, id }) => {
    const customer = account.need('customer', params.need('customer'), 'customer');
    const method = findMethod(account, id);
    attach(account, method, customer);
    return method;
  }),
  post('/v1/payment_methods/:id/detach', ({ account, id }) => {
    const method = account.need('payment_method', id);
    detach(account, method);
    return method;
  }),
];
