/** Requests that this release of Stripe refuses, sent by the real SDK: removed parameters, and every kind of invalid value. */
import fs from 'node:fs';
import path from 'node:path';
import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../state.ts';
import { errorOf, type Fixture, openFixture } from '../testing.ts';
import { api } from './read.ts';

let fixture: Fixture;
let customer: string;
beforeAll(async () => {
  fixture = await openFixture();
  customer = (await fixture.createPayingCustomer()).id;
});
afterAll(() => fixture.stop());

/** Parameters that the SDK's types refuse, as old code might still send them. */
const old = <T>(params: Record<string, unknown>): T => params as T;
const packageOf = (name: string) =>
  JSON.parse(fs.readFileSync(path.resolve('node_modules', name, 'package.json'), 'utf8')) as { version: string };

describe('the Stripe schema', () => {
  it('matches the installed Stripe packages; `npm run stripe:schema` regenerates it', () => {
    const browser = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, 'stripe-js.json'), 'utf8'));
    expect(api.sdk).toBe(packageOf('stripe').version);
    expect(browser.stripeJs).toBe(packageOf('@stripe/stripe-js').version);
  });

  it('covers every call that the sandbox answers', () => {
    const calls = routes.map(({ method, path: at }) => `${method.toUpperCase()} ${at}`);
    expect(calls.filter((call) => !api.calls[call])).toEqual([]);
  });
});

type Refused = [name: string, call: (stripe: Stripe) => Promise<unknown>, param: string, code: string | undefined];
const items = [{ price: 'price_reader_monthly' }];
const subscribe = (more: Record<string, unknown>) => (stripe: Stripe) =>
  stripe.subscriptions.create(old({ customer, items, ...more }));
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'x']));

const refused: Refused[] = [
  [
    'payment_method_types on a payment intent',
    (stripe) => stripe.paymentIntents.create(old({ amount: 100, currency: 'usd', payment_method_types: ['card'] })),
    ...(['payment_method_types', 'payment_method_types_no_longer_supported'] as const),
  ],
  [
    'payment_method_types on a setup intent',
    (stripe) => stripe.setupIntents.create(old({ customer, payment_method_types: ['card'] })),
    ...(['payment_method_types', 'payment_method_types_no_longer_supported'] as const),
  ],
  [
    'the word “now” for billing_cycle_anchor',
    subscribe({ billing_cycle_anchor: 'now' }),
    'billing_cycle_anchor',
    'parameter_invalid_integer',
  ],
  ['an unknown billing mode', subscribe({ billing_mode: { type: 'banana' } }), 'billing_mode[type]', undefined],
  ['51 metadata keys', subscribe({ metadata: many(51) }), 'metadata', undefined],
  ['a metadata key of 41 characters', subscribe({ metadata: { ['k'.repeat(41)]: '1' } }), 'metadata', undefined],
  ['a metadata value of 501 characters', subscribe({ metadata: { key: 'v'.repeat(501) } }), 'metadata[key]', undefined],
  [
    '21 subscription items',
    subscribe({ items: Array.from({ length: 21 }, () => items[0]) }),
    'items',
    'array_too_long',
  ],
  ['an unknown parameter', subscribe({ banana: true }), 'banana', 'parameter_unknown'],
  [
    'an unknown nested parameter',
    subscribe({ payment_settings: { banana: 1 } }),
    'payment_settings[banana]',
    'parameter_unknown',
  ],
  [
    'a missing amount',
    (stripe) => stripe.paymentIntents.create(old({ currency: 'usd' })),
    'amount',
    'parameter_missing',
  ],
  [
    'an amount of zero',
    (stripe) => stripe.paymentIntents.create({ amount: 0, currency: 'usd' }),
    'amount',
    'parameter_invalid_integer',
  ],
  [
    'an amount with a fraction',
    (stripe) => stripe.paymentIntents.create({ amount: 1.5, currency: 'usd' }),
    'amount',
    'parameter_invalid_integer',
  ],
  ['a string instead of a Boolean', subscribe({ off_session: 'perhaps' }), 'off_session', undefined],
  ['a string instead of a list', subscribe({ items: 'price_reader_monthly' }), 'items', undefined],
  [
    'an empty string for a parameter that can’t be unset',
    subscribe({ default_payment_method: '' }),
    'default_payment_method',
    'parameter_invalid_empty',
  ],
  [
    'a description of 5001 characters',
    (stripe) => stripe.customers.create({ description: 'x'.repeat(5001) }),
    'description',
    undefined,
  ],
  ['a coupon of 101 percent', (stripe) => stripe.coupons.create({ percent_off: 101 }), 'percent_off', undefined],
  [
    'a coupon name of 41 characters',
    (stripe) => stripe.coupons.create({ percent_off: 10, name: 'n'.repeat(41) }),
    'name',
    undefined,
  ],
  [
    'a promotion code of 501 characters',
    (stripe) =>
      stripe.promotionCodes.create({ promotion: { type: 'coupon', coupon: 'ten-off' }, code: 'C'.repeat(501) }),
    'code',
    undefined,
  ],
  ['a page of 101 objects', (stripe) => stripe.customers.list({ limit: 101 }), 'limit', undefined],
  [
    'an expansion of a field that doesn’t exist',
    subscribe({ expand: ['latest_invoice.payment_intent'] }),
    'expand',
    undefined,
  ],
];

describe('a request to the Stripe stand-in', () => {
  it.each(refused)('is refused with 400 for %s', async (_name, call, param, code) => {
    const error = await errorOf(call(fixture.stripe));
    expect(error).toMatchObject({ statusCode: 400, type: 'StripeInvalidRequestError', param });
    expect(error.code).toBe(code);
    if (code) expect(error.doc_url).toBe(`https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}`);
  });

  it('is refused with an API version other than the pinned one', async () => {
    const { stripe } = fixture;
    expect(await errorOf(stripe.customers.list({}, { apiVersion: '2019-01-01' }))).toMatchObject({ statusCode: 400 });
  });
});
