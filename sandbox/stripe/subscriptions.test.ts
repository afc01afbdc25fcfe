import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { amounts, day, errorOf, type Fixture, itemOf, newYear, openFixture } from './testing.ts';

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
    const now = await stripe.subscriptions.retrieve(made.id, { expand: ['default_payment_method'] });
    expect(now.pending_setup_intent).toBeNull();
    expect((now.default_payment_method as Stripe.PaymentMethod).card?.brand).toBe('mastercard');
  });

  it('refuses parameters of earlier API versions', async () => {
    const { id } = await fixture.createPayingCustomer();
    const error = await errorOf(fixture.subscribe(id, 'price_reader_monthly', { coupon: 'ten-off' } as never));
    expect(error).toMatchObject({ statusCode: 400, code: 'parameter_unknown', param: 'coupon' });
  });
});

describe('subscription changes', () => {
  /** Half of a month of 31 days. */
  const half = 15.5 * day;

  it('are prorated to the second and charged at once, as previewed', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    fixture.state.advance(half);
    const items = [{ id: itemOf(made).id, price: 'price_member_monthly' }];
    const proration_date = newYear + half;
    const preview = await stripe.invoices.createPreview({
      subscription: made.id,
      subscription_details: { items, proration_behavior: 'always_invoice', proration_date },
    });
    expect(amounts(preview)).toEqual([-600, 1000]);
    expect(preview.amount_due).toBe(400);
    expect(preview.lines.data.map(({ description }) => description)).toEqual([
      'Unused time on Sun Reader after 16 Jan 2026',
      'Remaining time on Sun Member after 16 Jan 2026',
    ]);
    // A preview changes nothing.
    expect(await invoicesOf(id)).toHaveLength(1);
    fixture.state.advance(120);
    const after = await stripe.subscriptions.update(made.id, {
      items,
      proration_behavior: 'always_invoice',
      proration_date,
      expand: ['latest_invoice'],
    });
    expect(after.latest_invoice).toMatchObject({
      amount_paid: 400,
      status: 'paid',
      billing_reason: 'subscription_update',
    });
    expect(itemOf(after)).toMatchObject({
      price: { id: 'price_member_monthly' },
      current_period_end: at('2026-02-01T00:00:00'),
    });
  });

  it('round the credit and the charge separately', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    fixture.state.advance(10 * day);
    const preview = await stripe.invoices.createPreview({
      subscription: made.id,
      subscription_details: {
        items: [{ id: itemOf(made).id, price: 'price_member_monthly' }],
        proration_behavior: 'always_invoice',
      },
    });
    // 1200 × 21/31 = 812.90…, 2000 × 21/31 = 1354.83…
    expect(amounts(preview)).toEqual([-813, 1355]);
  });

  it('begin a new period when the billing anchor is moved to now', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    fixture.state.advance(half);
    const after = await stripe.subscriptions.update(made.id, {
      items: [{ id: itemOf(made).id, price: 'price_reader_yearly' }],
      billing_cycle_anchor: { type: 'now' },
      expand: ['latest_invoice'],
    });
    const invoice = after.latest_invoice as Stripe.Invoice;
    expect(amounts(invoice)).toEqual([-600, 12_000]);
    expect(invoice.amount_paid).toBe(11_400);
    expect(itemOf(after).current_period_end).toBe(at('2027-01-16T12:00:00'));
    expect(after.billing_cycle_anchor).toBe(newYear + half);
  });

  it('keep the billing anchor when the interval changes', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    fixture.state.advance(half);
    const items = [{ id: itemOf(made).id, price: 'price_reader_yearly' }];
    const after = await stripe.subscriptions.update(made.id, {
      items,
      proration_behavior: 'always_invoice',
      expand: ['latest_invoice'],
    });
    // The year starts at the anchor, and the rest of it is charged: 12000 × (365 − 15.5) / 365.
    expect(amounts(after.latest_invoice as Stripe.Invoice)).toEqual([-600, 11_490]);
    expect(after.billing_cycle_anchor).toBe(newYear);
    expect(itemOf(after)).toMatchObject({
      current_period_start: newYear,
      current_period_end: at('2027-01-01T00:00:00'),
    });
  });

  it('credit what was last debited, not a price that was never charged', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    const item = itemOf(made).id;
    fixture.state.advance(10 * day);
    await stripe.subscriptions.update(made.id, {
      items: [{ id: item, price: 'price_member_monthly' }],
      proration_behavior: 'none',
    });
    fixture.state.advance(10 * day);
    const back = await stripe.subscriptions.update(made.id, {
      items: [{ id: item, price: 'price_reader_monthly' }],
      proration_behavior: 'always_invoice',
      expand: ['latest_invoice'],
    });
    // docs.stripe.com/billing/subscriptions/prorations#credit-prorations: credit and debit cancel each other out.
    const invoice = back.latest_invoice as Stripe.Invoice;
    expect(amounts(invoice)).toEqual([-426, 426]);
    expect(invoice.total).toBe(0);
    expect(invoice.lines.data.map(({ parent }) => parent?.subscription_item_details?.proration)).toEqual([true, true]);
  });

  it('include each item’s share of a fixed discount in its proration', async () => {
    await stripe.coupons.create({ id: 'five', amount_off: 500, currency: 'usd', duration: 'forever' });
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly', {
      items: [{ price: 'price_reader_monthly' }, { price: 'price_member_monthly' }],
      discounts: [{ coupon: 'five' }],
    });
    const [reader] = made.items.data;
    fixture.state.advance(half);
    await stripe.subscriptions.update(made.id, { items: [{ id: reader?.id ?? '', deleted: true }] });
    const { data } = await stripe.invoiceItems.list({ customer: id, pending: true });
    // The item of 1200 bears 1200/3200 of the 500 discount, which is 188: the credit is half of 1012.
    expect(data.map(({ amount, discountable }) => [amount, discountable])).toEqual([[-506, false]]);
  });

  it('apply a fixed discount once in the credit and once in the charge', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_yearly', {
      discounts: [{ promotion_code: 'promo_ten_off' }],
    });
    fixture.state.advance(73 * day);
    const after = await stripe.subscriptions.update(made.id, {
      items: [{ id: itemOf(made).id, price: 'price_member_yearly' }],
      proration_behavior: 'always_invoice',
      expand: ['latest_invoice'],
    });
    const invoice = after.latest_invoice as Stripe.Invoice;
    // (12000 − 1000) × 4/5 credited, (20000 − 1000) × 4/5 charged.
    expect(amounts(invoice)).toEqual([-8800, 15_200]);
    expect(invoice.total).toBe(6400);
  });

  it('refuse billing modes that the sandbox does not model', async () => {
    const { id } = await fixture.createPayingCustomer();
    const classic = fixture.subscribe(id, 'price_reader_monthly', { billing_mode: { type: 'classic' } });
    expect(await errorOf(classic)).toMatchObject({ statusCode: 400, param: 'billing_mode' });
    const itemized = fixture.subscribe(id, 'price_reader_monthly', {
      billing_mode: { type: 'flexible', flexible: { proration_discounts: 'itemized' } },
    });
    expect(await errorOf(itemized)).toMatchObject({ statusCode: 400, param: 'billing_mode' });
  });

  it('refuse a price in another currency until the subscription is canceled', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    const euro = await stripe.prices.create({
      product: 'prod_reader',
      currency: 'eur',
      unit_amount: 1100,
      recurring: { interval: 'month' },
    });
    const refused = await errorOf(
      stripe.subscriptions.update(made.id, { items: [{ id: itemOf(made).id, price: euro.id }] }),
    );
    expect(refused).toMatchObject({
      statusCode: 400,
      type: 'StripeInvalidRequestError',
      rawType: 'invalid_request_error',
      message: "The price specified only supports `eur`. This doesn't match the expected currency: `usd`.",
      param: 'items[0][price]',
    });
    const second = stripe.subscriptions.update(made.id, { items: [{ id: itemOf(made).id }, { price: euro.id }] });
    expect(await errorOf(second)).toMatchObject({ statusCode: 400, param: 'items[1][price]' });
    expect((await errorOf(fixture.subscribe(id, euro.id))).message).toContain('cannot combine currencies');
    const preview = stripe.invoices.createPreview({
      customer: id,
      subscription_details: { items: [{ price: euro.id }] },
    });
    expect((await errorOf(preview)).message).toContain('currency usd');
    await stripe.subscriptions.cancel(made.id);
    expect(await fixture.subscribe(id, euro.id)).toMatchObject({ status: 'active', currency: 'eur' });
  });

  it('credit what was paid after the discount, not the list price', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_yearly', {
      discounts: [{ promotion_code: 'promo_sunshine_20' }],
    });
    expect(made.latest_invoice).toMatchObject({ subtotal: 12_000, total: 9600, amount_paid: 9600 });
    fixture.state.advance(73 * day);
    const preview = await stripe.invoices.createPreview({
      subscription: made.id,
      subscription_details: {
        items: [{ id: itemOf(made).id, price: 'price_member_yearly' }],
        proration_behavior: 'always_invoice',
      },
    });
    expect(amounts(preview)).toEqual([-7680, 16_000]);
  });

  it('are billed with the next invoice by default', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_member_monthly');
    fixture.state.advance(half);
    await stripe.subscriptions.update(made.id, { items: [{ id: itemOf(made).id, price: 'price_reader_monthly' }] });
    expect(await invoicesOf(id)).toHaveLength(1);
    fixture.state.advance(16 * day);
    const [renewal] = await invoicesOf(id);
    expect(renewal && amounts(renewal)).toEqual([-1000, 600, 1200]);
    expect(renewal?.amount_paid).toBe(800);
  });

  it('take effect only once they are paid, with pending_if_incomplete', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    await fixture.control('POST card', { customer: id, number: '4000000000000341' });
    fixture.state.advance(half);
    const change = {
      items: [{ id: itemOf(made).id, price: 'price_member_monthly' }],
      proration_behavior: 'always_invoice' as const,
      payment_behavior: 'pending_if_incomplete' as const,
    };
    const waiting = await stripe.subscriptions.update(made.id, { ...change, expand: ['latest_invoice'] });
    expect(waiting.status).toBe('active');
    expect(itemOf(waiting).price.id).toBe('price_reader_monthly');
    expect(waiting.pending_update?.subscription_items?.[0]?.price.id).toBe('price_member_monthly');
    const invoice = waiting.latest_invoice as Stripe.Invoice;
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: id });
    await stripe.invoices.pay(invoice.id, { payment_method: card.id });
    const now = await stripe.subscriptions.retrieve(made.id);
    expect(now.pending_update).toBeNull();
    expect(itemOf(now).price.id).toBe('price_member_monthly');
  });

  it('refuse a price that is not sold in the subscription’s currency', async () => {
    const customer = await fixture.createPayingCustomer();
    const { id: dollars } = await stripe.prices.create({
      currency: 'usd',
      unit_amount: 1500,
      recurring: { interval: 'month' },
      product: 'prod_reader',
    });
    const made = await fixture.subscribe(customer.id, 'price_reader_monthly', { currency: 'eur' });
    const items = [{ id: itemOf(made).id, price: dollars }];
    const other = {
      statusCode: 400,
      param: 'items[0][price]',
      message: expect.stringContaining('only supports `usd`'),
    };
    for (const proration_behavior of ['always_invoice', 'none'] as const)
      expect(await errorOf(stripe.subscriptions.update(made.id, { items, proration_behavior }))).toMatchObject(other);
    const details = { items, proration_behavior: 'none' } as const;
    expect(
      await errorOf(stripe.invoices.createPreview({ subscription: made.id, subscription_details: details })),
    ).toMatchObject(other);
    const fee = { price_data: { currency: 'usd', product: 'prod_reader', unit_amount: 100 } };
    expect(await errorOf(stripe.subscriptions.update(made.id, { add_invoice_items: [fee] }))).toMatchObject({
      statusCode: 400,
      message: expect.stringContaining('combine currencies'),
    });
    const schedule = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
    const [present] = schedule.phases;
    const phases = [
      { items: [{ price: 'price_reader_monthly' }], start_date: present?.start_date, end_date: present?.end_date },
      { items: [{ price: dollars }] },
    ] as Stripe.SubscriptionScheduleUpdateParams.Phase[];
    expect(await errorOf(stripe.subscriptionSchedules.update(schedule.id, { phases }))).toMatchObject({
      statusCode: 400,
      message: expect.stringContaining('only supports `usd`'),
    });
    expect((await stripe.subscriptions.retrieve(made.id)).items.data[0]?.price.id).toBe('price_reader_monthly');
  });

  it('follow a schedule into the next period without an extra charge', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_member_monthly');
    const schedule = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
    const [phase] = schedule.phases;
    await stripe.subscriptionSchedules.update(schedule.id, {
      end_behavior: 'release',
      phases: [
        { items: [{ price: 'price_member_monthly' }], start_date: phase?.start_date, end_date: phase?.end_date },
        { items: [{ price: 'price_reader_monthly' }], proration_behavior: 'none' },
      ],
    });
    fixture.state.advance(31 * day + 3600);
    const [renewal] = await invoicesOf(id);
    expect(renewal).toMatchObject({ amount_paid: 1200, billing_reason: 'subscription_cycle' });
    expect((await stripe.subscriptionSchedules.retrieve(schedule.id)).status).toBe('active');
    fixture.state.advance(28 * day);
    expect(await stripe.subscriptionSchedules.retrieve(schedule.id)).toMatchObject({
      status: 'released',
      released_subscription: made.id,
      subscription: null,
    });
    expect((await stripe.subscriptions.retrieve(made.id)).schedule).toBeNull();
  });

  it('use the discounts of the current schedule phase only', async () => {
    const { id } = await fixture.createPayingCustomer();
    const discounts = [{ promotion_code: 'promo_ten_off' }];
    const made = await fixture.subscribe(id, 'price_member_monthly', { discounts });
    const { id: schedule, phases } = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
    const [phase] = phases;
    const kept = phase?.discounts.map(({ discount }) => ({ discount: String(discount) })) ?? [];
    const { start_date, end_date } = phase ?? {};
    const present = { items: [{ price: 'price_member_monthly' }], start_date, end_date, discounts: kept };
    const later = { items: [{ price: 'price_reader_monthly' }], proration_behavior: 'none' as const };
    await stripe.subscriptionSchedules.update(schedule, { phases: [present, later] });
    expect((await stripe.subscriptions.retrieve(made.id)).discounts).toHaveLength(1);
    fixture.state.advance(31 * day + 3600);
    expect((await stripe.subscriptions.retrieve(made.id)).discounts).toEqual([]);
    expect((await invoicesOf(id))[0]).toMatchObject({ amount_paid: 1200 });
  });

  it('lose their discount when it is deleted, and the answer is the deleted discount', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_member_monthly', {
      discounts: [{ promotion_code: 'promo_ten_off' }],
    });
    const deleted = await stripe.subscriptions.deleteDiscount(made.id);
    const source = { type: 'coupon', coupon: expect.any(String) };
    expect(deleted).toMatchObject({ id: made.discounts[0], deleted: true, subscription: made.id, source });
    expect((await stripe.subscriptions.retrieve(made.id)).discounts).toEqual([]);
    expect(await errorOf(stripe.subscriptions.deleteDiscount(made.id))).toMatchObject({ statusCode: 404 });
  });

  it('can be called off by releasing the schedule', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_member_monthly');
    const { id: schedule } = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
    expect((await stripe.subscriptions.retrieve(made.id)).schedule).toBe(schedule);
    await stripe.subscriptionSchedules.release(schedule);
    expect((await stripe.subscriptions.retrieve(made.id)).schedule).toBeNull();
  });
});

describe('discounts', () => {
  const first = async (code: string, price = 'price_reader_yearly') => {
    const { id } = await fixture.createPayingCustomer();
    return fixture.subscribe(id, price, {
      discounts: [{ promotion_code: `promo_${code}` }],
      expand: ['latest_invoice', 'discounts'],
    });
  };

  it('apply once or forever, as the coupon says', async () => {
    const once = await first('sunshine_20');
    expect(once.latest_invoice.amount_paid).toBe(9600);
    expect(once.discounts).toEqual([]);
    const forever = await first('ten_off');
    expect(forever.latest_invoice.amount_paid).toBe(11_000);
    expect(forever.discounts).toMatchObject([
      { source: { type: 'coupon', coupon: 'ten-off' }, promotion_code: 'promo_ten_off' },
    ]);
    fixture.state.advance(366 * day);
    expect((await invoicesOf(String(once.customer)))[0]?.amount_paid).toBe(12_000);
    expect((await invoicesOf(String(forever.customer)))[0]?.amount_paid).toBe(11_000);
  });

  it('apply for the coupon’s number of months', async () => {
    await stripe.coupons.create({ id: 'two', percent_off: 50, duration: 'repeating', duration_in_months: 2 });
    const { id } = await fixture.createPayingCustomer();
    await fixture.subscribe(id, 'price_reader_monthly', { discounts: [{ coupon: 'two' }] });
    fixture.state.advance(92 * day);
    expect((await invoicesOf(id)).map(({ amount_paid }) => amount_paid)).toEqual([1200, 1200, 600, 600]);
  });

  it('are found by promotion code, together with their coupon', async () => {
    const { data } = await stripe.promotionCodes.list({
      code: 'sunshine20',
      active: true,
      expand: ['data.promotion.coupon'],
    });
    expect(data[0]?.promotion.coupon).toMatchObject({ id: 'sunshine-20', percent_off: 20, valid: true });
    expect((await stripe.promotionCodes.list({ code: 'EXPIRED', active: true })).data).toEqual([]);
    expect((await stripe.promotionCodes.list({ code: 'NOSUCH' })).data).toEqual([]);
  });

  it('are refused when they are expired, used up, unknown or another customer’s', async () => {
    expect(await errorOf(first('expired'))).toMatchObject({ statusCode: 400, code: 'coupon_expired' });
    expect(await errorOf(first('nonesuch'))).toMatchObject({
      code: 'resource_missing',
      param: 'discounts[0][promotion_code]',
    });
    await first('once_only');
    expect(await errorOf(first('once_only'))).toMatchObject({ statusCode: 400, param: 'discounts[0][promotion_code]' });
    expect((await stripe.promotionCodes.retrieve('promo_once_only')).active).toBe(false);
    const { id } = await stripe.customers.create({});
    const own = await stripe.promotionCodes.create({
      customer: id,
      code: 'MINE',
      promotion: { type: 'coupon', coupon: 'ten-off' },
    });
    const other = await fixture.createPayingCustomer();
    const foreign = fixture.subscribe(other.id, 'price_reader_yearly', { discounts: [{ promotion_code: own.id }] });
    expect((await errorOf(foreign)).statusCode).toBe(400);
  });

  it('respect a promotion code’s minimum amount, first-purchase rule and expiration', async () => {
    const code = (restrictions: Stripe.PromotionCodeCreateParams.Restrictions, name: string) =>
      stripe.promotionCodes.create({ code: name, promotion: { type: 'coupon', coupon: 'ten-off' }, restrictions });
    const { id } = await fixture.createPayingCustomer();
    const buy = (promotion_code: string, price = 'price_reader_monthly') =>
      fixture.subscribe(id, price, { discounts: [{ promotion_code }] });
    const dear = await code({ minimum_amount: 10_000, minimum_amount_currency: 'usd' }, 'DEAR');
    expect((await errorOf(buy(dear.id))).message).toContain('minimum amount');
    expect((await stripe.promotionCodes.retrieve(dear.id)).times_redeemed).toBe(0);
    const first = await code({ first_time_transaction: true }, 'FIRST');
    await stripe.subscriptions.cancel((await buy(dear.id, 'price_reader_yearly')).id);
    expect(await errorOf(buy(first.id))).toMatchObject({
      statusCode: 400,
      code: 'promotion_code_customer_not_first_time',
      message: 'This promotion code cannot be redeemed because the associated customer has prior transactions.',
    });
    const soon = await stripe.promotionCodes.create({
      code: 'SOON',
      promotion: { type: 'coupon', coupon: 'ten-off' },
      expires_at: fixture.state.now() + day,
    });
    fixture.state.advance(day);
    expect(await errorOf(buy(soon.id))).toMatchObject({ code: 'coupon_expired' });
  });

  it('take nothing off a product that the coupon does not cover', async () => {
    expect((await first('reader_only')).latest_invoice.total).toBe(8400);
    expect((await first('reader_only', 'price_member_yearly')).latest_invoice.total).toBe(20_000);
    const coupon = await stripe.coupons.retrieve('reader-only', { expand: ['applies_to'] });
    expect(coupon.applies_to).toEqual({ products: ['prod_reader'] });
    expect(await stripe.coupons.retrieve('reader-only')).not.toHaveProperty('applies_to');
  });
});
