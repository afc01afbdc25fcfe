/** Payment methods: cards that are created, attached to a customer and looked up. */
import { createHash } from 'node:crypto';
import type { StripeAccount } from '../core/account.ts';
import { cardError, invalid, noSuch } from '../core/errors.ts';
import { token } from '../core/ids.ts';
import type { Customer, PaymentMethod } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { cardBehavior, declines, numberOf, passesLuhn } from './cards.ts';

export interface CardDetails {
  readonly number: string;
  readonly expMonth: number;
  readonly expYear: number;
  readonly cvc: string | null;
}

const emptyAddress = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };
/** Billing details without any data. */
const noDetails = { address: emptyAddress, email: null, name: null, phone: null, tax_id: null };

/** Creates a payment method; the caller has checked the card's number. */
export function makeMethod(
  account: StripeAccount,
  { number, expMonth, expYear, cvc }: CardDetails,
  more: { billing?: Record<string, unknown>; wallet?: string | null; id?: string } = {},
): PaymentMethod {
  const { brand, authentication } = cardBehavior(number);
  return account.add('payment_method', {
    ...(more.id && { id: more.id }),
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: more.billing ?? noDetails,
    card: {
      brand,
      checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: cvc ? 'pass' : 'unchecked' },
      country: 'US',
      display_brand: brand,
      exp_month: expMonth,
      exp_year: expYear,
      fingerprint: createHash('sha256').update(number).digest('base64url').slice(0, 16),
      funding: 'credit',
      generated_from: null,
      last4: number.slice(-4),
      networks: { available: [brand], preferred: null },
      regulated_status: 'unregulated',
      three_d_secure_usage: { supported: authentication !== 'never' },
      wallet: more.wallet ? { type: more.wallet, dynamic_last4: null } : null,
    },
    customer: null,
    customer_account: null,
    livemode: false,
    metadata: {},
    type: 'card',
    _number: number,
    _setUp: false,
    _cvc: cvc,
  });
}

/** @throws {ApiError} 402 for an invalid number, date or security code */
export function readCard(account: StripeAccount, card: Params): CardDetails {
  const number = card.need('number').replace(/[\s-]/g, '');
  const expMonth = card.int('exp_month') ?? 0;
  const given = card.int('exp_year') ?? 0;
  const expYear = given < 100 ? given + 2000 : given;
  const cvc = card.text('cvc') ?? null;
  if (!passesLuhn(number)) throw cardError(declines.incorrect_number, {}, false);
  const today = new Date(account.now() * 1000);
  const month = today.getUTCFullYear() * 12 + today.getUTCMonth();
  const wrong = (code: string, message: string, param: string) =>
    cardError({ type: 'card_error', code, message, param }, {}, false);
  if (expMonth < 1 || expMonth > 12) {
    throw wrong('invalid_expiry_month', "Your card's expiration month is invalid.", 'exp_month');
  }
  if (expYear * 12 + expMonth - 1 < month || expYear > today.getUTCFullYear() + 50) {
    throw wrong('invalid_expiry_year', "Your card's expiration year is invalid.", 'exp_year');
  }
  if (cvc !== null && !/^\d{3,4}$/.test(cvc)) {
    throw wrong('invalid_cvc', "Your card's security code is invalid.", 'cvc');
  }
  return { number, expMonth, expYear, cvc };
}

export function readBilling(params: Params): Record<string, unknown> {
  const given = params.object('billing_details');
  if (!given) return noDetails;
  const address = given.object('address');
  const fields = Object.keys(emptyAddress);
  return {
    address: address ? Object.fromEntries(fields.map((field) => [field, address.text(field) ?? null])) : emptyAddress,
    email: given.text('email') ?? null,
    name: given.text('name') ?? null,
    phone: given.text('phone') ?? null,
    tax_id: given.text('tax_id') ?? null,
  };
}

/** The method with this id, or a new one for `pm_card_visa` and the like. */
export function findMethod(account: StripeAccount, id: string, param = 'payment_method'): PaymentMethod {
  const existing = account.store.find('payment_method', id);
  if (existing) return existing;
  const number = numberOf(id);
  if (!number) throw noSuch('PaymentMethod', id, param, 400);
  const expYear = new Date(account.now() * 1000).getUTCFullYear() + 1;
  return makeMethod(account, { number, expMonth: 12, expYear, cvc: '314' }, { id: `pm_${token(24)}` });
}

/** @throws {ApiError} 400 unless the payment method is attached to this customer */
export function requireAttached(method: PaymentMethod, customer: string, param: string): void {
  if (method.customer === customer) return;
  throw invalid(
    `The customer does not have a payment method with the ID ${method.id}. The payment method must be attached to the customer.`,
    param,
    'resource_missing',
  );
}

/** @throws {ApiError} 400 when it is another customer's, 402 when the bank declines the card */
export function attach(account: StripeAccount, method: PaymentMethod, customer: Customer, checked = false): void {
  if (method.customer === customer.id) return;
  if (method.customer !== null) {
    throw invalid(
      'The payment method you provided has already been attached to a customer.',
      'payment_method',
      'payment_method_unexpected_state',
    );
  }
  if (method._detached) {
    throw invalid(
      'This PaymentMethod was previously used without being attached to a Customer or was detached from a Customer, and may not be used again.',
      'payment_method',
      'payment_method_unexpected_state',
    );
  }
  const { decline } = cardBehavior(method._number);
  if (decline && !checked) throw cardError(declines[decline]);
  method.customer = customer.id;
  account.store.touch(method);
  account.emit('payment_method.attached', method);
}

export function detach(account: StripeAccount, method: PaymentMethod): void {
  if (method.customer === null) {
    throw invalid(
      'The payment method you provided is not attached to a customer so detachment is impossible.',
      'payment_method',
      'payment_method_unexpected_state',
    );
  }
  const customer = account.store.find('customer', method.customer);
  if (customer?.invoice_settings.default_payment_method === method.id) {
    customer.invoice_settings.default_payment_method = null;
    account.store.touch(customer);
  }
  for (const subscription of account.store.all('subscription')) {
    if (subscription.default_payment_method !== method.id) continue;
    subscription.default_payment_method = null;
    account.store.touch(subscription);
  }
  const previous = { customer: method.customer };
  method.customer = null;
  method._detached = true;
  account.store.touch(method);
  account.emit('payment_method.detached', method, previous);
}
