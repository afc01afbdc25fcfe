/** Coupons: what they take off, the messages for invalid ones, and how many guesses are allowed. */

import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, paid, rules } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import { defaultLimits } from '../../http/limits.ts';
import { couponMessages } from '../messages.ts';
import { monthsAfter } from './coupons.server.ts';

const yearly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-yearly' };
const visitor = { session: null, clientAddress: '203.0.113.9' };

onBothEngines('coupons', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());
  const open = async (options = {}) => {
    site = await billingFixture(await engines.open(), options);
    return site;
  };
  const sums = async () =>
    (await site.dashboard.charges.list()).data.filter(({ paid: was }) => was).map(({ amount }) => amount);

  it('show their discount for a valid code', async () => {
    const { billing } = await open();
    expect(paid(await billing.coupon('SUNSHINE20', 'reader-yearly', visitor))).toEqual({
      discount_code: 'SUNSHINE20',
      percent_off: 20,
      amount_off: null,
    });
    expect(paid(await billing.coupon('TENOFF', 'reader-yearly', visitor))).toMatchObject({ amount_off: 1000 });
  });

  it.each([
    ['NOSUCH', 'reader-yearly', 404, couponMessages.unknown],
    ['../customers', 'reader-yearly', 404, couponMessages.unknown],
    ['EXPIRED', 'reader-yearly', 400, couponMessages.expired],
    ['READERONLY', 'member-yearly', 400, couponMessages.otherPlan],
  ])('with the code %s for the plan %s are refused with %i', async (code, plan, status, message) => {
    const { billing, readers } = await open();
    expect(await billing.coupon(code, plan, visitor)).toMatchObject({ ok: false, status, error: { message } });
    const session = await readers.join('ada@example.com');
    const product = plan.startsWith('member') ? 'sun-member' : 'sun-reader';
    const body = { ...yearly, plan_id: plan, product_id: product, discount_code: code };
    expect(await billing.subscribe(session, body)).toMatchObject({ ok: false, status, error: { message } });
    expect(await billing.quote(session, { planId: plan, couponCode: code })).toMatchObject({ status });
    expect(await sums()).toEqual([]);
    // Nothing is left that would block a purchase.
    expect(paid(await billing.subscribe(session, { ...yearly })).grant_id).not.toBeNull();
  });

  it.each([
    ['the id of a coupon', 'ten-off', ''],
    ['the id of a coupon whose code is used up', 'once-only', ''],
    ['the id of a promotion code', 'promo_ten_off', ''],
    ['the id of the retention coupon', 'stay', ''],
    ['the retention coupon’s code', 'STAY', ''],
    ['another code for the retention coupon', 'FRIENDS', 'stay'],
  ])('are refused as unknown when the reader enters %s (%s)', async (_, code, of) => {
    const { billing, readers } = await open({ rules: { ...rules, stay: { coupon: 'stay', everyDays: 365 } } });
    if (of) await site.dashboard.promotionCodes.create({ code, promotion: { type: 'coupon', coupon: of } });
    const session = await readers.join('ada@example.com');
    const unknown = { ok: false, status: 404, error: { message: couponMessages.unknown } };
    expect(await billing.coupon(code, 'reader-yearly', visitor)).toMatchObject(unknown);
    expect(await billing.coupon(code, null, { ...visitor, session })).toMatchObject(unknown);
    expect(await billing.quote(session, { planId: 'reader-yearly', couponCode: code })).toMatchObject(unknown);
    expect(await billing.subscribe(session, { ...yearly, discount_code: code })).toMatchObject(unknown);
    expect(await sums()).toEqual([]);
  });

  /** A code with limits of its own, for half the price. */
  const limited = async (more: object) => {
    await site.dashboard.coupons.create({ id: 'half', percent_off: 50, duration: 'once' });
    const promotion = { type: 'coupon', coupon: 'half' } as const;
    return site.dashboard.promotionCodes.create({ code: 'HALF', promotion, ...more });
  };

  it.each([
    ['turned off', { active: false }, couponMessages.expired],
    ['expired', { expires_at: 1 }, couponMessages.expired],
    [
      'for larger amounts',
      { restrictions: { minimum_amount: 20_000, minimum_amount_currency: 'usd' } },
      couponMessages.otherPlan,
    ],
    [
      'for amounts in another currency',
      { restrictions: { minimum_amount: 1, minimum_amount_currency: 'eur' } },
      couponMessages.otherPlan,
    ],
  ])('are refused when their code is %s', async (_, more, message) => {
    const { billing, readers, accounts } = await open();
    const soon = Math.floor(accounts.clock.now / 1000) + 60;
    await limited('expires_at' in more ? { expires_at: soon } : more);
    await site.pass(61);
    const session = await readers.join('ada@example.com');
    const refused = { ok: false, status: 400, error: { message } };
    expect(await billing.coupon('HALF', 'reader-yearly', { ...visitor, session })).toMatchObject(refused);
    expect(await billing.subscribe(session, { ...yearly, discount_code: 'HALF' })).toMatchObject(refused);
  });

  it('for one customer, or for first-time buyers, are refused to other readers', async () => {
    const { billing, readers } = await open();
    const [ada, eve] = [await readers.join('ada@example.com'), await readers.join('eve@example.com')];
    paid(await billing.subscribe(eve, { ...yearly, plan_id: 'reader-monthly' }));
    const customer = (await billing.customerOf(eve)) ?? '';
    const { id } = await limited({ customer });
    const other = await billing.subscribe(ada, { ...yearly, discount_code: 'HALF' });
    expect(other).toMatchObject({ ok: false, error: { message: couponMessages.otherReader } });
    await site.dashboard.promotionCodes.update(id, { active: false });
    const promotion = { type: 'coupon', coupon: 'half' } as const;
    await site.dashboard.promotionCodes.create({
      code: 'NEW',
      promotion,
      restrictions: { first_time_transaction: true },
    });
    const known = await billing.coupon('NEW', 'reader-yearly', { ...visitor, session: eve });
    expect(known).toMatchObject({ ok: false, error: { message: couponMessages.firstTime } });
    paid(await billing.subscribe(ada, { ...yearly, discount_code: 'NEW', expected: 6000 }));
  });

  it('with a minimum amount are refused when only later payments reach it', async () => {
    const { billing, readers } = await open();
    await limited({ restrictions: { minimum_amount: 100, minimum_amount_currency: 'usd' } });
    expect(paid(await billing.coupon('HALF', 'reader-yearly', visitor))).toMatchObject({ percent_off: 50 });
    const refused = { ok: false, status: 400, error: { message: couponMessages.otherPlan } };
    expect(await billing.coupon('HALF', 'reader-penny', visitor)).toMatchObject(refused);
    const session = await readers.join('ada@example.com');
    const penny = { ...yearly, plan_id: 'reader-penny', discount_code: 'HALF' };
    expect(await billing.subscribe(session, penny)).toMatchObject(refused);
  });

  it('with a redemption limit are redeemed only that often by simultaneous buyers', async () => {
    const { billing, readers } = await open();
    await limited({ max_redemptions: 2 });
    const four = await Promise.all(['a', 'b', 'c', 'd'].map((name) => readers.join(`${name}@example.com`)));
    const bought = await Promise.all(four.map((one) => billing.subscribe(one, { ...yearly, discount_code: 'HALF' })));
    expect(bought.filter(({ ok }) => ok)).toHaveLength(2);
    expect(bought.flatMap((one) => (one.ok ? [] : one.status))).toEqual([400, 400]);
    expect(await sums()).toEqual([6000, 6000]);
  });

  it.each([
    ['SUNSHINE20', 9600, 12_000],
    ['TENOFF', 11_000, 11_000],
    ['READERONLY', 8400, 12_000],
  ])('with the code %s are charged as quoted', async (code, today, later) => {
    const { billing, readers } = await open();
    const session = await readers.join('ada@example.com');
    const quote = paid(await billing.quote(session, { planId: 'reader-yearly', couponCode: code }));
    expect(quote).toMatchObject({ dueToday: today, dueAfterRenewal: later });
    paid(await billing.subscribe(session, { ...yearly, discount_code: code, expected: today }));
    expect(await sums()).toEqual([today]);
    expect(await billing.subscription(session)).toMatchObject({ price: later, preDiscountPrice: 12_000 });
  });

  /** A code of an operator's: half the price. */
  async function half(code: string, more: object): Promise<void> {
    await site.dashboard.coupons.create({ id: code, name: code, percent_off: 50, ...more } as never);
    await site.dashboard.promotionCodes.create({ code, promotion: { type: 'coupon', coupon: code } });
  }
  const monthly = { ...yearly, plan_id: 'reader-monthly' };
  const newest = async () => (await sums())[0];

  it.each([
    // November 20: the months that follow have 30 and 31 days.
    ['a month', { duration: 'repeating', duration_in_months: 1 }, 600, 1200],
    ['two months', { duration: 'repeating', duration_in_months: 2 }, 600, 600],
    ['an unlimited time', { duration: 'forever' }, 600, 600],
  ])('that last for %s reduce the renewal exactly as quoted', async (_, more, today, later) => {
    const { billing, readers } = await open();
    await half('HALF', more);
    const session = await readers.join('ada@example.com');
    const quote = paid(await billing.quote(session, { planId: 'reader-monthly', couponCode: 'HALF' }));
    expect(quote).toMatchObject({ dueToday: today, dueAfterRenewal: later });
    paid(await billing.subscribe(session, { ...monthly, discount_code: 'HALF', expected: today }));
    await site.pass(31 * day);
    await site.deliver();
    expect(await sums()).toEqual([later, today]);
  });

  it('that leave less than the minimum charge add it to the renewal, as quoted', async () => {
    const { billing, readers } = await open();
    const session = await readers.join('ada@example.com');
    const ask = { planId: 'reader-penny', couponCode: 'SUNSHINE20' };
    const quote = paid(await billing.quote(session, ask));
    // A discount of four fifths on sixty cents.
    expect(quote).toMatchObject({ dueToday: 0, dueAfterRenewal: 12_048 });
    const penny = { ...yearly, plan_id: 'reader-penny', discount_code: 'SUNSHINE20' };
    paid(await billing.subscribe(session, { ...penny, expected: quote.dueToday }));
    expect(await sums()).toEqual([]);
    await site.pass(61 * day);
    await site.deliver();
    expect(await sums()).toEqual([quote.dueAfterRenewal]);
  });

  it('still apply after a change of plan, as quoted', async () => {
    const { billing, readers } = await open();
    await half('HALF', { duration: 'forever' });
    const session = await readers.join('ada@example.com');
    paid(await billing.subscribe(session, { ...monthly, discount_code: 'HALF' }));
    const up = paid(await billing.quote(session, { planId: 'member-monthly' }));
    expect(up).toMatchObject({ kind: 'upgrade', dueAfterRenewal: 1000 });
    paid(await billing.switchPlan(session, { planId: 'member-monthly', expected: up.dueToday }));
    await site.pass(31 * day);
    await site.deliver();
    expect(await newest()).toBe(1000);
    const down = paid(await billing.quote(session, { planId: 'reader-monthly' }));
    expect(down).toMatchObject({ kind: 'downgrade', dueAfterRenewal: 600 });
    paid(await billing.switchPlan(session, { planId: 'reader-monthly' }));
    expect(await billing.subscription(session)).toMatchObject({ price: 600 });
    const [schedule] = (await site.dashboard.subscriptionSchedules.list()).data;
    expect(schedule?.phases.map(({ discounts }) => discounts.length)).toEqual([1, 1]);
    await site.pass(31 * day);
    await site.deliver();
    expect(await newest()).toBe(600);
  });

  it('for one product take nothing off another, neither in the quote nor in the charge', async () => {
    const { billing, readers } = await open();
    await half('READERS', { duration: 'forever', applies_to: { products: ['prod_reader'] } });
    const session = await readers.join('ada@example.com');
    paid(await billing.subscribe(session, { ...monthly, discount_code: 'READERS' }));
    const up = paid(await billing.quote(session, { planId: 'member-monthly' }));
    expect(up.dueAfterRenewal).toBe(2000);
    paid(await billing.switchPlan(session, { planId: 'member-monthly', expected: up.dueToday }));
    expect(await billing.subscription(session)).toMatchObject({ price: 2000 });
    await site.pass(31 * day);
    await site.deliver();
    expect(await newest()).toBe(2000);
  });

  it('that cover the whole amount give access at once without a charge, but need a valid card', async () => {
    const { billing, readers } = await open();
    const session = await readers.join('ada@example.com');
    const free = { ...yearly, discount_code: 'FREEYEAR', expected: 0 };
    expect(await billing.subscribe(session, { ...free, payment_method: 'pm_card_visa_chargeDeclined' })).toMatchObject({
      ok: false,
      status: 402,
      error: { code: 'card_declined' },
    });
    const answer = paid(await billing.subscribe(session, free));
    expect(answer).toMatchObject({ paymentIntentStatus: 'succeeded', grant_id: expect.any(String) });
    expect(await sums()).toEqual([]);
    expect(await billing.entitlements(session.userId)).toHaveLength(1);
    await site.pass(366 * day);
    await site.deliver();
    expect(await sums()).toEqual([12_000]);
  });

  it('with a fixed amount use the discount and minimum of the reader’s currency', async () => {
    const { billing, readers } = await open();
    const ten = { amount_off: 1000, currency: 'usd', duration: 'once', currency_options: { gbp: { amount_off: 800 } } };
    await site.dashboard.coupons.create({ id: 'ten', ...ten } as never);
    const restrictions = {
      minimum_amount: 11_000,
      minimum_amount_currency: 'usd',
      currency_options: { gbp: { minimum_amount: 9000 } },
    };
    const promotion = { type: 'coupon', coupon: 'ten' } as const;
    await site.dashboard.promotionCodes.create({ code: 'TEN', promotion, restrictions });
    const session = await readers.join('ada@example.com');
    const asked = (currency: string, plan = 'reader-yearly') =>
      billing.coupon('TEN', plan, { ...visitor, session, currency });
    expect(paid(await asked('gbp'))).toMatchObject({ amount_off: 800 });
    expect(paid(await asked('usd'))).toMatchObject({ amount_off: 1000 });
    const otherPlan = { ok: false, status: 400, error: { message: couponMessages.otherPlan } };
    expect(await asked('eur')).toMatchObject(otherPlan);
    expect(await asked('gbp', 'reader-monthly')).toMatchObject(otherPlan);
    const pounds = { currency: 'gbp', planId: 'reader-yearly', couponCode: 'TEN' };
    expect(paid(await billing.quote(session, pounds))).toMatchObject({ dueToday: 9200, dueAfterRenewal: 10_000 });
    const body = { ...yearly, currency: 'gbp', discount_code: 'TEN', expected: 9200 };
    paid(await billing.subscribe(session, body));
    expect(await sums()).toEqual([9200]);
  });

  it('are used up by a purchase, not by a lookup', async () => {
    const { billing, readers } = await open();
    const [first, second] = [await readers.join('ada@example.com'), await readers.join('eve@example.com')];
    for (const _ of [1, 2]) paid(await billing.coupon('ONCEONLY', 'reader-yearly', visitor));
    paid(await billing.subscribe(first, { ...yearly, discount_code: 'ONCEONLY' }));
    const late = await billing.subscribe(second, { ...yearly, discount_code: 'ONCEONLY' });
    expect(late).toMatchObject({ ok: false, status: 400, error: { message: couponMessages.used } });
  });

  it.each([
    ['half the price off', { duration: 'once' }, 6000, 12_000],
    ['the whole price off', { duration: 'once', percent_off: 100 }, 0, 12_000],
  ])('stay usable for their reader after a first card is declined (%s)', async (_, more, today, later) => {
    const { billing, readers } = await open();
    await site.dashboard.coupons.create({ id: 'MINE', percent_off: 50, ...more } as never);
    await site.dashboard.promotionCodes.create({
      code: 'MINE',
      promotion: { type: 'coupon', coupon: 'MINE' },
      max_redemptions: 1,
    });
    const session = await readers.join('ada@example.com');
    const mine = { ...yearly, discount_code: 'MINE', expected: today };
    const before = paid(await billing.quote(session, { planId: 'reader-yearly', couponCode: 'MINE' }));
    expect(before).toMatchObject({ dueToday: today, dueAfterRenewal: later });
    const declined = await billing.subscribe(session, { ...mine, payment_method: 'pm_card_visa_chargeDeclined' });
    expect(declined).toMatchObject({ ok: false, status: 402 });
    // The page is reloaded.
    const who = { session, clientAddress: visitor.clientAddress };
    paid(await billing.coupon('MINE', 'reader-yearly', who));
    const after = paid(await billing.quote(session, { planId: 'reader-yearly', couponCode: 'MINE' }));
    // If nothing is due, a refused card leaves no purchase, and the code isn't used up.
    expect(after).toEqual(today > 0 ? { ...before, lines: [] } : before);
    if (today > 0) {
      const other = await readers.join('eve@example.com');
      const used = { ok: false, status: 400, error: { message: couponMessages.used } };
      expect(await billing.coupon('MINE', 'reader-yearly', { ...who, session: other })).toMatchObject(used);
      expect(await billing.quote(session, { planId: 'reader-monthly', couponCode: 'MINE' })).toMatchObject(used);
    }
    paid(await billing.subscribe(session, mine));
    expect(await sums()).toEqual(today > 0 ? [today] : []);
  });

  it('allow few wrong guesses per address and per reader, through lookup, quote and purchase', async () => {
    const limits = {
      ...defaultLimits,
      coupon: {
        address: { most: 5, seconds: 600 },
        email: { most: 4, seconds: 3600 },
        overall: { most: 1000, seconds: 600 },
      },
    };
    const { billing, readers } = await open({ limits });
    const session = await readers.join('ada@example.com');
    // A right code isn't counted as a guess.
    for (let time = 0; time < 9; time++) paid(await billing.coupon('TENOFF', 'reader-yearly', visitor));
    const guesses = await Promise.all(
      Array.from({ length: 20 }, (_, at) => billing.coupon(`GUESS${at}`, 'reader-yearly', visitor)),
    );
    expect(guesses.filter((guess) => !guess.ok && guess.status === 404)).toHaveLength(5);
    expect(guesses.filter((guess) => !guess.ok && guess.status === 429)).toHaveLength(15);
    expect(await billing.coupon('TENOFF', 'reader-yearly', visitor)).toMatchObject({ status: 429 });
    // From a new address each time, and on both paths: the quote and the purchase.
    const statuses: unknown[] = [];
    for (let at = 0; at < 6; at++) {
      const where = `198.51.100.${at}`;
      const ask = { planId: 'reader-yearly', couponCode: `GUESS${at}` };
      const asked =
        at % 2 === 0
          ? await billing.quote(session, ask, where)
          : await billing.subscribe(session, { ...yearly, discount_code: `GUESS${at}` }, where);
      statuses.push(asked.ok || asked.status);
    }
    expect(statuses).toEqual([404, 404, 404, 404, 429, 429]);
  });
});

it('a coupon’s months end as in Stripe’s calendar', () => {
  const after = (day: string, months: number) => new Date(monthsAfter(Date.parse(day), months)).toISOString();
  expect([
    after('2025-12-31T09:30:00Z', 2),
    after('2024-02-29T00:00:00Z', 12),
    after('2026-03-15T23:59:59Z', 10),
  ]).toEqual(['2026-02-28T09:30:00.000Z', '2025-02-28T00:00:00.000Z', '2027-01-15T23:59:59.000Z']);
});
