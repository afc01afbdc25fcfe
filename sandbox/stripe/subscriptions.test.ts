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

const at = (text: string): number => Date.parse(`${text}Z`) / 1000;
const invoicesOf = async (customer: string) => (await stripe.invoices.list({ customer })).data;

describe('the catalog', () => {
  it('contains the plans with the metadata that the site reads', async () => {
    const { data } = await stripe.prices.list({ active: true, limit: 100, expand: ['data.product'] });
    const shown = data.map(({ metadata, unit_amount, recurring, product }) => [
      metadata.zephrPlanId,
      unit_amount,
      recurring?.interval,
      (product as Stripe.Product).metadata.zephr_product_id,
    ]);
    expect(shown.sort()).toEqual([
      ['member-monthly', 2000, 'month', 'sun-member'],
      ['member-print-yearly', 28_000, 'year', 'sun-member'],
      ['member-yearly', 20_000, 'year', 'sun-member'],
      ['reader-monthly', 1200, 'month', 'sun-reader'],
      ['reader-penny', 60, 'day', 'sun-reader'],
      ['reader-yearly', 12_000, 'year', 'sun-reader'],
    ]);
  });

  it('can be paged through in either direction', async () => {
    const ids = (await stripe.prices.list({ limit: 100 })).data.map(({ id }) => id);
    const first = await stripe.prices.list({ limit: 4 });
    expect(first.has_more).toBe(true);
    const second = await stripe.prices.list({ limit: 4, starting_after: ids[3] });
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids);
    expect(second.has_more).toBe(false);
    const before = await stripe.prices.list({ limit: 2, ending_before: ids[3] });
    expect(before.data.map(({ id }) => id)).toEqual(ids.slice(1, 3));
    const all = [];
    for await (const price of stripe.prices.list({ limit: 1 })) all.push(price.id);
    expect(all).toEqual(ids);
  });
});

describe('a new subscription', () => {
  it('is incomplete until its first invoice is paid, then active', async () => {
    const customer = await stripe.customers.create({});
    const made = await fixture.subscribe(customer.id, 'price_reader_monthly', {
      payment_behavior: 'default_incomplete',
      payment_settings: { save_default_payment_method: 'on_subscription' },
      billing_mode: { type: 'flexible' },
      expand: ['latest_invoice.confirmation_secret', 'latest_invoice.payments', 'pending_setup_intent'],
    });
    expect(made).toMatchObject({ status: 'incomplete', pending_setup_intent: null });
    expect(made.latest_invoice).toMatchObject({
      status: 'open',
      amount_due: 1200,
      billing_reason: 'subscription_create',
    });
    expect(made).not.toHaveProperty('current_period_end');
    expect(itemOf(made).current_period_end).toBe(at('2026-02-01T00:00:00'));
    const secret = made.latest_invoice.confirmation_secret?.client_secret ?? '';
    const [id = ''] = secret.split('_secret_');
    expect(made.latest_invoice.payments?.data[0]?.payment.payment_intent).toBe(id);
    const paid = await stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa' });
    expect(paid.status).toBe('succeeded');
    const now = await stripe.subscriptions.retrieve(made.id, { expand: ['latest_invoice'] });
    expect(now.status).toBe('active');
    expect(now.default_payment_method).toBe(paid.payment_method);
    expect(now.latest_invoice).toMatchObject({ status: 'paid', amount_paid: 1200, amount_remaining: 0 });
    const card = await stripe.paymentMethods.retrieve(String(paid.payment_method));
    expect(card.customer).toBe(customer.id);
  });

  it('expires when it is not paid within 23 hours', async () => {
    const customer = await stripe.customers.create({});
    const made = await fixture.subscribe(customer.id, 'price_reader_monthly', {
      payment_behavior: 'default_incomplete',
    });
    fixture.state.advance(23 * 3600 - 1);
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('incomplete');
    fixture.state.advance(1);
    const over = await stripe.subscriptions.retrieve(made.id, { expand: ['latest_invoice.payments'] });
    expect(over.status).toBe('incomplete_expired');
    const invoice = over.latest_invoice as Stripe.Invoice;
    expect(invoice.status).toBe('void');
    const intent = await stripe.paymentIntents.retrieve(String(invoice.payments?.data[0]?.payment.payment_intent));
    expect(intent.status).toBe('canceled');
  });

  it('expires when its first invoice is voided', async () => {
    const customer = await stripe.customers.create({});
    const made = await fixture.subscribe(customer.id, 'price_reader_monthly', {
      payment_behavior: 'default_incomplete',
    });
    await stripe.invoices.voidInvoice(made.latest_invoice.id ?? '');
    const over = await stripe.subscriptions.retrieve(made.id);
    expect(over).toMatchObject({ status: 'incomplete_expired', ended_at: fixture.state.now() });
    const paying = stripe.invoices.pay(made.latest_invoice.id ?? '', { payment_method: 'pm_card_visa' });
    expect((await errorOf(paying)).statusCode).toBe(400);
  });

  it('is not created when its card is declined and payment_behavior is error_if_incomplete', async () => {
    const { id } = await fixture.createPayingCustomer('pm_card_chargeCustomerFail');
    const error = await errorOf(
      fixture.subscribe(id, 'price_reader_monthly', { payment_behavior: 'error_if_incomplete' }),
    );
    expect(error).toMatchObject({ statusCode: 402, type: 'StripeCardError', code: 'card_declined' });
    expect((await stripe.subscriptions.list({ customer: id, status: 'all' })).data).toEqual([]);
    const kept = await fixture.subscribe(id, 'price_reader_monthly');
    expect(kept.status).toBe('incomplete');
  });

  it('charges 60 cents for a 60-day trial with an added item, then the yearly price', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_yearly', {
      trial_period_days: 60,
      add_invoice_items: [{ price_data: { currency: 'usd', product: 'prod_reader', unit_amount: 1 }, quantity: 60 }],
    });
    expect(made.status).toBe('trialing');
    expect(made.latest_invoice).toMatchObject({ status: 'paid', amount_paid: 60, total: 60 });
    // The invoice also lists the trial time, free of charge, next to the one-time charge.
    expect(made.latest_invoice.lines.data.map(({ amount, description }) => [amount, description])).toEqual([
      [60, 'Sun Reader'],
      [0, 'Free trial for 1 × Sun Reader'],
    ]);
    expect(itemOf(made).current_period_end).toBe(newYear + 60 * day);
    fixture.state.advance(60 * day);
    // The invoice of a renewal is a draft for an hour.
    const renewed = await stripe.subscriptions.retrieve(made.id, { expand: ['latest_invoice'] });
    expect(renewed.status).toBe('active');
    expect(renewed.latest_invoice).toMatchObject({
      status: 'draft',
      amount_due: 12_000,
      billing_reason: 'subscription_cycle',
    });
    fixture.state.advance(3600);
    expect((await invoicesOf(id)).map(({ status, amount_paid }) => [status, amount_paid])).toEqual([
      ['paid', 12_000],
      ['paid', 60],
    ]);
    expect(itemOf(await stripe.subscriptions.retrieve(made.id)).current_period_end).toBe(at('2027-03-02T00:00:00'));
  });

  it('asks for a card to be set up when nothing is due', async () => {
    const customer = await stripe.customers.create({});
    const made = await fixture.subscribe(customer.id, 'price_reader_yearly', {
      payment_behavior: 'default_incomplete',
      payment_settings: { save_default_payment_method: 'on_subscription' },
      discounts: [{ promotion_code: 'promo_free_year' }],
      expand: ['pending_setup_intent', 'latest_invoice.confirmation_secret'],
    });
    expect(made).toMatchObject({
      status: 'active',
      latest_invoice: { amount_due: 0, status: 'paid', confirmation_secret: null },
    });
    const setup = made.pending_setup_intent as Stripe.SetupIntent;
    expect(setup.status).toBe('requires_payment_method');
    await stripe.setupIntents.confirm(setup.id, { payment_method: 'pm_card_mastercard' });
    const now = await stripe.subscriptions.retrieve(made.id);
    expect(now).toMatchObject({ pending_setup_intent: null, default_payment_method: null });
  });

  it('returns the balance that was applied to an invoice when it is voided', async () => {
    const customer = await stripe.customers.create({ balance: -500 });
    const balance = async () => ((await stripe.customers.retrieve(customer.id)) as Stripe.Customer).balance;
    const { latest_invoice: bill } = await fixture.subscribe(customer.id, 'price_reader_monthly', {
      payment_behavior: 'default_incomplete',
    });
    expect(await balance()).toBe(0);
    const { amount_due: due } = await stripe.invoices.voidInvoice(bill.id ?? '');
    expect([due, await balance()]).toEqual([700, -500]);
  });

  it('refuses parameters of earlier API versions', async () => {
    const { id } = await fixture.createPayingCustomer();
    const error = await errorOf(fixture.subscribe(id, 'price_reader_monthly', { coupon: 'ten-off' } as never));
    expect(error).toMatchObject({ statusCode: 400, code: 'parameter_unknown', param: 'coupon' });
  });
});
