/** What Stripe refuses because of the state of an object, or because parameters exclude each other. */
import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, day, itemOf, newYear, openBench, refusal } from './testing.ts';

let bench: Bench;
let stripe: Stripe;
beforeEach(async () => {
  bench = await openBench();
  stripe = bench.stripe;
});
afterEach(() => bench.stop());

/** A monthly subscription that is paid. */
async function subscribed() {
  const { id: customer } = await bench.payer();
  return { customer, made: await bench.subscribe(customer, 'price_reader_monthly') };
}
const dearer = (made: Stripe.Subscription, quantity = 1) => [
  { id: itemOf(made).id, price: 'price_member_monthly', quantity },
];

describe('a preview', () => {
  it('of tax needs someone, or a place, to tax', async () => {
    const params = { subscription_details: { items: [{ price: 'price_reader_monthly' }] } };
    const taxed = { ...params, automatic_tax: { enabled: true } };
    expect(await refusal(stripe.invoices.createPreview(taxed))).toMatchObject({
      statusCode: 400,
      param: 'automatic_tax[enabled]',
    });
    const address = { country: 'US', postal_code: '10007' };
    const located = await stripe.invoices.createPreview({ ...taxed, customer_details: { address } });
    expect(located.total).toBe(1299);
  });

  it('is of a subscription or of a schedule', async () => {
    const { made } = await subscribed();
    const { id: schedule } = await stripe.subscriptionSchedules.create({ from_subscription: made.id });
    const both = { schedule, subscription_details: { items: dearer(made) } };
    expect(await refusal(stripe.invoices.createPreview(both))).toMatchObject({ statusCode: 400, param: 'schedule' });
  });

  it('takes a proration date only with a change that is prorated', async () => {
    const { made } = await subscribed();
    const asked = (details: Stripe.InvoiceCreatePreviewParams.SubscriptionDetails) =>
      stripe.invoices.createPreview({
        subscription: made.id,
        subscription_details: { proration_date: newYear, ...details },
      });
    const param = 'subscription_details[proration_date]';
    expect(await refusal(asked({}))).toMatchObject({ statusCode: 400, param });
    expect(await refusal(asked({ items: dearer(made), proration_behavior: 'none' }))).toMatchObject({ param });
    expect((await asked({ items: dearer(made), proration_behavior: 'always_invoice' })).total).toBe(800);
  });

  it('of a subscription that ends finds no next bill, unless it takes the end back', async () => {
    const { customer, made } = await subscribed();
    await stripe.subscriptions.update(made.id, { cancel_at_period_end: true });
    const none = { statusCode: 404, code: 'invoice_upcoming_none', message: expect.stringContaining(customer) };
    expect(await refusal(stripe.invoices.createPreview({ subscription: made.id }))).toMatchObject(none);
    const kept = { subscription: made.id, subscription_details: { cancel_at_period_end: false } };
    expect((await stripe.invoices.createPreview(kept)).total).toBe(1200);
    await stripe.subscriptions.update(made.id, { cancel_at: newYear + 10 * day });
    expect(await refusal(stripe.invoices.createPreview({ subscription: made.id }))).toMatchObject(none);
    const going = { subscription: made.id, subscription_details: { cancel_at: '' } } as const;
    expect((await stripe.invoices.createPreview(going)).total).toBe(1200);
    await stripe.subscriptions.cancel(made.id);
    expect(await refusal(stripe.invoices.createPreview(going))).toMatchObject(none);
  });
});
