/** Two of each at once: readers, subscriptions, codes, addresses, decisions, and answers of Stripe. They are never mixed up. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import {
  type BillingFixture,
  billingFixture,
  day,
  home,
  paid,
  rules,
  storePurchase,
} from '../../../../tests/world/billing.ts';
import { prepare } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const engines = prepare('sqlite');
let site: BillingFixture;
afterEach(() => site?.stop());

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };
const stay = { coupon: 'stay', everyDays: 365 };

async function open(): Promise<Session> {
  site = await billingFixture(await engines.open(), { rules: { ...rules, stay } });
  return site.readers.join('ada@example.com');
}
async function subscribed(): Promise<{ session: Session; id: string }> {
  const session = await open();
  const { subscriptionId: id } = paid(await site.billing.subscribe(session, monthly));
  await site.deliver();
  return { session, id };
}
const sums = async () =>
  (await site.dashboard.charges.list({ limit: 100 })).data.filter(({ paid: was }) => was).map(({ amount }) => amount);

it.each([
  ['another shop', {}],
  ['another account', { user: randomUUID() }],
])('a Stripe customer of %s with the reader’s email address is not reused', async (_, metadata) => {
  const session = await open();
  const other = await site.dashboard.customers.create({ email: session.email, metadata });
  paid(await site.billing.subscribe(session, monthly));
  expect(await site.billing.customerOf(session)).not.toBe(other.id);
  const theirs = await site.dashboard.subscriptions.list({ customer: other.id, status: 'all' });
  expect(theirs.data).toEqual([]);
});

it('an attempt id used to buy one plan does not answer a request for another', async () => {
  const session = await open();
  const attempt = randomUUID();
  const { subscriptionId } = paid(await site.billing.subscribe(session, { ...monthly, attempt }));
  const other = await site.billing.subscribe(session, { ...monthly, plan_id: 'reader-yearly', attempt });
  expect(other).toMatchObject({ ok: false, status: 409, error: { code: 'subscribed' } });
  paid(await site.billing.switchPlan(session, { planId: 'member-monthly', attempt: randomUUID() }));
  const again = { planId: 'member-monthly', attempt };
  expect(paid(await site.billing.switchPlan(session, again))).toMatchObject({ subscriptionId, effective: 'now' });
});

it('an attempt id used to switch to one plan does not answer a switch to another', async () => {
  const { session } = await subscribed();
  const attempt = randomUUID();
  paid(await site.billing.switchPlan(session, { planId: 'member-monthly', attempt }));
  paid(await site.billing.switchPlan(session, { planId: 'member-yearly', attempt }));
  expect(await site.billing.subscription(session)).toMatchObject({ planId: 'member-yearly' });
});

it('quotes in different currencies are cached separately', async () => {
  await open();
  const quote = async (currency?: string) =>
    paid(await site.billing.quote(null, { planId: 'reader-yearly', currency }));
  const own = await quote();
  const pounds = await quote('gbp');
  expect([own.currency, pounds.currency]).toEqual(['usd', 'gbp']);
  expect(pounds.dueToday).not.toBe(own.dueToday);
  expect([await quote('gbp'), await quote()]).toEqual([pounds, own]);
});

it.each([
  ['another coupon', 'SUNSHINE20', 960],
  ['no coupon', undefined, 1200],
])('a purchase begun with a coupon is not resumed with %s', async (_, discount_code, sum) => {
  const session = await open();
  const asks = { ...monthly, payment_method: 'pm_card_authenticationRequired' };
  const begun = paid(await site.billing.subscribe(session, { ...asks, discount_code: 'TENOFF' }));
  expect(begun.paymentIntentStatus).toBe('requires_action');
  paid(await site.billing.subscribe(session, { ...monthly, discount_code }));
  expect(await sums()).toEqual([sum]);
  expect((await site.dashboard.subscriptions.list({ status: 'active' })).data).toHaveLength(1);
});

it('a quote in dollars ignores a purchase begun in pounds', async () => {
  const session = await open();
  const asks = { ...monthly, payment_method: 'pm_card_authenticationRequired', discount_code: 'SUNSHINE20' };
  paid(await site.billing.subscribe(session, { ...asks, currency: 'gbp' }));
  const quote = async (currency: string) =>
    paid(await site.billing.quote(session, { planId: 'reader-monthly', couponCode: 'SUNSHINE20', currency }));
  const pounds = await quote('gbp');
  expect(await quote('usd')).toMatchObject({ currency: 'usd', dueToday: 960, dueAfterRenewal: 1200 });
  expect(pounds.currency).toBe('gbp');
  expect(pounds.dueToday).not.toBe(960);
});

it('a purchase that waits for the bank can be paid with another card', async () => {
  const session = await open();
  const asks = { ...monthly, payment_method: 'pm_card_authenticationRequired' };
  const begun = paid(await site.billing.subscribe(session, asks));
  expect(begun.paymentIntentStatus).toBe('requires_action');
  const { subscriptionId, paymentIntentStatus } = paid(await site.billing.subscribe(session, monthly));
  expect([subscriptionId, paymentIntentStatus]).toEqual([begun.subscriptionId, 'succeeded']);
  expect(await sums()).toEqual([1200]);
});

/** The bank confirms a payment, and its subscription doesn't show it yet. @returns a function after which it does */
function confirmUnseen(secret: string | null, id: string): () => void {
  const { account } = site.stripe;
  const one = account.need('subscription', id);
  const before = structuredClone(one);
  site.stripe.finishChallenge(secret?.split('_secret_')[0] ?? '', true);
  const after = { _pending: undefined, ...structuredClone(one) };
  const become = (values: object) =>
    account.transaction(() => {
      account.store.touch(one);
      Object.assign(one, values);
    });
  become(before);
  return () => become(after);
}
const busy = { ok: false, status: 409, error: { retryAfter: 5 } };

it('a purchase that is paid, but doesn’t show it yet, is not replaced by another', async () => {
  const session = await open();
  const asks = { ...monthly, payment_method: 'pm_card_authenticationRequired' };
  const { clientSecret, subscriptionId } = paid(await site.billing.subscribe(session, asks));
  const show = confirmUnseen(clientSecret, subscriptionId);
  const yearly = { ...monthly, plan_id: 'reader-yearly' };
  expect(await site.billing.subscribe(session, yearly)).toMatchObject(busy);
  await site.pass(3600);
  await site.billing.recover();
  expect(await site.billing.subscribe(session, yearly)).toMatchObject(busy);
  show();
  const second = await site.billing.subscribe(session, yearly);
  expect(second).toMatchObject({ ok: false, status: 409, error: { code: 'subscribed' } });
  expect(await sums()).toEqual([1200]);
  expect(await site.billing.entitlements(session.userId)).toHaveLength(1);
});

it('an upgrade that is paid, but doesn’t show it yet, is neither replaced nor canceled', async () => {
  const session = await open();
  const asks = { ...monthly, payment_method: 'pm_card_authenticationRequired' };
  const begun = paid(await site.billing.subscribe(session, asks));
  site.stripe.finishChallenge(begun.clientSecret?.split('_secret_')[0] ?? '', true);
  await site.deliver();
  const { clientSecret } = paid(await site.billing.switchPlan(session, { planId: 'reader-yearly' }));
  const show = confirmUnseen(clientSecret, begun.subscriptionId);
  expect(await site.billing.switchPlan(session, { planId: 'member-monthly' })).toMatchObject(busy);
  expect(await site.billing.cancel(session)).toMatchObject(busy);
  show();
  expect(paid(await site.billing.cancel(session))).toMatchObject({ planId: 'reader-yearly', cancelAtPeriodEnd: true });
  expect(await sums()).toHaveLength(2);
});

it('a purchase that another process has begun blocks a new one for a minute', async () => {
  const session = await open();
  const plan = { plan: 'reader-yearly', price: 'price_reader_yearly' };
  await storePurchase(site, session.userId, plan);
  expect(await site.billing.subscribe(session, monthly)).toMatchObject(busy);
  await site.pass(61);
  paid(await site.billing.subscribe(session, monthly));
  expect(await sums()).toEqual([1200]);
});

it('a subscription to another product neither blocks one to the newspaper nor is canceled with it', async () => {
  const session = await open();
  paid(await site.billing.setupIntent(session));
  const customer = (await site.billing.customerOf(session)) ?? '';
  const card = await site.dashboard.paymentMethods.attach('pm_card_visa', { customer });
  const { id: product } = await site.dashboard.products.create({ name: 'Wine of the month' });
  const wine = { product, currency: 'usd', unit_amount: 900, recurring: { interval: 'month' } } as const;
  const { id: price } = await site.dashboard.prices.create(wine);
  const items = [{ price }];
  const other = await site.dashboard.subscriptions.create({ customer, items, default_payment_method: card.id });
  await site.deliver();
  const { subscriptionId } = paid(await site.billing.subscribe(session, monthly));
  await site.deliver();
  paid(await site.billing.cancel(session));
  expect(await site.billing.subscription(session)).toMatchObject({ id: subscriptionId, cancelAtPeriodEnd: true });
  expect(await site.dashboard.subscriptions.retrieve(other.id)).toMatchObject({ cancel_at_period_end: false });
});

it('a repeated purchase without an attempt id returns the same subscription for ten minutes, then 409', async () => {
  const { session, id } = await subscribed();
  await site.pass(9 * 60);
  expect(paid(await site.billing.subscribe(session, monthly)).subscriptionId).toBe(id);
  await site.pass(2 * 60);
  const late = await site.billing.subscribe(session, monthly);
  expect(late).toMatchObject({ ok: false, status: 409, error: { code: 'subscribed' } });
  expect(await sums()).toEqual([1200]);
});

it('two upgrades on one day are charged separately', async () => {
  const { session } = await subscribed();
  expect(paid(await site.billing.switchPlan(session, { planId: 'member-monthly' })).effective).toBe('now');
  expect(paid(await site.billing.switchPlan(session, { planId: 'member-yearly' })).effective).toBe('now');
  expect(await site.billing.subscription(session)).toMatchObject({ planId: 'member-yearly' });
  expect(await sums()).toHaveLength(3);
});

it('a smaller plan that is planned, dropped and planned again applies at the renewal', async () => {
  const session = await open();
  paid(await site.billing.subscribe(session, { ...monthly, product_id: 'sun-member', plan_id: 'member-monthly' }));
  for (let times = 0; times < 2; times++) {
    expect(paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' })).effective).toBe('renewal');
    expect(await site.billing.subscription(session)).toMatchObject({ next: { planId: 'reader-monthly' } });
    if (times === 0) paid(await site.billing.resume(session));
  }
  await site.pass(32 * day);
  await site.deliver();
  expect(await sums()).toEqual([1200, 2000]);
});

it('a declined card is sent to Stripe again when the reader tries it again', async () => {
  const session = await open();
  const customer = await site.dashboard.customers.create({ email: session.email, metadata: { user: session.userId } });
  const bad = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer: customer.id });
  for (let tries = 1; tries <= 2; tries++) {
    const refused = await site.billing.subscribe(session, { ...monthly, payment_method: bad.id });
    expect(refused).toMatchObject({ ok: false, status: 402 });
    expect((await site.dashboard.charges.list()).data).toHaveLength(tries);
  }
});

it('a retention offer for one subscription does not apply to another with the same price and period', async () => {
  const { session, id } = await subscribed();
  const { customer, default_payment_method: card } = await site.dashboard.subscriptions.retrieve(id);
  const params = { customer: String(customer), default_payment_method: String(card) };
  await site.dashboard.subscriptions.create({ ...params, items: [{ price: 'price_reader_monthly' }] });
  await site.deliver();
  paid(await site.billing.beginCancellation(session, { reason: null, words: null }));
  const offered = (await site.billing.subscription(session))?.id ?? '';
  expect(await site.billing.retentionOffer(session)).toMatchObject({ from: 1200, to: 600 });
  await site.dashboard.subscriptions.cancel(offered);
  await site.deliver();
  expect(await site.billing.subscription(session)).toMatchObject({ status: 'active', price: 1200 });
  expect((await site.billing.subscription(session))?.id).not.toBe(offered);
  expect(await site.billing.retentionOffer(session)).toBeNull();
  expect(await site.billing.stay(session)).toMatchObject({ ok: false, status: 409, error: { code: 'no_offer' } });
});

it('a promotion code that many customers have gives each reader their own discount', async () => {
  const ada = await open();
  const eve = await site.readers.join('eve@example.com');
  const { coupons, customers, promotionCodes } = site.dashboard;
  for (const percent_off of [20, 50]) await coupons.create({ id: `off-${percent_off}`, percent_off, duration: 'once' });
  const give = (customer: string, percent: number) =>
    promotionCodes.create({ code: 'SPRING', customer, promotion: { type: 'coupon', coupon: `off-${percent}` } });
  for (const [reader, percent] of [
    [ada, 50],
    [eve, 20],
  ] as const) {
    paid(await site.billing.setupIntent(reader));
    await give((await site.billing.customerOf(reader)) ?? '', percent);
  }
  // More than a page of later ones.
  for (let one = 0; one < 12; one++) await give((await customers.create({})).id, 20);
  const check = (session: Session) =>
    site.billing.coupon('SPRING', 'reader-monthly', { session, clientAddress: '203.0.113.9' });
  expect(paid(await check(ada))).toMatchObject({ percent_off: 50 });
  expect(paid(await check(eve))).toMatchObject({ percent_off: 20 });
  for (const one of [ada, eve]) paid(await site.billing.subscribe(one, { ...monthly, discount_code: 'SPRING' }));
  expect(await sums()).toEqual([960, 600]);
});

const later = { ...home, address: { ...home.address, line1: '1 Liberty Street' } };

it('a delivery address saved while an earlier one is being sent to Stripe is sent too', async () => {
  const session = await open();
  paid(await site.billing.setupIntent(session));
  const { customers } = site.dashboard;
  const update = customers.update.bind(customers);
  customers.update = async (...asked: Parameters<typeof update>) => {
    const answer = await update(...asked);
    site.stripe.faults.add({ method: 'POST', path: '/v1/customers/', status: 503, times: 1 });
    paid(await site.billing.saveShipping(session, later));
    return answer;
  };
  const slow = await site.another({ stripe: site.dashboard });
  paid(await slow.saveShipping(session, home));
  paid(await site.billing.subscribe(session, monthly));
  const kept = await site.dashboard.customers.retrieve((await site.billing.customerOf(session)) ?? '');
  expect(kept).toMatchObject({ shipping: { address: { line1: '1 Liberty Street' } } });
});

it('an older delivery address that reaches Stripe after a newer one does not stay there', async () => {
  const session = await open();
  paid(await site.billing.setupIntent(session));
  const { customers } = site.dashboard;
  const update = customers.update.bind(customers);
  const waits = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  customers.update = async (...asked: Parameters<typeof update>) => {
    customers.update = update;
    waits.resolve();
    await gate.promise;
    return update(...asked);
  };
  const slow = await site.another({ stripe: site.dashboard });
  const older = slow.saveShipping(session, home);
  await waits.promise;
  paid(await site.billing.saveShipping(session, later));
  gate.resolve();
  paid(await older);
  const kept = await site.dashboard.customers.retrieve((await site.billing.customerOf(session)) ?? '');
  expect(kept).toMatchObject({ shipping: { address: { line1: '1 Liberty Street' } } });
});

/** A process whose next request for a subscription, or next answer about one, is delayed. */
async function slowly(session: Session, what: 'request' | 'answer') {
  const { subscriptions } = site.dashboard;
  const retrieve = subscriptions.retrieve.bind(subscriptions);
  const waits = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const held = async () => {
    waits.resolve();
    await gate.promise;
  };
  subscriptions.retrieve = (async (...asked: Parameters<typeof retrieve>) => {
    subscriptions.retrieve = retrieve;
    if (what === 'request') await held();
    const answer = await retrieve(...asked);
    if (what === 'answer') await held();
    return answer;
  }) as typeof retrieve;
  const other = await site.another({ stripe: site.dashboard });
  const repaired = other.repair(session);
  await waits.promise;
  return async () => {
    gate.resolve();
    await repaired;
  };
}

it('a late response from Stripe does not overwrite a newer one', async () => {
  const { session } = await subscribed();
  const goOn = await slowly(session, 'answer');
  paid(await site.billing.cancel(session));
  await goOn();
  expect(await site.billing.subscription(session)).toMatchObject({ cancelAtPeriodEnd: true });
});

it('a late response that may be newer makes the site fetch the subscription again', async () => {
  const { session, id } = await subscribed();
  const goOn = await slowly(session, 'request');
  await site.billing.repair(session);
  await site.dashboard.subscriptions.update(id, { cancel_at_period_end: true });
  await goOn();
  await site.billing.drain();
  expect(await site.billing.subscription(session)).toMatchObject({ cancelAtPeriodEnd: true });
});
