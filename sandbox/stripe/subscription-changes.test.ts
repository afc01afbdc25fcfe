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
