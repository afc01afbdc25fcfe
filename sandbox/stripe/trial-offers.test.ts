/** Trial Offers as docs.stripe.com/billing/subscriptions/trials has them: a paid trial, then automatically the full price. */
import type Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { amounts, day, errorOf, type Fixture, itemOf, newYear, openFixture } from './testing.ts';

let fixture: Fixture;
let stripe: Stripe;
beforeAll(async () => {
  fixture = await openFixture();
  stripe = fixture.stripe;
});
beforeEach(() => fixture.state.reset());
afterAll(() => fixture.stop());

const yearly = 'price_reader_yearly';

async function priceOf(amount: number, more: Partial<Stripe.PriceCreateParams> = {}): Promise<string> {
  const recurring = { interval: 'day', interval_count: 60 } as const;
  const price = { currency: 'usd', product: 'prod_reader', unit_amount: amount, recurring, ...more };
  return (await stripe.prices.create(price)).id;
}
async function offerOf(amount = 60, next = yearly, iterations = 1): Promise<Stripe.ProductCatalog.TrialOffer> {
  return stripe.productCatalog.trialOffers.create({
    price: await priceOf(amount),
    duration: { type: 'relative', relative: { iterations } },
    end_behavior: { transition: { price: next } },
  });
}

type Made = Stripe.Subscription & { latest_invoice: Stripe.Invoice };
const begin = async (customer: string, offer: string, more: Partial<Stripe.SubscriptionCreateParams> = {}) =>
  (await stripe.subscriptions.create({
    customer,
    items: [{ current_trial: { trial_offer: offer } }],
    expand: ['latest_invoice'],
    ...more,
  })) as Made;
const typesOf = async (): Promise<readonly string[]> =>
  (await stripe.events.list({ limit: 100 })).data.map(({ type }) => type).toReversed();

describe('a trial offer', () => {
  it('can be created, found by its price, expanded and archived, but not renamed', async () => {
    const made = await offerOf();
    expect(made).toMatchObject({
      object: 'product_catalog.trial_offer',
      active: true,
      nickname: null,
      duration: { type: 'relative', relative: { iterations: 1 } },
      end_behavior: { type: 'transition', transition: { price: yearly } },
    });
    const other = await offerOf();
    const { trialOffers } = stripe.productCatalog;
    const found = await trialOffers.list({
      prices: [made.price as string],
      expand: ['data.end_behavior.transition.price'],
    });
    expect(found.data.map(({ id }) => id)).toEqual([made.id]);
    expect(found.data[0]?.end_behavior.transition?.price).toMatchObject({ id: yearly, unit_amount: 12_000 });
    expect((await trialOffers.update(made.id, { active: false })).active).toBe(false);
    expect((await trialOffers.list({ active: true })).data.map(({ id }) => id)).toEqual([other.id, 'to_reader_penny']);
    expect(await errorOf(trialOffers.update(made.id, { nickname: 'x' } as never))).toMatchObject({
      code: 'parameter_unknown',
    });
  });

  it('needs recurring prices in one currency, and a duration of at least one interval', async () => {
    const price = await priceOf(60);
    const { trialOffers } = stripe.productCatalog;
    const make = (more: object) =>
      errorOf(
        trialOffers.create({
          price,
          duration: { type: 'relative', relative: { iterations: 1 } },
          end_behavior: { transition: { price: yearly } },
          ...more,
        }),
      );
    const euros = await priceOf(60, { currency: 'eur' });
    const once = await stripe.prices.create({ currency: 'usd', product: 'prod_reader', unit_amount: 60 });
    expect(await make({ price: once.id })).toMatchObject({ statusCode: 400, param: 'price' });
    expect(await make({ price: euros })).toMatchObject({ param: 'end_behavior[transition][price]' });
    expect(await make({ duration: { type: 'timestamp' } })).toMatchObject({ statusCode: 400, param: 'duration[type]' });
    expect(await make({ duration: { type: 'relative', relative: { iterations: 0 } } })).toMatchObject({
      param: 'duration[relative][iterations]',
    });
    expect(await make({ end_behavior: {} })).toMatchObject({ code: 'parameter_missing' });
  });
});

describe('a subscription with a trial offer', () => {
  it('is active at once, and charges the full price when the trial ends', async () => {
    const offer = await offerOf();
    const { id } = await fixture.createPayingCustomer();
    const made = await begin(id, offer.id);
    expect(made).toMatchObject({ status: 'active', trial_end: null, latest_invoice: { status: 'paid', total: 60 } });
    const end = newYear + 60 * day;
    expect(itemOf(made)).toMatchObject({
      current_period_end: end,
      price: { id: offer.price },
      current_trial: { trial_offer: offer.id, start_date: newYear, end_date: end },
    });
    const next = await stripe.invoices.createPreview({ subscription: made.id });
    expect([next.amount_due, next.lines.data[0]?.period.start]).toEqual([12_000, end]);
    fixture.state.advance(57 * day);
    expect(await typesOf()).toContain('customer.subscription.trial_will_end');
    fixture.state.advance(3 * day + 3600);
    const later = await stripe.subscriptions.retrieve(made.id, { expand: ['latest_invoice'] });
    expect(later).toMatchObject({
      status: 'active',
      billing_cycle_anchor: end,
      latest_invoice: { status: 'paid', amount_paid: 12_000, billing_reason: 'subscription_cycle' },
    });
    expect(itemOf(later)).toMatchObject({
      current_trial: null,
      price: { id: yearly },
      current_period_start: end,
      current_period_end: Date.UTC(2027, 2, 2) / 1000,
    });
    const types = await typesOf();
    const since = types.slice(types.indexOf('customer.subscription.trial_will_end'));
    const positions = ['invoice.created', 'invoice.finalized', 'invoice.paid'].map((type) => since.indexOf(type));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(since).toContain('customer.subscription.updated');
    expect(positions).not.toContain(-1);
  });

  it('is incomplete until its first invoice is paid', async () => {
    const offer = await offerOf();
    const { id } = await fixture.createPayingCustomer('pm_card_chargeCustomerFail');
    expect((await begin(id, offer.id)).status).toBe('incomplete');
    const unpaid = await begin(id, offer.id, { payment_behavior: 'default_incomplete' });
    expect(unpaid).toMatchObject({ status: 'incomplete', latest_invoice: { status: 'open', amount_due: 60 } });
  });

  it('is trialing when the trial is free, and bills a trial of two intervals twice', async () => {
    const { id } = await fixture.createPayingCustomer();
    expect(await begin(id, (await offerOf(0)).id)).toMatchObject({ status: 'trialing', latest_invoice: { total: 0 } });
    const twice = await begin(id, (await offerOf(60, yearly, 2)).id);
    fixture.state.advance(61 * day);
    const again = await stripe.subscriptions.retrieve(twice.id, { expand: ['latest_invoice'] });
    expect(again.latest_invoice).toMatchObject({ total: 60 });
    expect(itemOf(again).current_trial?.end_date).toBe(newYear + 120 * day);
    fixture.state.advance(60 * day);
    const over = await stripe.subscriptions.retrieve(twice.id, { expand: ['latest_invoice'] });
    expect(over.latest_invoice).toMatchObject({ total: 12_000 });
  });

  it('credits the unused trial on a change of price, and begins a new period at once', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await begin(id, (await offerOf()).id);
    fixture.state.advance(30 * day);
    const items = [{ id: itemOf(made).id, price: 'price_member_yearly' }];
    // In flexible billing the anchor stays unless the call moves it.
    const change = {
      items,
      proration_behavior: 'always_invoice' as const,
      billing_cycle_anchor: { type: 'now' as const },
    };
    const preview = await stripe.invoices.createPreview({ subscription: made.id, subscription_details: change });
    expect(amounts(preview).toSorted((a, b) => a - b)).toEqual([-30, 20_000]);
    const changed = (await stripe.subscriptions.update(made.id, { ...change, expand: ['latest_invoice'] })) as Made;
    expect(changed.latest_invoice).toMatchObject({ status: 'paid', total: 19_970 });
    expect(itemOf(changed)).toMatchObject({ current_trial: null, price: { id: 'price_member_yearly' } });
    fixture.state.advance(60 * day);
    const later = await stripe.subscriptions.retrieve(made.id);
    expect(later.latest_invoice).toBe(changed.latest_invoice.id);
  });

  it('ends with the trial when it is canceled or no card is left', async () => {
    const { id } = await fixture.createPayingCustomer();
    const made = await begin(id, (await offerOf()).id);
    const ends = await stripe.subscriptions.update(made.id, { cancel_at_period_end: true });
    expect(ends.cancel_at).toBe(newYear + 60 * day);
    const settings = { end_behavior: { missing_payment_method: 'cancel' } } as const;
    const other = await begin(id, (await offerOf()).id, { trial_settings: settings });
    for (const { id: card } of (await stripe.paymentMethods.list({ customer: id })).data)
      await stripe.paymentMethods.detach(card);
    fixture.state.advance(60 * day + 7200);
    for (const one of [made, other]) expect((await stripe.subscriptions.retrieve(one.id)).status).toBe('canceled');
    expect((await stripe.charges.list({ limit: 10 })).data.map(({ amount }) => amount)).toEqual([60, 60]);
  });
});

it('a trial offer is refused with other trial settings, prices, currencies or a schedule', async () => {
  const offer = (await offerOf()).id;
  const { id } = await fixture.createPayingCustomer();
  const refused = (more: Partial<Stripe.SubscriptionCreateParams>) => errorOf(begin(id, offer, more));
  const item = { current_trial: { trial_offer: offer } };
  expect(await refused({ trial_period_days: 60 })).toMatchObject({ statusCode: 400, param: 'trial_period_days' });
  expect(await refused({ trial_end: newYear + day })).toMatchObject({ statusCode: 400, param: 'trial_end' });
  expect(await refused({ billing_mode: { type: 'classic' } })).toMatchObject({
    statusCode: 400,
    param: 'billing_mode',
  });
  expect(await refused({ items: [{ ...item, price: yearly }] })).toMatchObject({ param: 'items[0][price]' });
  expect(await refused({ currency: 'gbp' })).toMatchObject({ statusCode: 400 });
  expect(await refused({ items: [{ current_trial: { trial_offer: 'to_none' } }] })).toMatchObject({
    statusCode: 400,
    code: 'resource_missing',
  });
  const details = { items: [item], trial_end: newYear + day };
  expect(await errorOf(stripe.invoices.createPreview({ customer: id, subscription_details: details }))).toMatchObject({
    param: 'trial_end',
  });
  const made = await begin(id, offer);
  expect(await errorOf(stripe.subscriptions.update(made.id, { trial_end: 'now' }))).toMatchObject({
    param: 'trial_end',
  });
  // Phases take no offers in this version, so a schedule would lose the trial.
  expect(await errorOf(stripe.subscriptionSchedules.create({ from_subscription: made.id }))).toMatchObject({
    param: 'from_subscription',
  });
  await stripe.productCatalog.trialOffers.update(offer, { active: false });
  expect(await refused({})).toMatchObject({ statusCode: 400, param: 'items[0][current_trial][trial_offer]' });
  fixture.state.advance(61 * day);
  // A subscription that has the offer keeps it.
  expect(itemOf(await stripe.subscriptions.retrieve(made.id)).price.id).toBe(yearly);
});

it('a trial with an added invoice item, unlike a trial offer, renews at the same price', async () => {
  const { id } = await fixture.createPayingCustomer();
  const fee = { price_data: { currency: 'usd', product: 'prod_reader', unit_amount: 1 }, quantity: 60 };
  const made = (await stripe.subscriptions.create({
    customer: id,
    items: [{ price: 'price_reader_penny' }],
    trial_period_days: 60,
    add_invoice_items: [fee],
    expand: ['latest_invoice'],
  })) as Made;
  expect(made).toMatchObject({ status: 'trialing', latest_invoice: { total: 60 } });
  fixture.state.advance(60 * day + 3600);
  const later = await stripe.subscriptions.retrieve(made.id, { expand: ['latest_invoice'] });
  expect(later.latest_invoice).toMatchObject({ total: 60 });
});
