/** Retention: the one offer, and what is stored about it. With the real SDK and the sandbox's Stripe, on both databases. */
import { afterEach, describe, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, home, paid, rules } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const stay = { coupon: 'stay', everyDays: 365 };

onBothEngines('the cancellation flow', (engines) => {
  let site: BillingFixture;
  let ada: Session;
  async function subscribed(plan = 'reader-yearly', offered: typeof stay | null = stay): Promise<Session> {
    site = await billingFixture(await engines.open(), { rules: { ...rules, stay: offered } });
    const session = await site.readers.join('ada@example.com');
    await buy(session, plan);
    return session;
  }
  async function buy(session: Session, plan_id: string) {
    const product_id = plan_id.startsWith('reader') ? 'sun-reader' : 'sun-member';
    paid(await site.billing.saveShipping(session, home));
    return paid(await site.billing.subscribe(session, { payment_method: 'pm_card_visa', product_id, plan_id }));
  }
  const kept = () => site.database.db.selectFrom('cancellations').selectAll().execute();
  afterEach(() => site?.stop());

  it('shows one offer with the discounted price, and applies it once even if accepted twice', async () => {
    const session = await subscribed();
    await site.pass(30 * day);
    const { billing } = site;
    expect(await billing.retentionOffer(session)).toBeNull();
    paid(await billing.beginCancellation(session, { reason: 'too-expensive', words: '  Too dear for me. ' }));
    const offer = await billing.retentionOffer(session);
    expect(offer).toMatchObject({ coupon: 'stay', currency: 'usd', from: 12_000, to: 6000, bills: 1 });
    const { nextBillingDate } = (await billing.subscription(session)) ?? {};
    expect(new Date(offer?.at ?? 0).toISOString()).toBe(nextBillingDate);
    // Pressed twice, it counts once.
    const [one, two] = await Promise.all([billing.stay(session), billing.stay(session)]);
    expect(paid(one)).toMatchObject({ price: 6000, preDiscountPrice: 12_000, cancelAtPeriodEnd: false });
    expect(paid(two)).toMatchObject({ price: 6000 });
    expect(site.stripe.account.store.find('coupon', 'stay')?.times_redeemed).toBe(1);
    expect(await kept()).toMatchObject([{ outcome: 'stayed', reason: 'too-expensive', words: 'Too dear for me.' }]);
    // A reader who still cancels isn't asked again.
    paid(await billing.beginCancellation(session, { reason: null, words: null }));
    expect(await billing.retentionOffer(session)).toBeNull();
    expect(paid(await billing.cancel(session))).toMatchObject({ cancelAtPeriodEnd: true });
  });

  it('repeats the offer only after a year', async () => {
    const session = await subscribed('reader-monthly');
    const { billing } = site;
    paid(await billing.beginCancellation(session, { reason: null, words: null }));
    expect(await billing.retentionOffer(session)).toMatchObject({ from: 1200, to: 600, bills: 11 });
    await site.pass(2 * day);
    expect(await billing.retentionOffer(session)).toBeNull();
    expect(await billing.stay(session)).toMatchObject({ ok: false, status: 409 });
    paid(await billing.beginCancellation(session, { reason: null, words: null }));
    expect(await billing.retentionOffer(session)).toBeNull();
    await site.pass(362 * day);
    await site.deliver();
    paid(await billing.beginCancellation(session, { reason: null, words: null }));
    expect(await billing.retentionOffer(session)).toBeNull();
    await site.pass(2 * day);
    await site.deliver();
    paid(await billing.beginCancellation(session, { reason: null, words: null }));
    expect(await billing.retentionOffer(session)).not.toBeNull();
  });

  it.each([
    ['chooses a smaller plan', { from: 2000 }, () => site.billing.switchPlan(ada, { planId: 'reader-monthly' })],
    ['switches to yearly payments', { from: 2000 }, () => site.billing.switchPlan(ada, { planId: 'member-yearly' })],
  ])('ends the offer when the reader %s', async (_, offered, change) => {
    ada = await subscribed('member-monthly');
    const { billing } = site;
    paid(await billing.beginCancellation(ada, { reason: null, words: null }));
    expect(await billing.retentionOffer(ada)).toMatchObject(offered);
    paid(await change());
    expect(await billing.retentionOffer(ada)).toBeNull();
    expect(await billing.stay(ada)).toMatchObject({ ok: false, status: 409, error: { code: 'no_offer' } });
    expect(site.stripe.account.store.find('coupon', 'stay')?.times_redeemed).toBe(0);
  });

  it('refuses the offer and keeps the discount that the publisher gave in between', async () => {
    ada = await subscribed('reader-monthly');
    const { billing } = site;
    paid(await billing.beginCancellation(ada, { reason: null, words: null }));
    const { id = '' } = (await billing.subscription(ada)) ?? {};
    await site.dashboard.subscriptions.update(id, { discounts: [{ coupon: 'free-year' }] });
    expect(await billing.stay(ada)).toMatchObject({ ok: false, status: 409, error: { code: 'no_offer' } });
    expect(await billing.subscription(ada)).toMatchObject({ price: 0 });
  });

  it('is accepted when an earlier attempt gave the discount and its answer was lost', async () => {
    ada = await subscribed('reader-yearly');
    await site.pass(30 * day);
    const { billing } = site;
    paid(await billing.beginCancellation(ada, { reason: null, words: null }));
    const { id = '' } = (await billing.subscription(ada)) ?? {};
    await site.dashboard.subscriptions.update(id, { discounts: [{ coupon: 'stay' }] });
    expect(paid(await billing.stay(ada))).toMatchObject({ price: 6000 });
    expect(await kept()).toMatchObject([{ outcome: 'stayed' }]);
  });

  it.each([
    ['the publication makes no offer', 'reader-yearly', null],
    ['Stripe does not have the coupon', 'reader-yearly', { coupon: 'gone', everyDays: 365 }],
    ['the promotional price still applies', 'reader-penny', stay],
  ])('shows no offer when %s', async (_where, plan, offered) => {
    const session = await subscribed(plan, offered);
    await site.pass(day);
    paid(await site.billing.beginCancellation(session, { reason: null, words: null }));
    expect(await site.billing.retentionOffer(session)).toBeNull();
    expect(paid(await site.billing.cancel(session))).toMatchObject({ cancelAtPeriodEnd: true });
  });

  describe('the retention coupon', () => {
    /** What is offered with this coupon after something has happened. */
    async function offered(coupon: object, happens: (id: string) => Promise<unknown> = async () => {}) {
      const session = await subscribed('member-monthly', { coupon: 'ours', everyDays: 365 });
      await site.dashboard.coupons.create({ id: 'ours', duration: 'once', ...coupon });
      await happens((await site.billing.subscription(session))?.id ?? '');
      await site.deliver();
      paid(await site.billing.beginCancellation(session, { reason: null, words: null }));
      return site.billing.retentionOffer(session);
    }
    const half = { percent_off: 50 };
    const reduced = async (id: string) => {
      await site.dashboard.coupons.create({ id: 'tenth', percent_off: 10, duration: 'forever' });
      await site.dashboard.subscriptions.update(id, { discounts: [{ coupon: 'tenth' }] });
    };
    const planned = (id: string) => site.dashboard.subscriptionSchedules.create({ from_subscription: id });
    const update = (change: object) => (id: string) => site.dashboard.subscriptions.update(id, change);

    it.each([
      ['for one bill', half, 1],
      ['forever', { ...half, duration: 'forever' }, null],
      ['for the bills within its four months', { ...half, duration: 'repeating', duration_in_months: 4 }, 3],
      ['with an amount in the reader’s currency', { amount_off: 500, currency: 'usd' }, 1],
      [
        'with an amount in euros and one in the reader’s currency',
        { amount_off: 400, currency: 'eur', currency_options: { usd: { amount_off: 500 } } },
        1,
      ],
    ])('is offered (%s)', async (_, coupon, bills) => {
      expect(await offered(coupon)).toMatchObject({ from: 2000, to: 'amount_off' in coupon ? 1500 : 1000, bills });
    });

    it.each([
      ['weekly bills within a month', { interval: 'week' }, 1, 4],
      ['quarterly bills within a year', { interval: 'month', interval_count: 3 }, 12, 3],
    ] as const)('is offered with the right number of bills (%s)', async (_, recurring, duration_in_months, bills) => {
      const offer = await offered({ ...half, duration: 'repeating', duration_in_months }, async (id) => {
        const sold = { currency: 'usd', unit_amount: 300, recurring, product: 'prod_reader' };
        const price = await site.dashboard.prices.create({ ...sold, metadata: { zephrPlanId: 'reader-other' } });
        const [item] = (await site.dashboard.subscriptions.retrieve(id)).items.data;
        const items = [{ id: item?.id ?? '', price: price.id }];
        await site.dashboard.subscriptions.update(id, { items, proration_behavior: 'none' });
      });
      expect(offer).toMatchObject({ from: 300, to: 150, bills });
    });

    it.each<[string, object, ((id: string) => Promise<unknown>)?]>([
      ['after it has expired', { ...half, redeem_by: Date.UTC(2026, 10, 21) / 1000 }, () => site.pass(2 * day)],
      ['with an amount in another currency only', { amount_off: 500, currency: 'eur' }],
      ['for another product', { ...half, applies_to: { products: ['prod_reader'] } }],
      ['to a reader who already has a discount', half, reduced],
      ['while the publisher has a schedule for the subscription', half, planned],
      ['to a reader who pays nothing', half, update({ discounts: [{ coupon: 'free-year' }] })],
      ['while billing is paused', half, update({ pause_collection: { behavior: 'void' } })],
      ['when the publisher has set the subscription to end', half, update({ cancel_at_period_end: true })],
    ])('is not offered (%s)', async (_, coupon, happens) => {
      expect(await offered(coupon, happens)).toBeNull();
    });
  });

  it('stores the reason, sends it to Stripe, and removes name and text when the account is erased', async () => {
    const session = await subscribed();
    await site.pass(day);
    const { billing } = site;
    paid(await billing.beginCancellation(session, { reason: 'elsewhere', words: 'The other paper has more chess.' }));
    const { id } = paid(await billing.cancel(session));
    // A second cancellation changes nothing.
    paid(await billing.cancel(session));
    paid(await billing.beginCancellation(session, { reason: 'too-expensive', words: null }));
    expect(site.stripe.account.store.find('subscription', id)?.cancellation_details).toMatchObject({
      comment: 'The other paper has more chess.',
      feedback: 'switched_service',
      reason: 'cancellation_requested',
    });
    expect(await kept()).toMatchObject([{ outcome: 'cancelled', reason: 'elsewhere' }]);
    expect(await billing.cancellationCounts(0)).toEqual([{ reason: 'elsewhere', outcome: 'cancelled', count: 1 }]);
    expect((await billing.personalData.export(session)).billing).toMatchObject({
      cancellations: [{ reason: 'elsewhere', words: 'The other paper has more chess.', offered: true }],
    });
    expect(paid(await billing.resume(session))).toMatchObject({ cancelAtPeriodEnd: false });
    expect(await kept()).toMatchObject([{ outcome: 'resumed' }]);
    await billing.personalData.erase(session, null);
    expect(await kept()).toMatchObject([{ user_id: null, words: null, reason: 'elsewhere' }]);
  });

  it('records each cancellation separately, with its outcome: canceled, stayed or resumed', async () => {
    const session = await subscribed('reader-monthly');
    const { billing } = site;
    const outcomes = async () =>
      (
        await site.database.db.selectFrom('cancellations').select(['outcome', 'reason']).orderBy('created').execute()
      ).map(({ outcome, reason }) => `${outcome}: ${reason}`);
    paid(await billing.cancel(session, 'no-time'));
    await site.pass(32 * day);
    await site.deliver();
    await buy(session, 'reader-monthly');
    await site.pass(day);
    paid(await billing.beginCancellation(session, { reason: 'too-expensive', words: null }));
    paid(await billing.stay(session));
    await site.pass(60);
    paid(await billing.beginCancellation(session, { reason: 'other', words: null }));
    expect(await outcomes()).toEqual(['cancelled: no-time', 'stayed: too-expensive', 'open: other']);
    paid(await billing.cancel(session));
    paid(await billing.resume(session));
    expect(await outcomes()).toEqual(['cancelled: no-time', 'stayed: too-expensive', 'resumed: other']);
    // Of the last minute, and in total.
    expect(await billing.cancellationCounts(site.accounts.clock.now - 1000)).toEqual([
      { reason: 'other', outcome: 'resumed', count: 1 },
    ]);
    expect(await billing.cancellationCounts(0)).toHaveLength(3);
  });

  it('counts two simultaneous cancellations once', async () => {
    const session = await subscribed();
    const both = await Promise.all([site.billing.cancel(session), site.billing.cancel(session)]);
    for (const one of both) expect(paid(one)).toMatchObject({ cancelAtPeriodEnd: true });
    expect(await site.billing.cancellationCounts(0)).toEqual([{ reason: 'skipped', outcome: 'cancelled', count: 1 }]);
  });

  it('stores free text without a reason code, and stores nothing for a reader without a subscription', async () => {
    const session = await subscribed();
    paid(await site.billing.cancel(session, 'moved away'));
    expect(await kept()).toMatchObject([{ reason: null, words: 'moved away', outcome: 'cancelled' }]);
    const withoutPlan = await site.readers.join('eve@example.com');
    expect(await site.billing.beginCancellation(withoutPlan, { reason: null, words: null })).toMatchObject({
      status: 404,
    });
    expect(await site.billing.stay(withoutPlan)).toMatchObject({ status: 404 });
    expect(await site.billing.cancel(withoutPlan)).toMatchObject({ status: 404 });
    expect(await kept()).toHaveLength(1);
  });
});

onBothEngines('bills and the saved card', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  it('are shown only to their own reader, with twelve bills per page', async () => {
    site = await billingFixture(await engines.open());
    const { billing, readers } = site;
    const [ada, eve] = [await readers.join('ada@example.com'), await readers.join('eve@example.com')];
    const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };
    expect(paid(await billing.invoices(eve))).toEqual({ bills: [], next: null });
    expect(paid(await billing.card(eve))).toBeNull();
    paid(await billing.subscribe(ada, monthly));
    paid(await billing.subscribe(eve, { ...monthly, payment_method: 'pm_card_mastercard' }));
    for (let month = 0; month < 13; month++) await site.pass(31 * day);
    const { bills, next } = paid(await billing.invoices(ada));
    expect(bills).toHaveLength(12);
    expect(bills[0]).toMatchObject({ amount: 1200, currency: 'usd', status: 'paid', file: true });
    expect(next).toBe(bills.at(-1)?.id);
    const older = paid(await billing.invoices(ada, next));
    expect([older.bills.length > 0, older.next]).toEqual([true, null]);
    expect(new Set([...bills, ...older.bills].map(({ id }) => id)).size).toBe(12 + older.bills.length);
    expect(paid(await billing.invoiceUrl(ada, bills[0]?.id ?? '', 'pdf'))).toMatch(/\/invoices\/\w+\/pdf$/);
    expect(paid(await billing.invoiceUrl(ada, bills[0]?.id ?? '', 'page'))).toMatch(/\/invoices\/\w+$/);
    for (const id of [bills[0]?.id ?? '', 'in_unknown', 'sub_1', '../customers', '']) {
      expect(await billing.invoiceUrl(eve, id, 'pdf'), id).toMatchObject({ ok: false, status: 404 });
    }
    expect(await billing.invoices(ada, '../in')).toMatchObject({ status: 404 });
    expect(paid(await billing.card(ada))).toMatchObject({ brand: 'visa', last4: '4242' });
    expect(paid(await billing.card(eve))).toMatchObject({ brand: 'mastercard' });
    expect(await billing.customerOf(ada)).toMatch(/^cus_/);
  });
});
