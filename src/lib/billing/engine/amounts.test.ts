/**
 * The amounts that readers see: from Stripe's previews and invoices, never computed here; and one currency for a subscription.
 */
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, paid, rules } from '../../../../tests/world/billing.ts';
import { prepare } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const engines = prepare('sqlite');
let site: BillingFixture;
afterEach(() => site?.stop());

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

async function subscribed(more: object = {}): Promise<{ session: Session; id: string; customer: string }> {
  site = await billingFixture(await engines.open(), { rules: { ...rules, stay: { coupon: 'stay', everyDays: 365 } } });
  const session = await site.readers.join('ada@example.com');
  const { subscriptionId: id } = paid(await site.billing.subscribe(session, { ...monthly, ...more }));
  await site.deliver();
  return { session, id, customer: (await site.billing.customerOf(session)) ?? '' };
}
const shown = (session: Session) => site.billing.subscription(session);
const previewFails = (status: number, times: number) =>
  site.stripe.faults.add({ path: '/v1/invoices/create_preview', status, times });

it('the next amount comes from Stripe’s preview, including a credit from the publisher', async () => {
  const { session, customer } = await subscribed();
  expect(await shown(session)).toMatchObject({ price: 1200, preDiscountPrice: 1200 });
  await site.dashboard.customers.update(customer, { balance: -500 });
  await site.deliver();
  expect(await shown(session)).toMatchObject({ price: 700, preDiscountPrice: 1200 });
  await site.pass(25 * day);
  await site.deliver();
  expect(site.mail.find(({ kind }) => kind === 'renewal-notice')).toMatchObject({ amount: 700, currency: 'usd' });
  await site.pass(8 * day);
  await site.deliver();
  const [newest] = (await site.dashboard.charges.list()).data;
  expect(newest?.amount).toBe(700);
});

it('the last known amount stays while Stripe cannot preview, and is updated five minutes later', async () => {
  const { session, id, customer } = await subscribed();
  await site.dashboard.customers.update(customer, { balance: -500 });
  await site.deliver();
  expect(await shown(session)).toMatchObject({ price: 700 });
  await site.dashboard.customers.update(customer, { balance: 0 });
  site.events.splice(0);
  previewFails(500, 1);
  await site.dashboard.subscriptions.update(id, { metadata: { note: 'x' } });
  await site.deliver();
  expect(await shown(session)).toMatchObject({ price: 700 });
  await site.pass(5 * 60 + 1);
  await site.billing.drain();
  expect(await shown(session)).toMatchObject({ price: 1200 });
});

it('the amount is asked for every five minutes while Stripe cannot preview', async () => {
  const { session, id, customer } = await subscribed();
  await site.dashboard.customers.update(customer, { balance: -500 });
  previewFails(500, 99);
  await site.dashboard.subscriptions.update(id, { metadata: { note: 'x' } });
  await site.deliver();
  const previews = () => site.requests.filter(({ path }) => path.endsWith('/create_preview')).length;
  for (let round = 0; round < 3; round++) {
    const before = previews();
    await site.billing.drain();
    expect(previews()).toBe(before);
    await site.pass(5 * 60 + 1);
    await site.billing.drain();
    expect(previews()).toBe(before + 1);
  }
  site.stripe.faults.clear();
  await site.pass(5 * 60 + 1);
  await site.billing.drain();
  expect(await shown(session)).toMatchObject({ price: 700 });
});

it.each(['the site’s own schedule', 'Stripe’s announcement of the renewal'])(
  'a renewal notice waits until Stripe can preview its amount (triggered by %s)',
  async (cause) => {
    const { session, id, customer } = await subscribed();
    await site.dashboard.customers.update(customer, { balance: -500 });
    await site.deliver();
    // Stripe's announcement comes before the publication's own.
    await site.pass((cause === 'the site’s own schedule' ? 25 : 20) * day);
    site.events.splice(0);
    previewFails(500, 1);
    const announcement = { object: 'invoice', parent: { subscription_details: { subscription: id } } };
    const update = (await site.dashboard.events.list({ types: ['customer.subscription.created'] })).data[0];
    const event =
      cause === 'the site’s own schedule'
        ? update
        : { ...update, type: 'invoice.upcoming', data: { object: announcement } };
    await site.dashboard.customers.update(customer, { balance: -200 });
    site.events.splice(0);
    await site.deliver([{ ...event, id: 'evt_now' } as never]);
    const notices = () => site.mail.filter(({ kind }) => kind === 'renewal-notice');
    expect(await shown(session)).toMatchObject({ price: 700 });
    expect(notices()).toEqual([]);
    await site.pass(5 * 60 + 1);
    await site.billing.drain();
    expect(notices()).toMatchObject([{ amount: 1000 }]);
  },
);

it('a paid renewal gives access and a receipt while Stripe cannot preview', async () => {
  const { session } = await subscribed();
  previewFails(503, 99);
  await site.pass(31 * day);
  await site.deliver();
  expect(await shown(session)).toMatchObject({ price: 1200, status: 'active' });
  const [open] = await site.billing.entitlements(session.userId);
  expect(open?.until).toBeGreaterThan(site.accounts.clock.now + 20 * day * 1000);
  expect(site.mail.filter(({ kind }) => kind === 'receipt')).toHaveLength(2);
});

it('a plan switch is quoted as Stripe previews it, with a discount only while it lasts', async () => {
  const { session, id } = await subscribed();
  await site.dashboard.coupons.create({ id: 'five', amount_off: 500, currency: 'usd', duration: 'forever' });
  await site.dashboard.subscriptions.update(id, { discounts: [{ coupon: 'five' }] });
  const lasting = paid(await site.billing.quote(session, { planId: 'member-monthly' }));
  expect(lasting).toMatchObject({ kind: 'upgrade', dueAfterRenewal: 1500 });
  await site.dashboard.coupons.create({ id: 'now', percent_off: 50, duration: 'once' });
  await site.dashboard.subscriptions.update(id, { discounts: [{ coupon: 'now' }] });
  // The upgrade's invoice uses up the credit.
  expect(paid(await site.billing.quote(session, { planId: 'member-monthly' }))).toMatchObject({
    dueAfterRenewal: 2000,
  });
});

it('a downgrade is quoted with the one-time discount that its first invoice will have', async () => {
  const { session, id } = await subscribed({ product_id: 'sun-member', plan_id: 'member-monthly' });
  await site.dashboard.coupons.create({ id: 'next', percent_off: 50, duration: 'once' });
  await site.dashboard.subscriptions.update(id, { discounts: [{ coupon: 'next' }] });
  const quote = paid(await site.billing.quote(session, { planId: 'reader-monthly' }));
  expect(quote).toMatchObject({ kind: 'downgrade', dueToday: 0, dueAfterRenewal: 600 });
  paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
  await site.pass(32 * day);
  await site.deliver();
  expect((await site.dashboard.charges.list()).data[0]?.amount).toBe(600);
});

it('a reader who cancels is offered the price that Stripe previews, and nothing with a running discount', async () => {
  const { session, id, customer } = await subscribed();
  await site.dashboard.customers.update(customer, { balance: -100 });
  await site.deliver();
  paid(await site.billing.beginCancellation(session, { reason: null, words: null }));
  // Half of $12, minus a dollar of credit.
  expect(await site.billing.retentionOffer(session)).toMatchObject({ from: 1100, to: 500 });
  paid(await site.billing.stay(session));
  expect(await shown(session)).toMatchObject({ price: 500 });
  await site.database.db.deleteFrom('cancellations').execute();
  expect((await site.dashboard.subscriptions.retrieve(id)).discounts).toHaveLength(1);
  paid(await site.billing.beginCancellation(session, { reason: null, words: null }));
  expect(await site.billing.retentionOffer(session)).toBeNull();
});

it('an overdue subscription shows the amount of the retried invoice, not of the next one', async () => {
  const { session, id, customer } = await subscribed();
  const bad = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
  await site.dashboard.subscriptions.update(id, { default_payment_method: bad.id });
  await site.pass(31 * day);
  await site.deliver();
  await site.dashboard.coupons.create({ id: 'half', percent_off: 50, duration: 'forever' });
  await site.dashboard.subscriptions.update(id, { discounts: [{ coupon: 'half' }] });
  await site.deliver();
  expect(await shown(session)).toMatchObject({ status: 'past_due', price: 1200 });
});

it('the nightly comparison updates subscriptions that were stored without discounts', async () => {
  const { session, id } = await subscribed();
  const row = await site.database.db.selectFrom('subscriptions').selectAll().where('id', '=', id).executeTakeFirst();
  const { discounts: _, ...old } = JSON.parse(row?.state ?? '{}') as { discounts?: unknown };
  const [status, price, end, ending, endsAt, invoice] = JSON.parse(row?.digest ?? '[]') as unknown[];
  const digest = JSON.stringify([status, price, end, ending, endsAt, invoice]);
  const state = JSON.stringify({ ...old, nextAmount: 999 });
  await site.database.db.updateTable('subscriptions').set({ state, digest }).where('id', '=', id).execute();
  expect((await site.billing.compare()).drifted).toEqual([id]);
  await site.billing.drain();
  expect(await shown(session)).toMatchObject({ price: 1200 });
  expect((await site.billing.compare()).drifted).toEqual([]);
});

it('quotes, switches, charges and emails stay in the subscription’s own currency', async () => {
  const { session, id } = await subscribed({ currency: 'eur' });
  const { id: dollars } = await site.dashboard.prices.create({
    currency: 'usd',
    unit_amount: 30_000,
    recurring: { interval: 'year' },
    product: 'prod_member',
    metadata: { zephrPlanId: 'dollars-only' },
  });
  await site.billing.refresh();
  site.requests.splice(0);
  // The currency for cached pages: the subscription's, whatever the country; without one, the country's.
  expect(await site.billing.currency(session, 'US')).toEqual({ currency: 'eur', own: true });
  expect(await site.billing.currency(null, 'GB')).toEqual({ currency: 'gbp', own: false });
  const gone = { ok: false, status: 400 };
  expect(await site.billing.quote(session, { planId: 'dollars-only' })).toMatchObject(gone);
  expect(await site.billing.switchPlan(session, { planId: 'dollars-only' })).toMatchObject(gone);
  expect(JSON.stringify(site.requests)).not.toContain(dollars);
  const up = paid(await site.billing.quote(session, { planId: 'member-yearly', currency: 'usd' }));
  expect(up).toMatchObject({ kind: 'upgrade', currency: 'eur', dueAfterRenewal: 18_000 });
  paid(await site.billing.switchPlan(session, { planId: 'member-yearly', expected: up.dueToday }));
  const down = paid(await site.billing.quote(session, { planId: 'reader-yearly' }));
  expect(down).toMatchObject({ kind: 'downgrade', currency: 'eur', dueAfterRenewal: 11_000 });
  paid(await site.billing.switchPlan(session, { planId: 'reader-yearly' }));
  expect(await shown(session)).toMatchObject({ currency: 'eur', price: 11_000 });
  expect((await site.dashboard.subscriptions.retrieve(id)).currency).toBe('eur');
  await site.pass(366 * day);
  await site.deliver();
  const charges = (await site.dashboard.charges.list()).data.map(({ amount, currency }) => [amount, currency]);
  expect(charges[0]).toEqual([11_000, 'eur']);
  expect(charges.every(([, currency]) => currency === 'eur')).toBe(true);
  for (const mail of site.mail) if ('currency' in mail) expect(mail.currency).toBe('eur');
});
