/** Mail before a week’s bill that is higher than the last one. On both databases. */
import { afterEach, expect, it, vi } from 'vitest';
import { type BillingFixture, billingFixture, day, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const weekly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-weekly' };

onBothEngines('a weekly plan', (engines) => {
  let site: BillingFixture;
  let session: Session;
  afterEach(() => site?.stop());

  /** Subscribes to $4 a week. @param coupon of a promotion code that the reader enters */
  async function subscribed(coupon: object | null): Promise<string> {
    site = await billingFixture(await engines.open());
    const { dashboard } = site;
    for (const [plan, product, amount] of [
      ['reader-weekly', 'prod_reader', 400],
      ['member-weekly', 'prod_member', 700],
    ] as const) {
      const recurring = { interval: 'week' } as const;
      const price = { currency: 'usd', unit_amount: amount, recurring, product, nickname: 'Weekly' };
      await dashboard.prices.create({ ...price, metadata: { zephrPlanId: plan } });
    }
    await site.billing.refresh();
    if (coupon) {
      const { id } = await dashboard.coupons.create(coupon);
      await dashboard.promotionCodes.create({ code: 'SPRING', promotion: { type: 'coupon', coupon: id } });
    }
    session = await site.readers.join('ada@example.com');
    const body = { ...weekly, ...(coupon && { discount_code: 'SPRING' }) };
    const { subscriptionId: id } = paid(await site.billing.subscribe(session, body));
    await site.deliver();
    return id;
  }
  /** Lets days pass, one at a time; on each of them the subscription is fetched. */
  async function live(days: number): Promise<void> {
    for (let passed = 0; passed < days; passed++) {
      await site.pass(day);
      await site.deliver();
      await site.billing.repair(session);
    }
  }
  const notices = () => site.mail.flatMap((one) => (one.kind === 'renewal-notice' ? [one] : []));
  const amounts = () => notices().map(({ amount }) => amount);
  const charged = async () =>
    (await site.dashboard.charges.list({ limit: 100 })).data.filter(({ paid: was }) => was).map(({ amount }) => amount);

  it.each([
    ['of one bill', { percent_off: 50, duration: 'once' }, 1],
    ['of a month', { percent_off: 50, duration: 'repeating', duration_in_months: 1 }, 5],
    ['of one free week', { percent_off: 100, duration: 'once' }, 1],
  ] as const)('is announced once before the first bill without a coupon %s', async (_, coupon, weeks) => {
    await subscribed(coupon);
    await live(7 * weeks - 4);
    expect(amounts()).toEqual([]);
    await live(1);
    expect(amounts()).toEqual([400]);
    const [notice] = notices();
    expect(notice?.at).toBeGreaterThan(site.accounts.clock.now + 2 * day * 1000);
    await live(15);
    expect(amounts()).toEqual([400]);
    expect((await charged()).filter((amount) => amount === 400)).toHaveLength(2);
  });

  it('is announced halfway by the hourly task, without any event', async () => {
    await subscribed({ percent_off: 50, duration: 'once' });
    await site.pass(4 * day);
    expect(amounts()).toEqual([]);
    const process = await site.another();
    process.start();
    await vi.waitFor(() => expect(amounts()).toEqual([400]));
    await process.stop();
  });

  it('is not announced while its bills stay the same or fall', async () => {
    const id = await subscribed({ percent_off: 50, duration: 'forever' });
    await live(15);
    await site.dashboard.coupons.create({ id: 'more', percent_off: 75, duration: 'forever' });
    await site.dashboard.subscriptions.update(id, { discounts: [{ coupon: 'more' }] });
    await live(14);
    expect(amounts()).toEqual([]);
    expect(await charged()).toEqual([100, 100, 200, 200, 200]);
  });

  it('is announced once when the publisher removes the coupon, also with events twice and out of order', async () => {
    const id = await subscribed({ percent_off: 50, duration: 'forever' });
    await live(12);
    await site.dashboard.subscriptions.update(id, { discounts: '' });
    const events = site.events.splice(0);
    expect(events).not.toEqual([]);
    await site.deliver([...events.toReversed(), ...events]);
    expect(amounts()).toEqual([400]);
    await live(10);
    await site.deliver([...events, ...events.toReversed()]);
    expect(amounts()).toEqual([400]);
  });

  it('is announced with Stripe’s amount once Stripe can preview it again', async () => {
    const id = await subscribed({ percent_off: 50, duration: 'forever' });
    await live(5);
    site.stripe.faults.add({ path: '/v1/invoices/create_preview', status: 500, times: 1 });
    await site.dashboard.subscriptions.update(id, { discounts: '' });
    await site.deliver();
    expect(amounts()).toEqual([]);
    await site.pass(5 * 60 + 1);
    await site.billing.drain();
    expect(amounts()).toEqual([400]);
  });

  it('is announced before the first bill of a higher plan that the publisher has scheduled', async () => {
    const id = await subscribed(null);
    const { id: schedule, phases } = await site.dashboard.subscriptionSchedules.create({ from_subscription: id });
    const { start_date, end_date, items } = phases[0] ?? { items: [] };
    const { data } = await site.dashboard.prices.list({ product: 'prod_member', limit: 100 });
    const dearer = data.find(({ metadata }) => metadata.zephrPlanId === 'member-weekly')?.id ?? '';
    const card = String((await site.dashboard.subscriptions.retrieve(id)).default_payment_method);
    const same = { proration_behavior: 'none', default_payment_method: card } as const;
    const first = { ...same, items: [{ price: String(items[0]?.price) }], start_date, end_date };
    const next = { ...same, items: [{ price: dearer }] };
    await site.dashboard.subscriptionSchedules.update(schedule, { phases: [first, next] });
    await live(10);
    expect(amounts()).toEqual([700]);
    expect(await charged()).toEqual([700, 400]);
  });

  it('is not announced when it is canceled before its coupon ends', async () => {
    await subscribed({ percent_off: 50, duration: 'once' });
    paid(await site.billing.cancel(session));
    await live(8);
    expect(amounts()).toEqual([]);
  });
});
