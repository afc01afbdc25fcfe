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

const typesOf = async (more: Stripe.EventListParams = {}) =>
  (await stripe.events.list({ limit: 100, ...more })).data.map(({ type }) => type);

describe('renewals', () => {
  it('come on the same day each month, or on the last day of a shorter month', async () => {
    fixture.state.advance(30 * day);
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    const ends = [itemOf(made).current_period_end];
    for (let month = 0; month < 3; month += 1) {
      fixture.state.advanceTo((ends.at(-1) ?? 0) + 3600);
      ends.push(itemOf(await stripe.subscriptions.retrieve(made.id)).current_period_end);
    }
    expect(ends.map((end) => new Date(end * 1000).toISOString().slice(0, 10))).toEqual([
      ...['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'],
    ]);
  });

  it('are announced seven days ahead, and the end of a trial three days ahead', async () => {
    const { id } = await fixture.createPayingCustomer();
    await fixture.subscribe(id, 'price_reader_monthly', { trial_period_days: 30 });
    fixture.state.advance(22 * day);
    expect(await typesOf()).not.toContain('invoice.upcoming');
    fixture.state.advance(day);
    expect(await typesOf()).toContain('invoice.upcoming');
    expect(await typesOf()).not.toContain('customer.subscription.trial_will_end');
    fixture.state.advance(4 * day);
    expect(await typesOf()).toContain('customer.subscription.trial_will_end');
  });

  it('announce the end of a two-day trial at once', async () => {
    const { id } = await fixture.createPayingCustomer();
    await fixture.subscribe(id, 'price_reader_monthly', { trial_period_days: 2 });
    fixture.state.advance(1);
    expect(await typesOf()).toContain('customer.subscription.trial_will_end');
  });

  it('are draft invoices for an hour, and are then charged', async () => {
    const { id } = await fixture.createPayingCustomer();
    await fixture.subscribe(id, 'price_reader_monthly');
    fixture.state.advance(31 * day + 3599);
    const newest = async () => (await stripe.invoices.list({ customer: id })).data[0];
    expect(await newest()).toMatchObject({ status: 'draft', automatically_finalizes_at: newYear + 31 * day + 3600 });
    fixture.state.advance(1);
    expect(await newest()).toMatchObject({ status: 'paid', attempt_count: 1, next_payment_attempt: null });
  });

  it('are attempted four times when the card is declined, and then the subscription is canceled', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    await fixture.control('POST card', { customer: id, number: '4000000000000341' });
    fixture.state.advance(31 * day + 3600);
    const first = await stripe.subscriptions.retrieve(made.id, { expand: ['latest_invoice'] });
    const invoice = first.latest_invoice as Stripe.Invoice;
    expect(first.status).toBe('past_due');
    expect(invoice).toMatchObject({ status: 'open', attempt_count: 1, amount_remaining: 1200 });
    expect(invoice.next_payment_attempt).toBe(newYear + 34 * day + 3600);
    fixture.state.advance(8 * day);
    expect((await stripe.invoices.retrieve(invoice.id)).attempt_count).toBe(3);
    // A manual attempt is possible at any time, and uses up no retry.
    await errorOf(stripe.invoices.pay(invoice.id));
    expect((await stripe.invoices.retrieve(invoice.id)).attempt_count).toBe(3);
    fixture.state.advance(7 * day);
    expect(await stripe.invoices.retrieve(invoice.id)).toMatchObject({ attempt_count: 4, next_payment_attempt: null });
    expect(await stripe.subscriptions.retrieve(made.id)).toMatchObject({
      status: 'canceled',
      cancellation_details: { reason: 'payment_failed' },
    });
    // Four scheduled attempts, one manual.
    expect((await typesOf({ type: 'invoice.payment_failed' })).length).toBe(5);
    expect(await typesOf()).toContain('customer.subscription.deleted');
  });

  it.each(['at once', 'by the next retry'])('are paid %s when another card replaces a declined one', async (when) => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    await fixture.control('POST card', { customer: id, number: '4000000000000341' });
    fixture.state.advance(31 * day + 3600);
    const { latest_invoice: invoice, status } = await stripe.subscriptions.retrieve(made.id);
    expect(status).toBe('past_due');
    if (when === 'at once') {
      const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: id });
      await stripe.invoices.pay(String(invoice), { payment_method: card.id });
    } else {
      await fixture.control('POST card', { customer: id, number: '4242424242424242' });
      expect((await stripe.invoices.retrieve(String(invoice))).status).toBe('open');
      fixture.state.advance(3 * day);
    }
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('active');
    expect(await stripe.invoices.retrieve(String(invoice))).toMatchObject({ status: 'paid', amount_paid: 1200 });
  });

  it('that keep failing leave the subscription unpaid if the account’s settings say so', async () => {
    await fixture.control('PUT settings', { afterLastRetry: 'unpaid' });
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_yearly');
    await fixture.control('POST card', { customer: id, number: '4000000000000341' });
    fixture.state.advance(365 * day + 3600 + 16 * day);
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('unpaid');
  });

  it('of an unpaid subscription stay drafts, which can be voided only once finalized, and not deleted', async () => {
    await fixture.control('PUT settings', { afterLastRetry: 'unpaid' });
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    await fixture.control('POST card', { customer: id, number: '4000000000000341' });
    fixture.state.advance(31 * day + 3600 + 16 * day);
    fixture.state.advance(20 * day);
    const [draft] = (await stripe.invoices.list({ subscription: made.id })).data;
    expect(draft).toMatchObject({ status: 'draft', auto_advance: false, attempted: false });
    expect(await errorOf(stripe.invoices.del(draft?.id ?? ''))).toMatchObject({ code: 'invoice_not_editable' });
    expect(await errorOf(stripe.invoices.voidInvoice(draft?.id ?? ''))).toMatchObject({ code: 'invoice_not_editable' });
    await stripe.invoices.finalizeInvoice(draft?.id ?? '', { auto_advance: false });
    expect(await stripe.invoices.voidInvoice(draft?.id ?? '')).toMatchObject({ status: 'void' });
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('unpaid');
  });

  it('that keep failing leave the subscription past due and billed if the account’s settings say so', async () => {
    await fixture.control('PUT settings', { afterLastRetry: 'past_due' });
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    await fixture.control('POST card', { customer: id, number: '4000000000000341' });
    fixture.state.advance(31 * day + 3600 + 16 * day);
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('past_due');
    fixture.state.advance(28 * day);
    expect((await stripe.invoices.list({ customer: id })).data.map(({ status }) => status)).toEqual([
      ...['open', 'open', 'paid'],
    ]);
  });

  it('that failed return the subscription to active when the invoice is marked uncollectible', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    await fixture.control('POST card', { customer: id, number: '4000000000000341' });
    fixture.state.advance(31 * day + 3600);
    const { latest_invoice: invoice, status } = await stripe.subscriptions.retrieve(made.id);
    expect(status).toBe('past_due');
    await stripe.invoices.markUncollectible(String(invoice));
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('active');
  });

  it('stop at the end of the paid period with cancel_at_period_end, which can be undone', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    const asked = await stripe.subscriptions.update(made.id, { cancel_at_period_end: true });
    expect(asked).toMatchObject({ status: 'active', cancel_at_period_end: true, cancel_at: newYear + 31 * day });
    const resumed = await stripe.subscriptions.update(made.id, { cancel_at_period_end: false });
    expect(resumed).toMatchObject({ cancel_at: null, canceled_at: null });
    await stripe.subscriptions.update(made.id, { cancel_at_period_end: true });
    fixture.state.advance(31 * day);
    expect(await stripe.subscriptions.retrieve(made.id)).toMatchObject({
      status: 'canceled',
      ended_at: newYear + 31 * day,
    });
    fixture.state.advance(40 * day);
    expect((await stripe.invoices.list({ customer: id })).data).toHaveLength(1);
  });

  it('wait for the customer when the bank requires authentication, and can be paid with another card', async () => {
    const { id } = await stripe.customers.create({});
    const made = await fixture.subscribe(id, 'price_reader_monthly', {
      payment_behavior: 'default_incomplete',
      payment_settings: { save_default_payment_method: 'on_subscription' },
      expand: ['latest_invoice.confirmation_secret'],
    });
    const [intent = ''] = made.latest_invoice.confirmation_secret?.client_secret.split('_secret_') ?? [];
    const asked = await stripe.paymentIntents.confirm(intent, { payment_method: 'pm_card_authenticationRequired' });
    expect(asked).toMatchObject({ status: 'requires_action', next_action: { type: 'use_stripe_sdk' } });
    await fixture.control('POST challenge', { intent, passed: true });
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('active');
    fixture.state.advance(31 * day + 3600);
    const due = await stripe.subscriptions.retrieve(made.id, { expand: ['latest_invoice.confirmation_secret'] });
    expect(due.status).toBe('past_due');
    expect(await typesOf()).toContain('invoice.payment_action_required');
    // Stripe's own page for the invoice leads to the bank, too.
    const hosted = async () => {
      const { hosted_invoice_url: page } = await stripe.invoices.retrieve(
        (due.latest_invoice as Stripe.Invoice).id ?? '',
      );
      return (await fetch(page ?? '')).text();
    };
    expect(await hosted()).toContain('href="/challenge/pi_');
    const again = (due.latest_invoice as Stripe.Invoice).confirmation_secret?.client_secret.split('_secret_')[0] ?? '';
    // The bank asks again and refuses: the invoice stays due, and the next attempt may succeed.
    await fixture.control('POST challenge', { intent: again, passed: false });
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('past_due');
    expect(await hosted()).not.toContain('href="/challenge/');
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: id });
    await stripe.invoices.pay((due.latest_invoice as Stripe.Invoice).id ?? '', { payment_method: card.id });
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('active');
  });
});

describe('a failed charge for a plan change', () => {
  it('is retried like a renewal, and required authentication counts as a failure', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await fixture.subscribe(id, 'price_reader_monthly');
    await fixture.control('POST card', { customer: id, number: '4000000000000341' });
    fixture.state.advance(5 * day);
    const items = [{ id: itemOf(made).id, price: 'price_member_monthly' }];
    const changed = await stripe.subscriptions.update(made.id, { items, proration_behavior: 'always_invoice' });
    expect(changed.status).toBe('past_due');
    await fixture.control('POST card', { customer: id, number: '4000002760003184' });
    fixture.state.advance(16 * day);
    const invoice = await stripe.invoices.retrieve(String(changed.latest_invoice));
    expect(invoice).toMatchObject({ status: 'open', attempt_count: 4 });
    expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('canceled');
  });
});

describe('test clocks', () => {
  it('move the time of their own customers only', async () => {
    const clock = await stripe.testHelpers.testClocks.create({ frozen_time: newYear + 100 * day });
    const { id } = await stripe.customers.create({ test_clock: clock.id });
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: id });
    const mine = await fixture.subscribe(id, 'price_reader_monthly', { default_payment_method: card.id });
    expect(mine).toMatchObject({ test_clock: clock.id, created: newYear + 100 * day });
    const other = await fixture.createPayingCustomer();
    const theirs = await fixture.subscribe(other.id, 'price_reader_monthly');
    for (const days of [150, 170]) {
      const moved = await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: newYear + days * day });
      expect(moved.status).toBe('advancing');
    }
    expect(await stripe.testHelpers.testClocks.retrieve(clock.id)).toMatchObject({
      status: 'ready',
      frozen_time: newYear + 170 * day,
    });
    expect((await stripe.invoices.list({ customer: id })).data.map(({ created }) => created)).toEqual([
      ...[Date.UTC(2026, 5, 11) / 1000, Date.UTC(2026, 4, 11) / 1000, Date.UTC(2026, 3, 11) / 1000],
    ]);
    expect(itemOf(await stripe.subscriptions.retrieve(theirs.id)).current_period_end).toBe(newYear + 31 * day);
  });

  it('move by two intervals of their shortest subscription at most, or by two years without one', async () => {
    const { id } = await stripe.testHelpers.testClocks.create({ frozen_time: newYear });
    const advance = (days: number) => stripe.testHelpers.testClocks.advance(id, { frozen_time: newYear + days * day });
    expect(await errorOf(advance(731))).toMatchObject({ statusCode: 400, param: 'frozen_time' });
    const { id: customer } = await stripe.customers.create({ test_clock: id });
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer });
    await fixture.subscribe(customer, 'price_reader_yearly', { default_payment_method: card.id });
    await fixture.subscribe(customer, 'price_reader_monthly', { default_payment_method: card.id });
    // Two months after January 1 it is March 1, in 59 days.
    expect(await errorOf(advance(60))).toMatchObject({ statusCode: 400, param: 'frozen_time' });
    expect((await advance(59)).status).toBe('advancing');
  });
});
