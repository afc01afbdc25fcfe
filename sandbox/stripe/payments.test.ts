import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, type Fixture, openFixture } from './testing.ts';

let fixture: Fixture;
let stripe: Stripe;
beforeEach(async () => {
  fixture = await openFixture();
  stripe = fixture.stripe;
});
afterEach(() => fixture.stop());

/** Calls as a browser does, with the publishable key. */
async function browse(path: string, form?: Record<string, string>, key = fixture.access.publishableKey) {
  const response = await fetch(`${fixture.access.apiUrl}/v1/${path}`, {
    headers: { authorization: `Bearer ${key}`, origin: 'https://sun.test' },
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, never> };
}

const card = (number: string, more: Record<string, string> = {}) =>
  browse('payment_methods', {
    type: 'card',
    'card[number]': number,
    'card[exp_month]': '12',
    'card[exp_year]': '2034',
    'card[cvc]': '123',
    ...more,
  });

/** This payment method never leaves the page, so no return address is needed. */
const cardOnly: { allowed_payment_method_types: ['card'] } = { allowed_payment_method_types: ['card'] };
const intent = () => stripe.paymentIntents.create({ amount: 1200, currency: 'usd', ...cardOnly });

describe('cards', () => {
  it.each([
    ['4000000000000002', 'card_declined', 'generic_decline', 'Your card was declined.'],
    ['4000000000009995', 'card_declined', 'insufficient_funds', 'Your card has insufficient funds.'],
    ['4000000000000069', 'expired_card', 'expired_card', 'Your card has expired.'],
    ['4000000000000127', 'incorrect_cvc', 'incorrect_cvc', "Your card's security code is incorrect."],
    ...[
      [
        '4000000000000119',
        'processing_error',
        'processing_error',
        'An error occurred while processing your card. Try again in a little bit.',
      ],
    ],
    ['4000000000000341', 'card_declined', 'generic_decline', 'Your card was declined.'],
  ])(
    'with the number %s are declined with %s, after which another card can pay',
    async (number, code, declineCode, message) => {
      const { body } = await card(String(number));
      const { id } = await intent();
      const error = await errorOf(stripe.paymentIntents.confirm(id, { payment_method: String(body.id) }));
      expect(error).toMatchObject({
        statusCode: 402,
        type: 'StripeCardError',
        code,
        decline_code: declineCode,
        message,
      });
      expect(error.payment_intent?.status).toBe('requires_payment_method');
      const after = await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] });
      expect(after).toMatchObject({
        status: 'requires_payment_method',
        last_payment_error: { code, decline_code: declineCode },
      });
      expect(after.latest_charge).toMatchObject({ status: 'failed', paid: false, failure_code: code });
      expect(await stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa' })).toMatchObject({
        status: 'succeeded',
        amount_received: 1200,
        last_payment_error: null,
      });
    },
  );

  it.each([
    ['with a wrong number', '4242424242424241', {}, 'incorrect_number'],
    ['that have expired', '4242424242424242', { 'card[exp_year]': '2020' }, 'invalid_expiry_year'],
    ['with an invalid month', '4242424242424242', { 'card[exp_month]': '13' }, 'invalid_expiry_month'],
    ['with a security code of one digit', '4242424242424242', { 'card[cvc]': '1' }, 'invalid_cvc'],
  ])('%s are refused with 402', async (_, number, more, code) => {
    const { status, body } = await card(number, more);
    expect(status).toBe(402);
    expect(body.error).toMatchObject({ type: 'card_error', code });
  });

  it('that decline every charge can still be saved', async () => {
    const { id } = await stripe.customers.create({});
    const setup = await stripe.setupIntents.create({ customer: id, ...cardOnly });
    const done = await stripe.setupIntents.confirm(setup.id, { payment_method: 'pm_card_chargeCustomerFail' });
    expect(done.status).toBe('succeeded');
    expect((await stripe.customers.listPaymentMethods(id)).data).toHaveLength(1);
  });

  it('that the bank always declines cannot be attached to a customer', async () => {
    const { id } = await stripe.customers.create({});
    const error = await errorOf(stripe.paymentMethods.attach('pm_card_visa_chargeDeclined', { customer: id }));
    expect(error).toMatchObject({ statusCode: 402, code: 'card_declined' });
  });

  it('belong to one customer, and cannot be attached again once detached', async () => {
    const [one, other] = [await stripe.customers.create({}), await stripe.customers.create({})];
    const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: one.id });
    expect((await errorOf(stripe.paymentMethods.attach(method.id, { customer: other.id }))).statusCode).toBe(400);
    await stripe.paymentMethods.detach(method.id);
    expect((await errorOf(stripe.paymentMethods.attach(method.id, { customer: one.id }))).statusCode).toBe(400);
  });
});

describe('3-D Secure', () => {
  const confirmWith = async (name: string) => {
    const { id } = await intent();
    return stripe.paymentIntents.confirm(id, { payment_method: name });
  };

  it.each([
    ['that is passed', 'succeeded', 'pm_card_threeDSecure2Required', true, undefined],
    [
      'that is failed',
      'requires_payment_method',
      'pm_card_threeDSecure2Required',
      false,
      'payment_intent_authentication_failure',
    ],
    [
      'that is passed with a card that is then declined',
      'requires_payment_method',
      'pm_card_threeDSecureRequiredChargeDeclined',
      true,
      'card_declined',
    ],
    [
      'that is passed with a card without funds',
      'requires_payment_method',
      'pm_card_authenticationRequiredChargeDeclinedInsufficientFunds',
      true,
      'card_declined',
    ],
  ] as const)('%s leaves the intent at %s', async (_, status, name, passed, code) => {
    const { id, status: before, next_action: action } = await confirmWith(name);
    expect(before).toBe('requires_action');
    expect(action?.type).toBe('use_stripe_sdk');
    await fixture.control('POST challenge', { intent: id, passed });
    const after = await stripe.paymentIntents.retrieve(id);
    expect(after).toMatchObject({ status, next_action: null });
    expect(after.last_payment_error?.code).toBe(code);
  });

  it('sends the browser to a bank page and back, and refuses a forged ticket', async () => {
    const { id } = await intent();
    const sent = await stripe.paymentIntents.confirm(id, {
      payment_method: 'pm_card_threeDSecure2Required',
      return_url: 'https://sun.test/thankyou',
    });
    const address = sent.next_action?.redirect_to_url?.url ?? '';
    expect(await (await fetch(address)).text()).toContain('a payment of $12.00');
    const ticket = new URL(address).searchParams.get('ticket') ?? '';
    const forged = await fetch(address, {
      method: 'POST',
      body: new URLSearchParams({ ticket: 'x', outcome: 'pass' }),
    });
    await forged.text();
    expect((await stripe.paymentIntents.retrieve(id)).status).toBe('requires_action');
    const done = await fetch(address, { method: 'POST', body: new URLSearchParams({ ticket, outcome: 'pass' }) });
    expect(await done.text()).toContain('https://sun.test/thankyou?payment_intent=pi_');
    expect((await stripe.paymentIntents.retrieve(id)).status).toBe('succeeded');
  });

  it('is skipped off-session for a card authenticated at setup, but not for one that always requires it', async () => {
    const { id: customer } = await stripe.customers.create({});
    const setup = await stripe.setupIntents.create({ customer, ...cardOnly });
    const waiting = await stripe.setupIntents.confirm(setup.id, {
      payment_method: 'pm_card_authenticationRequiredOnSetup',
    });
    expect(waiting.status).toBe('requires_action');
    await fixture.control('POST challenge', { intent: setup.id, passed: true });
    const { payment_method } = await stripe.setupIntents.retrieve(setup.id);
    const paid = await stripe.paymentIntents.create({
      ...cardOnly,
      amount: 500,
      currency: 'usd',
      customer,
      payment_method: String(payment_method),
      off_session: true,
      confirm: true,
    });
    expect(paid.status).toBe('succeeded');
    const { id: other } = await stripe.customers.create({});
    const always = await stripe.paymentMethods.attach('pm_card_authenticationRequired', { customer: other });
    const error = await errorOf(
      stripe.paymentIntents.create({
        ...cardOnly,
        amount: 500,
        currency: 'usd',
        customer: other,
        payment_method: always.id,
        off_session: true,
        confirm: true,
      }),
    );
    expect(error).toMatchObject({ statusCode: 402, code: 'authentication_required' });
  });
});

describe('refunds', () => {
  it('return a part, then the rest, and never more than was paid', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_yearly', { expand: ['latest_invoice.payments'] });
    const payment_intent = String(made.latest_invoice.payments?.data[0]?.payment.payment_intent);
    const part = await stripe.refunds.create({ payment_intent, amount: 2000 });
    expect(part).toMatchObject({ amount: 2000, status: 'succeeded' });
    const charge = async () =>
      (await stripe.paymentIntents.retrieve(payment_intent, { expand: ['latest_charge'] })).latest_charge;
    expect(await charge()).toMatchObject({ amount_refunded: 2000, refunded: false });
    expect((await errorOf(stripe.refunds.create({ payment_intent, amount: 10_001 }))).statusCode).toBe(400);
    await stripe.refunds.create({ payment_intent });
    expect(await charge()).toMatchObject({ amount_refunded: 12_000, refunded: true });
    expect(await errorOf(stripe.refunds.create({ payment_intent }))).toMatchObject({ code: 'charge_already_refunded' });
    const { data } = await stripe.events.list({ type: 'charge.refunded' });
    expect(data.map((event) => event.data.previous_attributes)).toEqual([
      { amount_refunded: 2000, refunded: false },
      { amount_refunded: 0, refunded: false },
    ]);
  });
});

describe('the amount of a payment intent', () => {
  it('can be changed until it is paid, to no less than Stripe charges', async () => {
    const { id } = await stripe.paymentIntents.create({ amount: 1200, currency: 'usd' });
    expect(await stripe.paymentIntents.update(id, { amount: 1500 })).toMatchObject({ amount: 1500 });
    expect(await errorOf(stripe.paymentIntents.update(id, { amount: 49 }))).toMatchObject({ code: 'amount_too_small' });
    await stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa', return_url: 'https://sun.test/' });
    const over = { statusCode: 400, code: 'payment_intent_unexpected_state' };
    expect(await errorOf(stripe.paymentIntents.update(id, { amount: 1200 }))).toMatchObject(over);
    expect(await errorOf(stripe.paymentIntents.update(id, { payment_method: 'pm_card_visa' }))).toMatchObject(over);
    expect(await stripe.paymentIntents.update(id, { metadata: { order: '1' } })).toMatchObject({ amount: 1500 });
  });
});

describe('the amount of an invoice’s payment intent', () => {
  it('can’t be changed', async () => {
    const { id: customer } = await stripe.customers.create({});
    await fixture.subscribe(customer, 'price_reader_monthly');
    const [made] = (await stripe.paymentIntents.list({ customer })).data;
    const changed = stripe.paymentIntents.update(String(made?.id), { amount: 1500 });
    expect(await errorOf(changed)).toMatchObject({ statusCode: 400, param: 'amount' });
  });
});

describe('the PDF of an invoice in euros', () => {
  it('shows the euro sign', async () => {
    const { id: customer } = await fixture.createPayingCustomer();
    const { latest_invoice: bill } = await fixture.subscribe(customer, 'price_reader_monthly', { currency: 'eur' });
    const response = await fetch(String(bill.invoice_pdf));
    const bytes = Buffer.from(await response.arrayBuffer()).toString('latin1');
    expect(bytes).toContain('Total: \\20011.00');
  });
});

describe('API keys', () => {
  it('let a browser read only intents whose client secret it has; a wrong or missing key gets 401', async () => {
    const { id, client_secret } = await intent();
    const own = await browse(`payment_intents/${id}?client_secret=${client_secret}`);
    expect(own.status).toBe(200);
    expect(own.headers.get('access-control-allow-origin')).toBe('*');
    expect(own.body).not.toHaveProperty('metadata');
    expect((await browse(`payment_intents/${id}?client_secret=${id}_secret_guess`)).status).toBe(401);
    expect((await browse(`payment_intents/${id}`)).status).toBe(401);
    expect((await browse('customers')).status).toBe(403);
    expect((await browse('customers', undefined, 'sk_test_wrong')).status).toBe(401);
    const none = await fetch(`${fixture.access.apiUrl}/v1/customers`);
    expect(none.status).toBe(401);
    expect((await none.json()) as object).toMatchObject({ error: { type: 'invalid_request_error' } });
  });
});

describe('errors', () => {
  it('have Stripe’s codes and statuses', async () => {
    expect(await errorOf(stripe.customers.retrieve('cus_none'))).toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
      param: 'id',
      message: "No such customer: 'cus_none'",
    });
    expect(await errorOf(stripe.subscriptions.create({ customer: 'cus_none', items: [] }))).toMatchObject({
      statusCode: 400,
      code: 'resource_missing',
      param: 'customer',
    });
    expect(await errorOf(stripe.customers.create({ expand: ['nothing'] }))).toMatchObject({
      statusCode: 400,
      param: 'expand',
    });
    expect((await stripe.customers.list()).data).toEqual([]);
    expect(await errorOf(stripe.customers.list({ limit: 101 }))).toMatchObject({ param: 'limit' });
    const deep = stripe.customers.list({ expand: ['data.subscriptions.data.latest_invoice.payments'] });
    expect((await errorOf(deep)).message).toContain('more than 4 levels');
  });
});

describe('idempotency', () => {
  it('replays the first answer for the same key, and refuses other parameters', async () => {
    const idempotencyKey = 'one-purchase';
    const first = await stripe.customers.create({ name: 'A' }, { idempotencyKey });
    const again = await stripe.customers.create({ name: 'A' }, { idempotencyKey });
    expect(again).toEqual(first);
    expect(again.lastResponse.headers['idempotent-replayed']).toBe('true');
    expect((await stripe.customers.list()).data).toHaveLength(1);
    const other = await errorOf(stripe.customers.create({ name: 'B' }, { idempotencyKey }));
    expect(other).toMatchObject({ statusCode: 400, type: 'StripeIdempotencyError' });
  });

  it('replays declines by the bank, but not refusals of invalid parameters', async () => {
    const { id } = await intent();
    const confirm = (payment_method: string) =>
      errorOf(stripe.paymentIntents.confirm(id, { payment_method }, { idempotencyKey: 'confirm' }));
    await confirm('pm_card_visa_chargeDeclined');
    expect((await confirm('pm_card_visa_chargeDeclined')).headers?.['idempotent-replayed']).toBe('true');
    expect((await stripe.charges.list({ payment_intent: id })).data).toHaveLength(1);
    const options = { idempotencyKey: 'mistake' };
    await errorOf(stripe.customers.create({ email: 'nonsense' }, options));
    expect(await stripe.customers.create({ email: 'a@example.com' }, options)).toMatchObject({
      email: 'a@example.com',
    });
  });

  it('answers 409 while the first call with the same key is running', async () => {
    await fixture.control('POST faults', { path: '/v1/customers', delay: 3000 });
    const options = { idempotencyKey: 'slow' };
    const first = stripe.customers.create({}, options);
    await expect.poll(async () => (await fixture.control('GET faults')) as unknown).toEqual([]);
    expect(await errorOf(stripe.customers.create({}, options))).toMatchObject({ statusCode: 409 });
    expect((await first).object).toBe('customer');
  });
});

describe('simulated faults', () => {
  it('strike before or after a call takes effect', async () => {
    await fixture.control('POST faults', { path: '/v1/customers', status: 500, when: 'before' });
    const broken = { idempotencyKey: 'broken' };
    expect((await errorOf(stripe.customers.create({}, broken))).statusCode).toBe(500);
    expect((await stripe.customers.list()).data).toEqual([]);
    await fixture.control('POST faults', { method: 'POST', path: '/v1/customers', status: 0, when: 'after' });
    // The SDK retries once when a connection breaks, even without retries; the key prevents a second customer.
    const made = await stripe.customers.create({}, { idempotencyKey: 'struck', maxNetworkRetries: 0 });
    expect(made.lastResponse.headers['idempotent-replayed']).toBe('true');
    expect((await stripe.customers.list()).data.map(({ id }) => id)).toEqual([made.id]);
  });
});
