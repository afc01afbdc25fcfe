/**
 * The penny offer as a Trial Offer of Stripe's: sixty cents for sixty days, then automatically the yearly price; and subscriptions that
 * were sold before, as a legacy trial with an added item.
 */
import type Stripe from 'stripe';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type BillingFixture, billingFixture, day, paid } from '../../../../tests/world/billing.ts';
import { prepare } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';
import { createTrialOffer } from './trial-offers.server.ts';

const engines = prepare('sqlite');
let site: BillingFixture;
let session: Session;
afterEach(() => site?.stop());

const penny = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-penny' };

async function open(): Promise<void> {
  site = await billingFixture(await engines.open());
  session = await site.readers.join('ada@example.com');
}
async function begun(more: object = {}): Promise<string> {
  await open();
  const { subscriptionId } = paid(await site.billing.subscribe(session, { ...penny, expected: 60, ...more }));
  await site.deliver();
  return subscriptionId;
}
const shown = () => site.billing.subscription(session);
const charged = async () =>
  (await site.dashboard.charges.list({ limit: 100 })).data.map(({ amount }) => amount).toReversed();
const requested = (path: RegExp) => site.requests.filter((one) => path.test(one.path));
const updates = () => requested(/^\/v1\/subscriptions\/sub_\w+$/).map(({ form }) => Object.keys(form));
async function pass(days: number): Promise<void> {
  await site.pass(days * day + 3700);
  await site.deliver();
  await site.billing.repair(session);
}
/** The kinds of mail that were sent. */
const kinds = () => site.mail.map(({ kind }) => kind);

it('a Trial Offer is paid at once, shows and announces the next price, and renews at the yearly price', async () => {
  const id = await begun();
  const subscription = await site.dashboard.subscriptions.retrieve(id);
  expect(subscription).toMatchObject({ status: 'active', trial_end: null, metadata: { promotion: 'reader-penny' } });
  const ends = new Date((subscription.items.data[0]?.current_trial?.end_date ?? 0) * 1000).toISOString();
  const first = { status: 'trialing', planId: 'reader-penny', price: 12_000, preDiscountPrice: 12_000 };
  expect(await shown()).toMatchObject({ ...first, interval: 'year', nextBillingDate: ends, paidUntil: ends });
  expect(await site.billing.entitlements(session.userId)).toMatchObject([{ trialing: true, product: 'sun-reader' }]);
  expect(site.mail.find(({ kind }) => kind === 'receipt')).toMatchObject({
    amount: 60,
    nextBill: { amount: 12_000, at: Date.parse(ends) },
  });
  await pass(54);
  expect(site.mail.find(({ kind }) => kind === 'renewal-notice')).toMatchObject({
    amount: 12_000,
    at: Date.parse(ends),
  });
  await pass(6);
  expect(await charged()).toEqual([60, 12_000]);
  expect(await shown()).toMatchObject({ status: 'active', planId: 'reader-yearly', price: 12_000 });
  expect(await site.billing.entitlements(session.userId)).toMatchObject([{ trialing: false, product: 'sun-reader' }]);
  expect(kinds().filter((kind) => kind === 'welcome-tier')).toHaveLength(1);
  expect((await site.billing.compare()).drifted).toEqual([]);
});

it('a one-week Trial Offer announces its end halfway', async () => {
  await open();
  const text = { heading: 'A week for a dollar', subheading: null };
  const week = { plan: 'reader-penny', next: 'reader-yearly', days: 7, amount: 100, others: {}, ...text };
  await createTrialOffer(site.dashboard, week);
  await site.billing.refresh();
  paid(await site.billing.subscribe(session, { ...penny, expected: 100 }));
  await site.deliver();
  await pass(3);
  expect(kinds()).not.toContain('renewal-notice');
  await site.pass(day);
  const process = await site.another();
  process.start();
  await vi.waitFor(() => expect(kinds()).toContain('renewal-notice'));
  await process.stop();
  await pass(3);
  expect(site.mail.filter(({ kind }) => kind === 'renewal-notice')).toMatchObject([{ amount: 12_000 }]);
  expect(await charged()).toEqual([100, 12_000]);
});

it('a Trial Offer requested in pounds is never charged in dollars, even after an attempt in dollars', async () => {
  await open();
  const declined = { ...penny, payment_method: 'pm_card_chargeDeclined', expected: 60 };
  expect(await site.billing.subscribe(session, declined)).toMatchObject({ ok: false, status: 402 });
  const inPounds = { ...penny, currency: 'gbp', expected: 60 };
  expect(await site.billing.subscribe(session, inPounds)).toMatchObject({
    ok: false,
    status: 409,
    error: { code: 'amount_changed' },
  });
  paid(await site.billing.subscribe(session, inPounds));
  const { data } = await site.dashboard.charges.list();
  expect(data.filter(({ paid: done }) => done).map(({ amount, currency }) => [amount, currency])).toEqual([
    [60, 'gbp'],
  ]);
});

it('a Trial Offer gives no access before its payment is confirmed', async () => {
  await open();
  const asks = { ...penny, payment_method: 'pm_card_threeDSecure2Required' };
  const { subscriptionId, grant_id } = paid(await site.billing.subscribe(session, asks));
  await site.deliver();
  expect((await site.dashboard.subscriptions.retrieve(subscriptionId)).status).toBe('incomplete');
  expect(grant_id).toBeNull();
  expect(await site.billing.entitlements(session.userId)).toEqual([]);
  expect(await shown()).toBeNull();
});

it('an upgrade from a Trial Offer ends it and credits it by the second', async () => {
  const id = await begun();
  await site.pass(30 * day);
  const quote = paid(await site.billing.quote(session, { planId: 'member-yearly' }));
  expect(quote).toMatchObject({ kind: 'upgrade', dueToday: 20_000 - 30, dueAfterRenewal: 20_000 });
  const { effective } = paid(
    await site.billing.switchPlan(session, { planId: 'member-yearly', expected: quote.dueToday }),
  );
  expect(effective).toBe('now');
  expect(await charged()).toEqual([60, quote.dueToday]);
  expect(updates().flat()).not.toContain('trial_end');
  // Otherwise flexible billing would keep the first day's anchor.
  expect(updates().flat()).toContain('billing_cycle_anchor[type]');
  const [item] = (await site.dashboard.subscriptions.retrieve(id)).items.data;
  expect(item).toMatchObject({ current_trial: null, price: { id: 'price_member_yearly' } });
  expect(await shown()).toMatchObject({ status: 'active', planId: 'member-yearly' });
  await pass(60);
  expect(await charged()).toHaveLength(2);
});

it('a Trial Offer continues when the payment for an upgrade fails', async () => {
  const id = await begun();
  const customer = (await site.billing.customerOf(session)) ?? '';
  const bad = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
  await site.dashboard.subscriptions.update(id, { default_payment_method: bad.id });
  expect(await site.billing.switchPlan(session, { planId: 'member-yearly' })).toMatchObject({
    ok: false,
    status: 402,
  });
  const [item] = (await site.dashboard.subscriptions.retrieve(id)).items.data;
  expect(item?.current_trial?.trial_offer).toBe('to_reader_penny');
  expect(await shown()).toMatchObject({ status: 'trialing', planId: 'reader-penny' });
});

it('a switch from a Trial Offer to a smaller plan takes effect at once', async () => {
  await begun();
  await site.pass(30 * day);
  const quote = paid(await site.billing.quote(session, { planId: 'reader-monthly' }));
  expect(quote).toMatchObject({ kind: 'upgrade', dueToday: 1200 - 30, dueAfterRenewal: 1200 });
  paid(await site.billing.switchPlan(session, { planId: 'reader-monthly', expected: quote.dueToday }));
  expect(requested(/subscription_schedules/)).toEqual([]);
  expect(await shown()).toMatchObject({ status: 'active', planId: 'reader-monthly', price: 1200 });
  await pass(31);
  expect(await charged()).toEqual([60, 1170, 1200]);
  // From then on a change to a smaller plan is scheduled as usual.
  paid(await site.billing.switchPlan(session, { planId: 'member-monthly' }));
  expect(paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' })).effective).toBe('renewal');
});

it('a switch from a Trial Offer to the plan that follows it changes nothing', async () => {
  await begun();
  expect(paid(await site.billing.quote(session, { planId: 'reader-yearly' }))).toMatchObject({
    kind: 'same',
    dueToday: 0,
  });
  paid(await site.billing.switchPlan(session, { planId: 'reader-yearly' }));
  expect(await charged()).toEqual([60]);
  expect(await shown()).toMatchObject({ status: 'trialing', price: 12_000 });
});

it('a Trial Offer is neither quoted nor sold to a reader who has a subscription', async () => {
  await open();
  paid(await site.billing.subscribe(session, { ...penny, plan_id: 'reader-monthly' }));
  const refused = { ok: false, status: 409, error: { code: 'promotion_used' } };
  expect(await site.billing.quote(session, { planId: 'reader-penny' })).toMatchObject(refused);
  expect(await site.billing.switchPlan(session, { planId: 'reader-penny' })).toMatchObject(refused);
});

it('a canceled Trial Offer can be resumed, and otherwise ends after its 60 days without a charge', async () => {
  await begun();
  expect(paid(await site.billing.cancel(session, null))).toMatchObject({ cancelAtPeriodEnd: true });
  expect(paid(await site.billing.resume(session))).toMatchObject({ cancelAtPeriodEnd: false, price: 12_000 });
  paid(await site.billing.cancel(session, null));
  await pass(60);
  expect(await charged()).toEqual([60]);
  expect(await site.billing.entitlements(session.userId)).toEqual([]);
  expect(await site.billing.subscribe(session, penny)).toMatchObject({
    ok: false,
    status: 409,
    error: { code: 'promotion_used' },
  });
});

it('a refund of a Trial Offer ends access', async () => {
  await begun();
  const [charge] = (await site.dashboard.charges.list()).data;
  await site.dashboard.refunds.create({ charge: charge?.id ?? '' });
  await site.deliver();
  expect(await site.billing.entitlements(session.userId)).toEqual([]);
});

it('a Trial Offer sold in pounds renews in pounds', async () => {
  await begun({ currency: 'gbp' });
  expect(await charged()).toEqual([60]);
  expect(await shown()).toMatchObject({ currency: 'gbp', price: 10_000 });
  await pass(60);
  expect((await site.dashboard.charges.list()).data[0]).toMatchObject({ amount: 10_000, currency: 'gbp' });
});

describe('the catalog of plans', () => {
  const plans = () => site.billing.prices().map(({ zephrPlanId, unit_amount }) => [zephrPlanId, unit_amount]);
  const ordinary = [
    ...[
      ['reader-monthly', 1200],
      ['reader-yearly', 12_000],
      ['member-monthly', 2000],
      ['member-yearly', 20_000],
    ],
    ['member-print-yearly', 28_000],
  ];

  it('never lists an offer’s own price, and still recognizes an archived offer that a reader bought', async () => {
    await begun();
    await site.dashboard.productCatalog.trialOffers.update('to_reader_penny', { active: false });
    // An offer without a mark on its price, archived from the start.
    const recurring = { interval: 'week', interval_count: 2 } as const;
    const price = await site.dashboard.prices.create({
      currency: 'usd',
      unit_amount: 100,
      recurring,
      product: 'prod_reader',
      metadata: { zephrPlanId: 'fortnight' },
    });
    await site.dashboard.productCatalog.trialOffers.create({
      price: price.id,
      active: false,
      duration: { type: 'relative', relative: { iterations: 1 } },
      end_behavior: { transition: { price: 'price_reader_yearly' } },
    });
    // Another process, which doesn't know the offer yet.
    const fresh = await site.another();
    await fresh.refresh();
    expect(fresh.prices().map(({ zephrPlanId, unit_amount }) => [zephrPlanId, unit_amount])).toEqual(ordinary);
    await fresh.repair(session);
    expect(await fresh.subscription(session)).toMatchObject({
      planId: 'reader-penny',
      price: 12_000,
      status: 'trialing',
    });
  });

  it('no longer sells a price that its metadata marks as a promotion', async () => {
    await open();
    await site.dashboard.prices.update('price_reader_monthly', {
      metadata: { promo_days: '30', promo_amount_per_day: '1' },
    });
    await site.billing.refresh();
    expect(plans().map(([plan]) => plan)).not.toContain('reader-monthly');
  });

  it('sells an offer of two weeks, but none with two payments, with months, or without a next plan', async () => {
    await open();
    const make = async (plan: string, interval: 'week' | 'month', iterations: number, next = 'price_member_yearly') => {
      const price = await site.dashboard.prices.create({
        currency: 'usd',
        unit_amount: 500,
        product: 'prod_member',
        metadata: { zephrPlanId: plan },
        recurring: { interval, interval_count: 2 },
      });
      await site.dashboard.productCatalog.trialOffers.create({
        price: price.id,
        duration: { type: 'relative', relative: { iterations } },
        end_behavior: { transition: { price: next } },
      });
    };
    await make('fortnight', 'week', 1);
    await make('twice', 'week', 2);
    await make('months', 'month', 1);
    const { id: gone } = await site.dashboard.prices.create({
      currency: 'usd',
      unit_amount: 900,
      recurring: { interval: 'month' },
      product: 'prod_member',
    });
    await make('nowhere', 'week', 1, gone);
    await site.dashboard.prices.update(gone, { active: false });
    await site.billing.refresh();
    const sold = site.billing.prices().filter(({ promotion }) => promotion !== null);
    expect(sold.map(({ zephrPlanId }) => zephrPlanId).toSorted()).toEqual(['fortnight', 'reader-penny']);
    expect(sold.find(({ zephrPlanId }) => zephrPlanId === 'fortnight')).toMatchObject({
      unit_amount: 20_000,
      recurring: { interval: 'year' },
      promotion: { days: 14, amount: 500 },
    });
    expect(plans().filter(([plan]) => plan === 'twice' || plan === 'months' || plan === 'nowhere')).toEqual([]);
  });

  it('sells only ordinary plans when the Stripe key may not read offers', async () => {
    await open();
    // The first price of an offer, without a mark of its own.
    const { id: first } = await site.dashboard.prices.create({
      currency: 'usd',
      unit_amount: 100,
      recurring: { interval: 'week', interval_count: 2 },
      product: 'prod_reader',
      metadata: { zephrPlanId: 'fortnight' },
    });
    await site.dashboard.productCatalog.trialOffers.create({
      price: first,
      duration: { type: 'relative', relative: { iterations: 1 } },
      end_behavior: { transition: { price: 'price_reader_yearly' } },
    });
    const error = {
      type: 'invalid_request_error',
      message: 'The provided key does not have the required permissions.',
    };
    site.stripe.faults.add({ path: '/v1/product_catalog/trial_offers', status: 403, error, times: 9 } as never);
    await site.billing.refresh();
    expect(plans()).toEqual(ordinary);
  });
});

describe('the command that creates a Trial Offer', () => {
  const wanted = {
    plan: 'reader-penny',
    next: 'reader-yearly',
    days: 90,
    amount: 90,
    others: { gbp: 80 },
    heading: 'A penny a day',
    subheading: null,
  };

  it('replaces the offer that was sold under the same plan name', async () => {
    await open();
    const made = await createTrialOffer(site.dashboard, wanted);
    expect(made.archived).toEqual(['to_reader_penny', 'price_reader_penny']);
    await site.billing.refresh();
    const [price, ...others] = site.billing.prices().filter(({ zephrPlanId }) => zephrPlanId === 'reader-penny');
    expect(others).toEqual([]);
    expect(price).toMatchObject({
      id: made.price,
      unit_amount: 12_000,
      pennyHeading: 'A penny a day',
      pennySubheading: null,
      promotion: { offer: made.offer, days: 90, amount: 90, currencies: { gbp: 80 }, next: 'price_reader_yearly' },
    });
    paid(await site.billing.subscribe(session, { ...penny, currency: 'gbp', expected: 80 }));
  });

  it('rejects an unknown plan, a currency in which the plan is not sold, and a plan name in use', async () => {
    await open();
    await expect(createTrialOffer(site.dashboard, { ...wanted, next: 'reader-weekly' })).rejects.toThrow(
      /reader-weekly/,
    );
    const yen = { ...wanted, others: { jpy: 100 } };
    await expect(createTrialOffer(site.dashboard, yen)).rejects.toThrow('reader-yearly is not sold in jpy.');
    await expect(createTrialOffer(site.dashboard, { ...wanted, plan: 'reader-yearly' })).rejects.toThrow(
      /a plan name of/,
    );
    expect(requested(/prices|trial_offers/)).toEqual([]);
  });

  it('marks the offer as print when the plan that follows is a print plan', async () => {
    await open();
    const print = { ...wanted, plan: 'print-penny', next: 'member-print-yearly', others: {} };
    await createTrialOffer(site.dashboard, print);
    await site.billing.refresh();
    expect(site.billing.prices().find(({ zephrPlanId }) => zephrPlanId === 'print-penny')).toMatchObject({
      print: true,
    });
  });
});

describe('a promotion sold earlier as a legacy trial with an added item', () => {
  async function legacy(): Promise<string> {
    await open();
    // As Stripe had it before: a yearly price that its metadata marked as a promotion.
    const old = await site.dashboard.prices.create({
      currency: 'usd',
      unit_amount: 12_000,
      recurring: { interval: 'year' },
      product: 'prod_reader',
      metadata: { zephrPlanId: 'reader-penny', promo_days: '60', promo_amount_per_day: '1' },
    });
    const customer = await site.dashboard.customers.create({ metadata: { user: session.userId } });
    const card = await site.dashboard.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    const fee = { price_data: { currency: 'usd', product: 'prod_reader', unit_amount: 1 }, quantity: 60 };
    const { id } = await site.dashboard.subscriptions.create({
      customer: customer.id,
      items: [{ price: old.id }],
      default_payment_method: card.id,
      trial_period_days: 60,
      add_invoice_items: [fee],
      metadata: { user: session.userId, promotion: 'reader-penny' },
    } satisfies Stripe.SubscriptionCreateParams);
    await site.billing.refresh();
    await site.deliver();
    return id;
  }

  it('is shown and renewed as before, and cannot be bought a second time', async () => {
    await legacy();
    expect(await shown()).toMatchObject({ status: 'trialing', planId: 'reader-penny', price: 12_000 });
    expect(await site.billing.entitlements(session.userId)).toMatchObject([{ trialing: true }]);
    await pass(60);
    expect(await charged()).toEqual([60, 12_000]);
    expect(await shown()).toMatchObject({ status: 'active', price: 12_000 });
    paid(await site.billing.cancel(session, null));
    await pass(366);
    expect(await site.billing.subscribe(session, penny)).toMatchObject({
      ok: false,
      error: { code: 'promotion_used' },
    });
  });

  it('ends its trial with an upgrade', async () => {
    await legacy();
    paid(await site.billing.switchPlan(session, { planId: 'member-yearly' }));
    expect(updates().flat()).toContain('trial_end');
    expect(await charged()).toEqual([60, 20_000]);
    expect(await shown()).toMatchObject({ status: 'active', planId: 'member-yearly' });
  });

  it('switches to a smaller plan when its trial ends', async () => {
    await legacy();
    expect(paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' })).effective).toBe('renewal');
    await pass(60);
    expect(await charged()).toEqual([60, 1200]);
    expect(await shown()).toMatchObject({ status: 'active', planId: 'reader-monthly' });
  });
});
