/** Calls that Stripe refuses because of an object's state, or because parameters exclude each other. */
import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { day, errorOf, type Fixture, itemOf, newYear, openFixture } from './testing.ts';

let fixture: Fixture;
let stripe: Stripe;
beforeEach(async () => {
  fixture = await openFixture();
  stripe = fixture.stripe;
});
afterEach(() => fixture.stop());

/** A paid monthly subscription. */
async function subscribed() {
  const { id: customer } = await fixture.createPayingCustomer();
  return { customer, made: await fixture.subscribe(customer, 'price_reader_monthly') };
}
const withHigherPrice = (made: Stripe.Subscription, quantity = 1) => [
  { id: itemOf(made).id, price: 'price_member_monthly', quantity },
];

describe('the end of a trial', () => {
  it('is refused when it has passed, in a change and in its preview', async () => {
    const { made } = await subscribed();
    const past = { trial_end: newYear - day };
    const change = stripe.subscriptions.update(made.id, past);
    expect(await errorOf(change)).toMatchObject({ statusCode: 400, param: 'trial_end' });
    const preview = stripe.invoices.createPreview({ subscription: made.id, subscription_details: past });
    expect(await errorOf(preview)).toMatchObject({ statusCode: 400, param: 'subscription_details[trial_end]' });
  });
});

describe('an invoice that is paid outside of Stripe', () => {
  it('keeps its amount, and its payment is canceled', async () => {
    const { id: customer } = await stripe.customers.create({});
    const { latest_invoice: bill } = await fixture.subscribe(customer, 'price_reader_monthly');
    const paid = await stripe.invoices.pay(bill.id, { paid_out_of_band: true, expand: ['payments'] });
    expect(paid).toMatchObject({ status: 'paid', amount_due: 1200, amount_paid: 1200, amount_paid_off_stripe: 1200 });
    expect(paid.amount_remaining).toBe(0);
    expect(paid.payments?.data.map(({ status }) => status)).toEqual(['canceled']);
    const { data } = await stripe.paymentIntents.list({ customer });
    expect(data.map(({ status }) => status)).toEqual(['canceled']);
  });
});

describe('the lines of an invoice', () => {
  it('after a line that doesn’t exist are refused', async () => {
    const { made } = await subscribed();
    const { data } = await stripe.invoices.listLineItems(made.latest_invoice.id);
    expect(data.map(({ amount }) => amount)).toEqual([1200]);
    const after = { starting_after: 'il_unknown' };
    const listed = stripe.invoices.listLineItems(made.latest_invoice.id, after);
    expect(await errorOf(listed)).toMatchObject({ statusCode: 400, param: 'starting_after' });
  });
});

describe('a canceled subscription', () => {
  it('is not found when it is canceled again', async () => {
    const { made } = await subscribed();
    await stripe.subscriptions.cancel(made.id);
    const again = await errorOf(stripe.subscriptions.cancel(made.id));
    expect(again).toMatchObject({ statusCode: 404, message: `No such subscription: '${made.id}'` });
  });
});

describe('a body of more than a megabyte', () => {
  it('is answered with 413', async () => {
    const body = 'x'.repeat(1024 * 1024 + 1);
    const response = await fetch(`${fixture.access.apiUrl}/v1/customers`, { method: 'POST', body });
    expect(response.status).toBe(413);
  });
});

describe('an invoice preview', () => {
  it('with tax needs a customer or an address', async () => {
    const params = { subscription_details: { items: [{ price: 'price_reader_monthly' }] } };
    const taxed = { ...params, automatic_tax: { enabled: true } };
    expect(await errorOf(stripe.invoices.createPreview(taxed))).toMatchObject({
      statusCode: 400,
      param: 'automatic_tax[enabled]',
    });
    const address = { country: 'US', postal_code: '10007' };
    const located = await stripe.invoices.createPreview({ ...taxed, customer_details: { address } });
    expect(located.total).toBe(1299);
  });

  it('takes a schedule or subscription details, but not both', async () => {
    const { made } = await subscribed();
    const { id: schedule } = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
    const both = { schedule, subscription_details: { items: withHigherPrice(made) } };
    expect(await errorOf(stripe.invoices.createPreview(both))).toMatchObject({ statusCode: 400, param: 'schedule' });
  });

  it('takes a proration date only with a prorated change', async () => {
    const { made } = await subscribed();
    const preview = (details: Stripe.InvoiceCreatePreviewParams.SubscriptionDetails) =>
      stripe.invoices.createPreview({
        subscription: made.id,
        subscription_details: { proration_date: newYear, ...details },
      });
    const param = 'subscription_details[proration_date]';
    expect(await errorOf(preview({}))).toMatchObject({ statusCode: 400, param });
    expect(await errorOf(preview({ items: withHigherPrice(made), proration_behavior: 'none' }))).toMatchObject({
      param,
    });
    expect((await preview({ items: withHigherPrice(made), proration_behavior: 'always_invoice' })).total).toBe(800);
  });

  it('of a subscription that is ending is refused with 404, unless it undoes the cancellation', async () => {
    const { customer, made } = await subscribed();
    await stripe.subscriptions.update(made.id, { cancel_at_period_end: true });
    const none = { statusCode: 404, code: 'invoice_upcoming_none', message: expect.stringContaining(customer) };
    expect(await errorOf(stripe.invoices.createPreview({ subscription: made.id }))).toMatchObject(none);
    const undone = { subscription: made.id, subscription_details: { cancel_at_period_end: false } };
    expect((await stripe.invoices.createPreview(undone)).total).toBe(1200);
    await stripe.subscriptions.update(made.id, { cancel_at: newYear + 10 * day });
    expect(await errorOf(stripe.invoices.createPreview({ subscription: made.id }))).toMatchObject(none);
    const going = { subscription: made.id, subscription_details: { cancel_at: '' } } as const;
    expect((await stripe.invoices.createPreview(going)).total).toBe(1200);
    await stripe.subscriptions.cancel(made.id);
    expect(await errorOf(stripe.invoices.createPreview(going))).toMatchObject(none);
  });
});

describe('a subscription with a schedule', () => {
  it('cannot be canceled or resumed directly while the schedule manages it', async () => {
    const { made } = await subscribed();
    const { id: schedule } = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
    for (const change of [
      { cancel_at_period_end: true },
      { cancel_at: newYear + 90 * day },
      { cancel_at: '' },
    ] as const) {
      expect(await errorOf(stripe.subscriptions.update(made.id, change))).toMatchObject({
        statusCode: 400,
        message: expect.stringContaining(`managed by the subscription schedule \`${schedule}\``),
      });
    }
    await stripe.subscriptionSchedules.release(schedule);
    await stripe.subscriptions.update(made.id, { cancel_at_period_end: true });
  });

  it('ends when its schedule says cancel, unless the schedule is changed or released', async () => {
    const { made } = await subscribed();
    const { id } = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
    const ends = async () => (await stripe.subscriptions.retrieve(made.id)).cancel_at;
    await stripe.subscriptionSchedules.update(id, { end_behavior: 'cancel' });
    expect(await ends()).toBe(itemOf(made).current_period_end);
    await stripe.subscriptionSchedules.update(id, { end_behavior: 'release' });
    expect(await ends()).toBeNull();
    await stripe.subscriptionSchedules.update(id, { end_behavior: 'cancel' });
    await stripe.subscriptionSchedules.release(id);
    expect(await ends()).toBeNull();
    const { id: other } = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
    await stripe.subscriptionSchedules.update(other, { end_behavior: 'cancel' });
    fixture.state.advance(32 * day);
    expect(await stripe.subscriptionSchedules.retrieve(other)).toMatchObject({ status: 'completed' });
    expect(await stripe.subscriptions.retrieve(made.id)).toMatchObject({ status: 'canceled' });
  });

  it('gets its schedule by from_subscription alone, and only while it is not canceled', async () => {
    const { made } = await subscribed();
    const params = { from_subscription: made.id, metadata: { plan: 'reader-monthly' } };
    expect(await errorOf(stripe.subscriptionSchedules.create(params))).toMatchObject({ param: 'metadata' });
    await stripe.subscriptions.cancel(made.id);
    const late = await errorOf(stripe.subscriptionSchedules.create({ from_subscription: made.id }));
    expect(late.message).toContain('currently in the `canceled` status');
  });

  it('refuses phases with a missing or moved start, two kinds of end, or a trial with phase_start', async () => {
    const { made } = await subscribed();
    const { id, current_phase: now } = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
    if (!now) throw new Error('The schedule has no phase.');
    const first = { items: [{ price: 'price_reader_monthly' }], ...now };
    const later = { items: [{ price: 'price_reader_yearly' }] };
    const update = (...phases: Stripe.SubscriptionScheduleUpdateParams.Phase[]) =>
      errorOf(stripe.subscriptionSchedules.update(id, { phases }));
    const { start_date: _start, ...undated } = first;
    expect(await update(undated)).toMatchObject({ code: 'parameter_missing', param: 'phases[0][start_date]' });
    expect(await update({ ...first, start_date: now.start_date + day })).toMatchObject({
      param: 'phases[0][start_date]',
    });
    const year = { interval: 'year', interval_count: 1 } as const;
    expect(await update(first, { ...later, end_date: now.end_date + 365 * day, duration: year })).toMatchObject({
      param: 'phases[1][duration]',
    });
    const trial = { ...later, duration: year, trial: true, billing_cycle_anchor: 'phase_start' } as const;
    expect(await update(first, trial)).toMatchObject({ param: 'phases[1][billing_cycle_anchor]' });
  });
});

describe('a pending update', () => {
  async function waiting(at: number) {
    const { customer, made } = await subscribed();
    await fixture.control('POST card', { customer, number: '4000000000000341' });
    fixture.state.advance(at);
    const change = {
      items: withHigherPrice(made),
      proration_behavior: 'always_invoice',
      payment_behavior: 'pending_if_incomplete',
    } as const;
    return { made, change, changed: await stripe.subscriptions.update(made.id, change) };
  }

  it('cannot contain other settings, such as tax', async () => {
    const { made } = await subscribed();
    const change = { items: withHigherPrice(made), payment_behavior: 'pending_if_incomplete' } as const;
    expect(
      await errorOf(stripe.subscriptions.update(made.id, { ...change, automatic_tax: { enabled: true } })),
    ).toMatchObject({ statusCode: 400, param: 'automatic_tax' });
  });

  it('is refused for a subscription that is billed by sent invoices', async () => {
    const { id: customer } = await fixture.createPayingCustomer();
    const byInvoice = { collection_method: 'send_invoice', days_until_due: 30 } as const;
    const items = [{ price: 'price_reader_monthly' }];
    const undated = { customer, items, collection_method: 'send_invoice' as const };
    expect(await errorOf(stripe.subscriptions.create(undated))).toMatchObject({ param: 'days_until_due' });
    const made = await fixture.subscribe(customer, 'price_reader_monthly', byInvoice);
    expect(made).toMatchObject({ status: 'active', collection_method: 'send_invoice' });
    expect(made.latest_invoice).toMatchObject({ status: 'open', due_date: newYear + 30 * day, attempt_count: 0 });
    const change = { items: withHigherPrice(made), payment_behavior: 'pending_if_incomplete' } as const;
    expect(await errorOf(stripe.subscriptions.update(made.id, change))).toMatchObject({ param: 'payment_behavior' });
    fixture.state.advance(32 * day);
    expect((await stripe.charges.list({ customer })).data).toEqual([]);
  });

  it('expires after 23 hours, or at the end of the period if that is sooner', async () => {
    const early = await waiting(10 * day);
    expect(early.changed.pending_update?.expires_at).toBe(fixture.state.now() + 23 * 3600);
    const { current_period_end: end } = itemOf(early.made);
    fixture.state.advanceTo(end - 10 * 3600);
    const late = await stripe.subscriptions.update(early.made.id, {
      ...early.change,
      items: withHigherPrice(early.made, 20),
    });
    expect(late.pending_update?.expires_at).toBe(end);
  });

  it('is replaced by a later one, and its invoice is voided', async () => {
    const { made, change, changed } = await waiting(10 * day);
    const again = await stripe.subscriptions.update(made.id, change);
    expect(again.latest_invoice).not.toBe(changed.latest_invoice);
    expect((await stripe.invoices.retrieve(String(changed.latest_invoice))).status).toBe('void');
    expect((await stripe.invoices.retrieve(String(again.latest_invoice))).status).toBe('open');
  });
});

describe('a payment method', () => {
  it('cannot be used again after it is detached', async () => {
    const { id: customer } = await fixture.createPayingCustomer();
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer });
    await stripe.paymentMethods.detach(card.id);
    const intent = await stripe.setupIntents.create({ customer, allowed_payment_method_types: ['card'] });
    const refused = await errorOf(stripe.setupIntents.confirm(intent.id, { payment_method: card.id }));
    expect(refused).toMatchObject({ statusCode: 400, type: 'StripeInvalidRequestError' });
    expect([refused.code, refused.param]).toEqual([undefined, undefined]);
    expect(refused.message).toContain('It may not be used again');
  });

  it('cannot pay an invoice when it is unattached or another customer’s', async () => {
    const { id: customer } = await stripe.customers.create({});
    const made = await fixture.subscribe(customer, 'price_reader_monthly', { payment_behavior: 'default_incomplete' });
    const pay = (payment_method: string) => errorOf(stripe.invoices.pay(made.latest_invoice.id, { payment_method }));
    const none = { statusCode: 400, code: 'resource_missing', param: 'payment_method' };
    expect(await pay('pm_card_visa')).toMatchObject(none);
    const other = await fixture.createPayingCustomer();
    expect(await pay(String(other.invoice_settings.default_payment_method))).toMatchObject(none);
  });
});

describe('a list', () => {
  it('is refused for an unknown customer, but not for a deleted one', async () => {
    const none = { statusCode: 400, code: 'resource_missing', param: 'customer' };
    const customer = 'cus_nobody';
    const lists = [stripe.subscriptions, stripe.invoices, stripe.charges, stripe.paymentMethods] as const;
    for (const list of lists) expect(await errorOf(list.list({ customer }))).toMatchObject(none);
    const { customer: deletedCustomer } = await subscribed();
    await stripe.customers.del(deletedCustomer);
    expect((await stripe.subscriptions.list({ customer: deletedCustomer, status: 'all' })).data).toHaveLength(1);
    expect((await stripe.charges.list({ customer: deletedCustomer })).data).toHaveLength(1);
  });

  it('of events goes back 30 days, and takes at most 20 types', async () => {
    const { made } = await subscribed();
    const type = 'customer.subscription.created';
    expect((await stripe.events.list({ type })).data).toHaveLength(1);
    const types = Array.from({ length: 21 }, () => type);
    expect(await errorOf(stripe.events.list({ types }))).toMatchObject({ param: 'types' });
    expect(await errorOf(stripe.events.list({ type, types: [type] }))).toMatchObject({ param: 'type' });
    await stripe.subscriptions.cancel(made.id);
    fixture.state.advance(31 * day);
    expect((await stripe.events.list({ type })).data).toHaveLength(0);
  });
});

it('the minimum charge depends on the currency, which may have no minor unit', async () => {
  const pay = (amount: number, currency: string) => stripe.paymentIntents.create({ amount, currency });
  expect(await errorOf(pay(49, 'usd'))).toMatchObject({ code: 'amount_too_small', param: 'amount' });
  expect((await pay(30, 'gbp')).amount).toBe(30);
  expect((await errorOf(pay(49, 'jpy'))).message).toContain('¥50 jpy');
  expect((await errorOf(pay(1499, 'czk'))).code).toBe('amount_too_small');
});

it('a fixed-amount coupon must match the subscription’s currency', async () => {
  const { id: customer } = await fixture.createPayingCustomer();
  const discounts = [{ coupon: 'ten-off' }];
  const make = (currency: string) =>
    stripe.subscriptions.create({ customer, currency, items: [{ price: 'price_reader_yearly' }], discounts });
  expect(await errorOf(make('gbp'))).toMatchObject({ statusCode: 400, param: 'discounts' });
  expect((await make('usd')).status).toBe('active');
});

it('metadata may have 50 keys in total, not per call', async () => {
  const keys = (from: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, one) => [`key${from + one}`, 'x']));
  const { id } = await stripe.customers.create({ metadata: keys(0, 30) });
  expect(await errorOf(stripe.customers.update(id, { metadata: keys(30, 21) }))).toMatchObject({ param: 'metadata' });
  await stripe.customers.update(id, { metadata: keys(30, 20) });
});

it('an idempotency key has no effect on a deletion', async () => {
  const { id } = await stripe.customers.create({});
  const options = { idempotencyKey: 'once' };
  await stripe.customers.del(id, {}, options);
  expect(await errorOf(stripe.customers.del(id, {}, options))).toMatchObject({ statusCode: 404 });
});

it('an email address needs an @ and a domain with a dot', async () => {
  const none = { statusCode: 400, code: 'email_invalid', param: 'email' };
  expect(await errorOf(stripe.customers.create({ email: 'otameshi@com' }))).toMatchObject(none);
  expect(await errorOf(stripe.customers.create({ email: 'ada＠example.com' }))).toMatchObject(none);
});

it('an address that tax can’t be calculated for is refused with validate_location=immediately', async () => {
  const { id } = await stripe.customers.create({});
  const address = { country: 'US', postal_code: 'nowhere' };
  const checked = stripe.customers.update(id, { address, tax: { validate_location: 'immediately' } });
  expect(await errorOf(checked)).toMatchObject({ statusCode: 400, code: 'customer_tax_location_invalid' });
  expect((await stripe.customers.retrieve(id)) as Stripe.Customer).toMatchObject({ address: null });
  await stripe.customers.update(id, { address, tax: { validate_location: 'deferred' } });
});
