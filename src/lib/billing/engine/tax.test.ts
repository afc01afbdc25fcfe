/** Tax computed by Stripe, and prices in the reader's currency: what is shown is what is charged. */
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, paid } from '../../../../tests/world/billing.ts';
import { prepare } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';
import type { BillingOptions } from './billing.server.ts';

const engines = prepare('sqlite');
let site: BillingFixture;
afterEach(() => site?.stop());

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };
const newYork = { country: 'US', postal_code: '10007' };
const london = { country: 'GB', postal_code: 'SW1A 1AA' };

async function open(tax: boolean): Promise<Session> {
  site = await billingFixture(await engines.open());
  if (tax) {
    const access = {
      secretKey: site.stripe.keys.secret,
      publishableKey: site.stripe.keys.publishable,
      tax,
      webhookSecret: 'whsec_x',
      apiUrl: 'http://stripe.test',
      scriptUrl: 'http://stripe.test/stripe.js',
    } satisfies BillingOptions['access'];
    Object.assign(site, { billing: await site.another({ access }) });
  }
  return site.readers.join('ada@example.com');
}
const charged = async () =>
  (await site.dashboard.charges.list()).data.map(({ amount, currency }) => [amount, currency]);

it('with tax, a quote needs the buyer’s address, and the charge includes the quoted tax', async () => {
  const session = await open(true);
  expect(site.billing.plans(null)).toMatchObject({ tax: true });
  expect(paid(await site.billing.quote(session, { planId: 'reader-monthly' }))).toMatchObject({ needs: 'address' });
  const quote = paid(await site.billing.quote(session, { planId: 'reader-monthly', address: newYork }));
  const tax = { amount: 99, included: false };
  expect(quote).toMatchObject({ dueToday: 1299, dueAfterRenewal: 1299, tax: { today: tax, renewal: tax } });
  expect(quote).not.toHaveProperty('needs');
  paid(await site.billing.subscribe(session, { ...monthly, address: newYork, expected: 1299 }));
  expect(await charged()).toEqual([[1299, 'usd']]);
  expect(await site.billing.subscription(session)).toMatchObject({ price: 1299, tax, preDiscountPrice: 1200 });
  const receipt = site.mail.find(({ kind }) => kind === 'receipt');
  expect(receipt).toMatchObject({ amount: 1299, tax, nextBill: { amount: 1299, tax } });
});

it('with tax, a visitor’s quote without an address leaves the tax out and asks for the address', async () => {
  await open(true);
  const ask = { planId: 'reader-monthly' };
  const quote = paid(await site.billing.quote(null, ask, '203.0.113.9'));
  expect(quote).toMatchObject({ dueToday: 1200, needs: 'address' });
  expect(paid(await site.billing.quote(null, { ...ask, address: newYork }, '203.0.113.9'))).toMatchObject({
    dueToday: 1299,
    tax: { today: { amount: 99, included: false } },
  });
});

it('a purchase with an address too vague for tax is refused with 400 and not charged', async () => {
  const session = await open(true);
  const answer = await site.billing.subscribe(session, { ...monthly, address: { country: 'US' }, expected: 1200 });
  expect(answer).toMatchObject({ ok: false, status: 400, error: { code: 'tax_address' } });
  expect(await charged()).toEqual([]);
});

it('quotes include the tax on a promotion, on the price that follows, and after a coupon', async () => {
  const session = await open(true);
  const ask = { planId: 'reader-penny', address: newYork };
  // 60 cents and 5 cents of tax; then $120 and $9.90.
  expect(paid(await site.billing.quote(session, ask))).toMatchObject({
    dueToday: 65,
    dueAfterRenewal: 12_990,
    tax: { today: { amount: 5, included: false }, renewal: { amount: 990, included: false } },
  });
  const coupon = { planId: 'reader-monthly', address: newYork, couponCode: 'SUNSHINE20' };
  expect(paid(await site.billing.quote(session, coupon))).toMatchObject({ dueToday: 1039, dueAfterRenewal: 1299 });
});

it('tax is computed for an upgrade, in each phase of a planned switch and in its renewal notice', async () => {
  const session = await open(true);
  paid(await site.billing.subscribe(session, { ...monthly, plan_id: 'reader-yearly', address: newYork }));
  const up = paid(await site.billing.quote(session, { planId: 'member-yearly' }));
  expect(up).toMatchObject({ kind: 'upgrade', dueAfterRenewal: 21_650 });
  expect(up.tax?.today?.amount).toBeGreaterThan(600);
  expect(up.lines.reduce((sum, { amount }) => sum + amount, 0) + (up.tax?.today?.amount ?? 0)).toBe(up.dueToday);
  const down = paid(await site.billing.quote(session, { planId: 'reader-monthly' }));
  expect(down).toMatchObject({ kind: 'downgrade', dueToday: 0, dueAfterRenewal: 1299 });
  expect(down.tax).toEqual({ today: null, renewal: { amount: 99, included: false } });
  paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
  const planned = site.requests.findLast(({ path }) => /subscription_schedules\/sub_sched_/.test(path));
  expect(planned?.form).toMatchObject({
    'phases[0][automatic_tax][enabled]': 'true',
    'phases[1][automatic_tax][enabled]': 'true',
  });
  expect(await site.billing.subscription(session)).toMatchObject({ price: 1299, tax: { amount: 99 } });
  await site.pass(360 * day);
  await site.deliver();
  const notice = site.mail.filter(({ kind }) => kind === 'renewal-notice');
  expect(notice).toMatchObject([{ amount: 1299, tax: { amount: 99, included: false } }]);
});

it('without the tax setting, no tax is added and no address is required', async () => {
  const session = await open(false);
  const quote = paid(await site.billing.quote(session, { planId: 'reader-monthly', address: newYork }));
  expect(quote).toMatchObject({ dueToday: 1200, dueAfterRenewal: 1200 });
  expect([quote.tax, quote.needs, site.billing.plans(null).tax]).toEqual([undefined, undefined, false]);
  paid(await site.billing.subscribe(session, { ...monthly, expected: 1200 }));
  expect(site.requests.some(({ form }) => Object.keys(form).some((name) => name.includes('automatic_tax')))).toBe(
    false,
  );
});

it('a subscription is sold in the country’s currency and keeps it through switches and renewals', async () => {
  const session = await open(false);
  const { prices, currency } = site.billing.plans('GB');
  expect(currency).toBe('gbp');
  expect([
    site.billing.plans('FR').currency,
    site.billing.plans('US').currency,
    site.billing.plans(null).currency,
  ]).toEqual(['eur', 'usd', 'usd']);
  expect(prices.find(({ zephrPlanId }) => zephrPlanId === 'reader-monthly')).toMatchObject({
    unit_amount: 1200,
    currency: 'usd',
    currencies: { gbp: 1000, eur: 1100 },
  });
  const quote = paid(await site.billing.quote(session, { planId: 'reader-monthly', currency: 'gbp' }));
  expect(quote).toMatchObject({ currency: 'gbp', dueToday: 1000, dueAfterRenewal: 1000 });
  paid(await site.billing.subscribe(session, { ...monthly, currency: 'gbp', expected: 1000 }));
  expect(await charged()).toEqual([[1000, 'gbp']]);
  expect(await site.billing.subscription(session)).toMatchObject({ currency: 'gbp', price: 1000 });
  // A reader who travels requests dollars; the subscription keeps its currency.
  const up = paid(await site.billing.quote(session, { planId: 'member-monthly', currency: 'usd' }));
  expect(up).toMatchObject({ kind: 'upgrade', currency: 'gbp', dueAfterRenewal: 1600 });
  paid(await site.billing.switchPlan(session, { planId: 'member-monthly', expected: up.dueToday }));
  await site.pass(33 * day);
  await site.deliver();
  expect((await charged())[0]).toEqual([1600, 'gbp']);
  expect(await site.billing.subscription(session)).toMatchObject({ currency: 'gbp', price: 1600 });
});

it('a quote in a currency that the price lacks is in the price’s own currency', async () => {
  const session = await open(false);
  expect(paid(await site.billing.quote(session, { planId: 'reader-monthly', currency: 'jpy' }))).toMatchObject({
    currency: 'usd',
    dueToday: 1200,
  });
});

it('a purchase quoted in pounds is refused with 409 when the price is no longer sold in pounds', async () => {
  const session = await open(false);
  const price = site.stripe.account.need('price', 'price_reader_monthly');
  const sellFor = async (amounts: Record<string, number>) => {
    site.stripe.account.transaction(() => Object.assign(price, { _amounts: amounts }));
    await site.billing.refresh();
  };
  await sellFor({ gbp: 1200 });
  const ask = { planId: 'reader-monthly', currency: 'gbp' };
  expect(paid(await site.billing.quote(session, ask))).toMatchObject({ currency: 'gbp', dueToday: 1200 });
  await sellFor({});
  const inPounds = { ...monthly, currency: 'gbp', expected: 1200 };
  const changed = { ok: false, status: 409, error: { code: 'amount_changed' } };
  expect(await site.billing.subscribe(session, inPounds)).toMatchObject(changed);
  expect(await charged()).toEqual([]);
});

it('a quote for a tax-inclusive price says how much tax is included', async () => {
  const session = await open(true);
  const ask = { planId: 'reader-monthly', currency: 'gbp', address: london };
  const tax = { amount: 167, included: true };
  expect(paid(await site.billing.quote(session, ask))).toMatchObject({
    dueToday: 1000,
    tax: { today: tax, renewal: tax },
  });
});

it('quoted, displayed, emailed and charged amounts include tax, never the bare unit_amount', async () => {
  const session = await open(true);
  const plans = ['reader-monthly', 'reader-penny'];
  const list = site.billing.prices();
  for (const plan of plans) {
    const price = list.find(({ zephrPlanId }) => zephrPlanId === plan);
    const quote = paid(await site.billing.quote(session, { planId: plan, address: newYork }));
    expect(quote.dueAfterRenewal).toBeGreaterThan(price?.unit_amount ?? 0);
    expect(quote.dueToday).toBeGreaterThan(price?.promotion?.amount ?? price?.unit_amount ?? 0);
  }
  // A total without tax, as a page that adds no tax would show it, buys nothing.
  const refused = await site.billing.subscribe(session, { ...monthly, address: newYork, expected: 1200 });
  expect(refused).toMatchObject({ ok: false, status: 409, error: { code: 'amount_changed', due: 1299 } });
  expect(await charged()).toEqual([]);
  paid(await site.billing.subscribe(session, { ...monthly, address: newYork, expected: 1299 }));
  await site.deliver();
  const shown = async () => (await site.billing.subscription(session))?.price;
  expect(await shown()).toBe(1299);
  // A switch, a planned switch, and the mails before and after a renewal.
  expect(paid(await site.billing.quote(session, { planId: 'member-monthly' })).dueAfterRenewal).toBe(2165);
  paid(await site.billing.switchPlan(session, { planId: 'member-monthly' }));
  paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
  expect(await shown()).toBe(1299);
  await site.pass(26 * day);
  await site.deliver();
  await site.pass(6 * day);
  await site.deliver();
  const invoices = (await site.dashboard.invoices.list({ limit: 10 })).data;
  expect(invoices.every(({ total, lines }) => total !== lines.data.reduce((sum, { amount }) => sum + amount, 0))).toBe(
    true,
  );
  const mailed = site.mail.flatMap((one) => ('amount' in one ? [[one.kind, one.amount]] : []));
  expect(mailed).toContainEqual(['renewal-notice', 1299]);
  expect(mailed.filter(([kind, amount]) => kind === 'receipt' && (amount === 1200 || amount === 2000))).toEqual([]);
});
