/** Stripe's rules that money depends on: schedules and their anchors, cards of phases, pauses, replays and rate limits. */
import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { amounts, day, errorOf, type Fixture, itemOf, openFixture } from './testing.ts';

let fixture: Fixture;
let stripe: Stripe;
beforeEach(async () => {
  fixture = await openFixture();
  stripe = fixture.stripe;
});
afterEach(() => fixture.stop());

const invoicesOf = async (customer: string) => (await stripe.invoices.list({ customer, limit: 100 })).data;

/** A monthly subscription with its own card, and a schedule that makes it yearly after this month. */
async function plannedSwitch(phase: Partial<Stripe.SubscriptionScheduleUpdateParams.Phase>) {
  const { id: customer } = await stripe.customers.create({});
  const card = await stripe.paymentMethods.attach('pm_card_visa', { customer });
  const made = await fixture.subscribe(customer, 'price_reader_monthly', { default_payment_method: card.id });
  const schedule = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
  const { current_period_start: start_date, current_period_end: end_date } = itemOf(made);
  await stripe.subscriptionSchedules.update(schedule.id, {
    phases: [
      { items: [{ price: 'price_reader_monthly' }], start_date, end_date, default_payment_method: card.id },
      { items: [{ price: 'price_reader_yearly' }], duration: { interval: 'year', interval_count: 1 }, ...phase },
    ],
  });
  fixture.state.advance(35 * day);
  const [last] = await invoicesOf(customer);
  if (!last) throw new Error('There is no invoice.');
  const after = await stripe.subscriptions.retrieve(made.id);
  return { customer, card: card.id, last, after, boundary: end_date };
}

describe('a scheduled switch to another billing interval', () => {
  it('with phase_start is billed at the boundary, but stays unpaid without a card on the phase', async () => {
    const { customer, last, after, card, boundary } = await plannedSwitch({ billing_cycle_anchor: 'phase_start' });
    expect([amounts(last), last.created]).toEqual([[12_000], boundary]);
    // Without its own card the phase has none to charge, although the customer still has the card of the first phase.
    expect(after).toMatchObject({ status: 'past_due', default_payment_method: null });
    expect([last.status, last.amount_paid]).toEqual(['open', 0]);
    expect((await stripe.paymentMethods.list({ customer })).data.map(({ id }) => id)).toEqual([card]);
  });

  it('with phase_start is paid when the phase carries the card', async () => {
    const { id: customer } = await stripe.customers.create({});
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer });
    const made = await fixture.subscribe(customer, 'price_reader_monthly', { default_payment_method: card.id });
    const schedule = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
    const { current_period_start: start_date, current_period_end: end_date } = itemOf(made);
    const own = { default_payment_method: card.id };
    const updated = await stripe.subscriptionSchedules.update(schedule.id, {
      phases: [
        { items: [{ price: 'price_reader_monthly' }], start_date, end_date, ...own },
        {
          items: [{ price: 'price_reader_yearly' }],
          duration: { interval: 'year', interval_count: 1 },
          ...own,
          billing_cycle_anchor: 'phase_start',
        },
      ],
    });
    expect(updated.phases[1]).toMatchObject({ billing_cycle_anchor: 'phase_start', default_payment_method: card.id });
    fixture.state.advance(35 * day);
    const [last] = await invoicesOf(customer);
    expect(last).toMatchObject({ status: 'paid', amount_paid: 12_000 });
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('active');
  });

  it('without phase_start is billed only with the next invoice', async () => {
    const { customer, after } = await plannedSwitch({});
    expect(itemOf(after).price.id).toBe('price_reader_yearly');
    // Only the first month has been charged; the year waits for the next invoice.
    expect((await invoicesOf(customer)).map(({ amount_due }) => amount_due)).toEqual([1200]);
    const { data } = await stripe.invoiceItems.list({ customer, pending: true });
    expect(data.map(({ amount }) => amount)).toEqual([12_000]);
  });

  it('refuses the card of another customer', async () => {
    const other = await fixture.createPayingCustomer();
    const card = other.invoice_settings.default_payment_method as string;
    const error = await errorOf(plannedSwitch({ default_payment_method: card }));
    expect(error).toMatchObject({ statusCode: 400, param: 'phases[1][default_payment_method]' });
  });
});

describe('pausing collection', () => {
  it.each([
    ['void', 'void'],
    ['mark_uncollectible', 'uncollectible'],
    ['keep_as_draft', 'draft'],
  ] as const)('with behavior %s leaves the invoice %s', async (behavior, status) => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    const resumes_at = fixture.state.now() + 40 * day;
    const paused = await stripe.subscriptions.update(made.id, { pause_collection: { behavior, resumes_at } });
    expect(paused).toMatchObject({ status: 'active', pause_collection: { behavior, resumes_at } });
    fixture.state.advance(35 * day);
    expect((await invoicesOf(id))[0]).toMatchObject({ status, amount_paid: 0 });
    fixture.state.advance(30 * day);
    const after = await stripe.subscriptions.retrieve(made.id);
    expect(after).toMatchObject({ status: 'active', pause_collection: null });
    expect((await invoicesOf(id)).map((invoice) => invoice.status)).toEqual(['paid', status, 'paid']);
  });
});

describe('an idempotency key', () => {
  it('replays the answer, whatever its status, once the call has begun to execute', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly', { expand: ['latest_invoice.payments'] });
    const payment_intent = String(made.latest_invoice.payments?.data[0]?.payment.payment_intent);
    await stripe.refunds.create({ payment_intent });
    const refused = () => errorOf(stripe.refunds.create({ payment_intent }, { idempotencyKey: 'again' }));
    expect(await refused()).toMatchObject({ statusCode: 400, code: 'charge_already_refunded' });
    const replayed = await refused();
    expect(replayed).toMatchObject({ statusCode: 400, code: 'charge_already_refunded' });
    expect(replayed.headers?.['idempotent-replayed']).toBe('true');
    const missing = () => errorOf(stripe.subscriptions.update('sub_none', {}, { idempotencyKey: 'missing' }));
    expect((await missing()).headers?.['idempotent-replayed']).toBeUndefined();
    expect(await missing()).toMatchObject({ statusCode: 404, headers: { 'idempotent-replayed': 'true' } });
  });

  it('does not replay a refusal of malformed parameters', async () => {
    const options = { idempotencyKey: 'typo' };
    const wrong = stripe.customers.create({ nme: 'Ada' } as Stripe.CustomerCreateParams, options);
    expect(await errorOf(wrong)).toMatchObject({ statusCode: 400, code: 'parameter_unknown' });
    expect(await stripe.customers.create({ name: 'Ada' }, options)).toMatchObject({ name: 'Ada' });
    expect(await errorOf(stripe.customers.create({ name: 'Bob' }, options))).toMatchObject({
      statusCode: 400,
      rawType: 'idempotency_error',
    });
  });

  it('replays the first answer, and has at most 255 characters', async () => {
    const first = await stripe.customers.create({}, { idempotencyKey: 'daily' });
    expect((await stripe.customers.create({}, { idempotencyKey: 'daily' })).id).toBe(first.id);
    const long = stripe.customers.create({}, { idempotencyKey: 'k'.repeat(256) });
    expect((await errorOf(long)).statusCode).toBe(400);
  });
});

describe('the API version', () => {
  it.each([
    ['missing', {}],
    ['unknown', { 'stripe-version': '2020-08-27' }],
  ])('is refused with 400 when it is %s', async (_, version) => {
    const headers = { ...version, authorization: `Bearer ${fixture.access.secretKey}` };
    const answer = await fetch(`${fixture.access.apiUrl}/v1/customers`, { headers });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });
});

describe('a simulated Stripe failure', () => {
  it('with status 500 is replayed for the same idempotency key, and for no other', async () => {
    const options = { idempotencyKey: 'broken' };
    await fixture.control('POST faults', { path: '/v1/customers', method: 'POST', status: 500 });
    expect((await errorOf(stripe.customers.create({}, options))).statusCode).toBe(500);
    const again = await errorOf(stripe.customers.create({}, options));
    expect(again).toMatchObject({ statusCode: 500 });
    expect(again.headers?.['idempotent-replayed']).toBe('true');
    expect((await stripe.customers.create({}, { idempotencyKey: 'another' })).object).toBe('customer');
  });

  it('with status 429 gives the reason, and is not replayed', async () => {
    const options = { idempotencyKey: 'hurried' };
    await fixture.control('POST faults', { path: '/v1/customers', status: 429 });
    const error = await errorOf(stripe.customers.create({}, options));
    expect(error).toMatchObject({ statusCode: 429, type: 'StripeRateLimitError', code: 'rate_limit' });
    expect(error.headers?.['stripe-rate-limited-reason']).toBe('global-rate');
    expect((await stripe.customers.create({}, options)).object).toBe('customer');
  });
});
