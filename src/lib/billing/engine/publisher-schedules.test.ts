/** Schedules with several later phases, which the publisher makes in Stripe's dashboard. On both databases. */
import type Stripe from 'stripe';
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };
const upgrade = { planId: 'member-yearly' };

onBothEngines('a publisher’s schedule', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  /** A month of the plan, a month at half price, two months of a higher plan, and back. @param months of the current phase */
  async function scheduled(months = 1): Promise<{ session: Session; id: string }> {
    site = await billingFixture(await engines.open());
    const { dashboard } = site;
    const session = await site.readers.join('ada@example.com');
    const { subscriptionId: id } = paid(await site.billing.subscribe(session, monthly));
    await dashboard.coupons.create({ id: 'half', percent_off: 50, duration: 'forever' });
    const { id: schedule, phases } = await dashboard.subscriptionSchedules.create({ from_subscription: id });
    const phase = (price: string, interval_count: number): Stripe.SubscriptionScheduleUpdateParams.Phase => ({
      items: [{ price, metadata: { desk: 'circulation' } }],
      duration: { interval: 'month', interval_count },
      proration_behavior: 'none',
    });
    const first = { ...phase('price_reader_monthly', months), start_date: phases[0]?.start_date ?? 0 };
    const half = { ...phase('price_reader_monthly', 1), discounts: [{ coupon: 'half' }], metadata: { gift: 'spring' } };
    const later = [half, phase('price_member_monthly', 2), phase('price_reader_monthly', 1)];
    await dashboard.subscriptionSchedules.update(schedule, { phases: [first, ...later] });
    await site.deliver();
    return { session, id };
  }
  async function chargeTo(session: Session, id: string, card: string): Promise<void> {
    const customer = (await site.billing.customerOf(session)) ?? '';
    const { id: method } = await site.dashboard.paymentMethods.attach(card, { customer });
    await site.dashboard.subscriptions.update(id, { default_payment_method: method });
  }
  /** What is planned for a subscription. */
  async function planned(id: string) {
    const { schedule } = await site.dashboard.subscriptions.retrieve(id, { expand: ['schedule'] });
    if (schedule === null || typeof schedule === 'string') return [];
    return schedule.phases.map(({ items: [item], start_date, end_date, discounts, metadata, proration_behavior }) => ({
      price: item?.price,
      start_date,
      end_date,
      discounts: discounts.map(({ coupon }) => coupon),
      metadata,
      proration_behavior,
      desk: item?.metadata?.desk,
    }));
  }
  const later = async (id: string) => (await planned(id)).slice(1);
  const charged = async () =>
    (await site.dashboard.charges.list({ limit: 100 })).data.filter(({ paid: was }) => was).map(({ amount }) => amount);
  const noted = async (id: string) => {
    const { planned: plan = '', released = '' } = (await site.dashboard.subscriptions.retrieve(id)).metadata;
    return plan + released;
  };

  it('keeps all later phases when the card for an upgrade is refused, and they are charged', async () => {
    const { session, id } = await scheduled();
    const before = await later(id);
    expect(before).toHaveLength(3);
    await chargeTo(session, id, 'pm_card_chargeCustomerFail');
    expect(await site.billing.switchPlan(session, upgrade)).toMatchObject({ ok: false, status: 402 });
    expect(await later(id)).toEqual(before);
    expect(await noted(id)).toBe('');
    expect(await site.billing.subscription(session)).toMatchObject({ planId: 'reader-monthly', price: 600 });
    paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
    for (let months = 0; months < 4; months++) await site.pass(31 * day);
    await site.deliver();
    expect(await charged()).toEqual([1200, 2000, 2000, 600, 1200]);
  });

  it('keeps all later phases when the bank never confirms an upgrade, also with events twice and out of order', async () => {
    const { session, id } = await scheduled();
    const before = await later(id);
    await chargeTo(session, id, 'pm_card_authenticationRequired');
    expect(paid(await site.billing.switchPlan(session, upgrade)).clientSecret).not.toBeNull();
    const events = site.events.splice(0);
    await site.deliver([...events.toReversed(), ...events]);
    expect(await planned(id)).toEqual([]);
    await site.pass(50 * 60);
    await site.billing.recover();
    const more = site.events.splice(0);
    await site.deliver([...more.toReversed(), ...events, ...more]);
    expect(await later(id)).toEqual(before);
    expect(await noted(id)).toBe('');
  });

  const schedules = '/v1/subscription_schedules';
  it.each([
    ['before the schedule is released', { when: 'before' }],
    ['after the schedule is released', { when: 'after' }],
  ] as const)('keeps all later phases when an upgrade is cut off %s', async (_, fault) => {
    const { session, id } = await scheduled();
    const before = await later(id);
    site.stripe.faults.add({ method: 'POST', path: `${schedules}/`, status: 503, ...fault });
    expect(await site.billing.switchPlan(session, upgrade)).toMatchObject({ status: 503 });
    await site.pass(50 * 60);
    await site.billing.recover();
    expect(await later(id)).toEqual(before);
    expect(await noted(id)).toBe('');
  });

  it.each([
    ['makes no schedule', { path: schedules, when: 'before' }],
    ['makes a schedule and does not answer', { path: schedules, when: 'after' }],
    ['takes no phases', { path: `${schedules}/`, when: 'before' }],
    ['takes the phases and does not answer', { path: `${schedules}/`, when: 'after' }],
    ['is down', { times: 1000, when: 'before' }],
  ] as const)('is put back a minute later when Stripe %s after an abandoned upgrade', async (how, fault) => {
    const { session, id } = await scheduled();
    const before = await later(id);
    await chargeTo(session, id, 'pm_card_authenticationRequired');
    paid(await site.billing.switchPlan(session, upgrade));
    await site.deliver();
    await site.pass(50 * 60);
    // Down from the moment at which the schedule should be put back.
    const { subscriptionSchedules } = site.dashboard;
    const retrieve = subscriptionSchedules.retrieve.bind(subscriptionSchedules);
    subscriptionSchedules.retrieve = ((one: string) => {
      subscriptionSchedules.retrieve = retrieve;
      site.stripe.faults.add({ status: 503, ...fault, ...(how !== 'is down' && { method: 'POST' }) });
      return retrieve(one);
    }) as typeof retrieve;
    await (await site.another({ stripe: site.dashboard })).recover();
    site.stripe.faults.clear();
    if (fault.when === 'before') expect(await later(id)).toEqual([]);
    await site.deliver();
    await site.pass(120);
    await site.deliver();
    expect(await later(id)).toEqual(before);
    expect(await noted(id)).toBe('');
    expect(await site.billing.subscription(session)).toMatchObject({ planId: 'reader-monthly', price: 600 });
  });

  it('of which Stripe refuses a phase is put back with the next plan at its present price', async () => {
    const { session, id } = await scheduled();
    const { dashboard } = site;
    const { schedule } = await dashboard.subscriptions.retrieve(id);
    const { phases } = await dashboard.subscriptionSchedules.retrieve(String(schedule));
    const { start_date, end_date } = phases[0] ?? {};
    const recurring = { interval: 'month' } as const;
    const small = { currency: 'usd', unit_amount: 500, recurring, product: 'prod_reader', nickname: 'Monthly' };
    const special = await dashboard.prices.create({ ...small, metadata: { zephrPlanId: 'reader-monthly' } });
    const of = (price: string) => ({ items: [{ price }] });
    const listed = [
      { ...of('price_reader_monthly'), start_date, end_date },
      of(special.id),
      of('price_member_monthly'),
    ];
    await dashboard.subscriptionSchedules.update(String(schedule), { phases: listed });
    await dashboard.prices.update('price_reader_monthly', { active: false });
    await site.billing.refresh();
    await site.deliver();
    await chargeTo(session, id, 'pm_card_authenticationRequired');
    paid(await site.billing.switchPlan(session, upgrade));
    await site.pass(50 * 60);
    site.stripe.faults.add({ method: 'POST', path: `${schedules}/`, status: 400 });
    await site.billing.recover();
    expect((await later(id)).map(({ price }) => price)).toEqual([special.id]);
    expect(await noted(id)).toBe('');
  });

  it('keeps a phase that begins later than the next bill, and a discount given in the meantime', async () => {
    const { session, id } = await scheduled(3);
    const before = await planned(id);
    await chargeTo(session, id, 'pm_card_authenticationRequired');
    paid(await site.billing.switchPlan(session, upgrade));
    await site.dashboard.coupons.create({ id: 'sorry', percent_off: 10, duration: 'forever' });
    await site.dashboard.subscriptions.update(id, { discounts: [{ coupon: 'sorry' }] });
    await site.pass(50 * 60);
    await site.billing.recover();
    const dates = (phases: typeof before) =>
      phases.map(({ price, start_date, end_date }) => [price, start_date, end_date]);
    expect(dates(await planned(id))).toEqual(dates(before));
    paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
    for (let months = 0; months < 4; months++) await site.pass(31 * day);
    // Two months less a tenth, a month at half price less a tenth, and the higher plan less a tenth.
    expect(await charged()).toEqual([1800, 540, 1080, 1080, 1200]);
  });

  it('is charged to a new card in all later phases, which stay as they were', async () => {
    const { session, id } = await scheduled();
    const { dashboard } = site;
    const { schedule } = await dashboard.subscriptions.retrieve(id);
    const { phases } = await dashboard.subscriptionSchedules.retrieve(String(schedule));
    const customer = (await site.billing.customerOf(session)) ?? '';
    const old = (await dashboard.paymentMethods.list({ customer })).data[0]?.id ?? '';
    // Of the later phases, two name the old card.
    const again = phases.map(({ items, start_date, end_date, discounts: [discount], metadata }, index) => ({
      items: items.map((item) => ({ price: String(item.price), metadata: item.metadata ?? {} })),
      ...(index === 0 && { start_date }),
      ...(discount && { discounts: [{ coupon: String(discount.coupon) }] }),
      end_date,
      metadata: metadata ?? {},
      proration_behavior: 'none' as const,
      ...(index % 3 !== 0 && { default_payment_method: old }),
    }));
    await dashboard.subscriptionSchedules.update(String(schedule), { phases: again });
    const before = await later(id);
    expect(before).toHaveLength(3);
    paid(await site.billing.usePaymentMethod(session, 'pm_card_mastercard'));
    expect(await later(id)).toEqual(before);
    await site.pass(31 * day);
    // The discount of the phase that runs now isn't one of the later phases.
    paid(await site.billing.usePaymentMethod(session, 'pm_card_amex'));
    expect((await planned(id)).slice(-2)).toEqual(before.slice(1));
    for (let months = 1; months < 4; months++) await site.pass(31 * day);
    await site.deliver();
    expect(await charged()).toEqual([1200, 2000, 2000, 600, 1200]);
    const { data } = await dashboard.charges.list({ limit: 100 });
    const brands = data.map(({ payment_method_details: details }) => details?.card?.brand);
    expect(brands).toEqual(['amex', 'amex', 'amex', 'mastercard', 'visa']);
  });

  it('is put back from the next bill on when a phase should have begun in the meantime', async () => {
    const { session, id } = await scheduled();
    await chargeTo(session, id, 'pm_card_authenticationRequired');
    await site.pass(30 * day - 600);
    paid(await site.billing.switchPlan(session, upgrade));
    await chargeTo(session, id, 'pm_card_visa');
    await site.pass(2 * 60 * 60);
    await site.billing.recover();
    await site.deliver();
    const { current_period_end: end } = (await site.dashboard.subscriptions.retrieve(id)).items.data[0] ?? {};
    expect(await later(id)).toMatchObject([
      { price: 'price_member_monthly', start_date: end },
      { price: 'price_reader_monthly' },
    ]);
  });

  it('is not put back after a paid upgrade, a cancellation, or a smaller plan that the reader chooses', async () => {
    const { session, id } = await scheduled();
    await chargeTo(session, id, 'pm_card_visa');
    paid(await site.billing.switchPlan(session, { planId: 'member-monthly' }));
    await site.deliver();
    await site.pass(50 * 60);
    await site.billing.recover();
    await site.deliver();
    expect([await planned(id), await noted(id)]).toEqual([[], '']);
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    expect((await later(id)).map(({ price }) => price)).toEqual(['price_reader_monthly']);
    paid(await site.billing.cancel(session));
    await site.pass(120);
    await site.deliver();
    expect(await planned(id)).toEqual([]);
  });

  it.each(['at once', 'by a job, after Stripe fails'])(
    'is put back when the reader cancels and resumes (%s)',
    async (how) => {
      const { session, id } = await scheduled();
      const before = await later(id);
      paid(await site.billing.cancel(session));
      expect(await planned(id)).toEqual([]);
      await site.pass(2 * 60);
      await site.deliver();
      if (how === 'at once') paid(await site.billing.resume(session));
      else {
        site.stripe.faults.add({ method: 'POST', path: `${schedules}/`, status: 503 });
        expect(await site.billing.resume(session)).toMatchObject({ status: 503 });
        await site.pass(120);
        await site.deliver();
      }
      expect(await later(id)).toEqual(before);
      expect(await noted(id)).toBe('');
      expect(await site.billing.subscription(session)).toMatchObject({ cancelAtPeriodEnd: false, price: 600 });
    },
  );

  /** A schedule whose reader has the higher plan for now, so that smaller ones can be chosen. */
  async function scheduledHigh(): Promise<{ session: Session; id: string }> {
    const { session, id } = await scheduled();
    const { dashboard } = site;
    const { schedule, items } = await dashboard.subscriptions.retrieve(id);
    expect(items.data).toHaveLength(1);
    const { phases } = await dashboard.subscriptionSchedules.retrieve(String(schedule));
    const of = (price: string) => ({ items: [{ price }] });
    const { start_date, end_date } = phases[0] ?? {};
    const present = { ...of('price_member_yearly'), start_date, end_date };
    const two = [of('price_member_monthly'), of('price_reader_yearly')];
    await dashboard.subscriptionSchedules.update(String(schedule), { phases: [present, ...two] });
    await site.deliver();
    expect(await later(id)).toHaveLength(2);
    return { session, id };
  }

  it.each([
    ['makes no schedule', schedules],
    ['takes no phases', `${schedules}/`],
  ])('is put back at once when Stripe refuses a smaller plan that the reader chooses (%s)', async (_, path) => {
    const { session, id } = await scheduledHigh();
    const before = await later(id);
    // Refused from the moment at which the publisher's schedule is released.
    const { subscriptionSchedules } = site.dashboard;
    const release = subscriptionSchedules.release.bind(subscriptionSchedules);
    subscriptionSchedules.release = (async (one: string) => {
      const released = await release(one);
      site.stripe.faults.add({ method: 'POST', path, status: 400 });
      return released;
    }) as typeof release;
    const billing = await site.another({ stripe: site.dashboard });
    await expect(billing.switchPlan(session, { planId: 'reader-monthly' })).rejects.toThrow();
    subscriptionSchedules.release = release;
    const prices = (phases: typeof before) => phases.map(({ price }) => price);
    expect(prices(await later(id))).toEqual(prices(before));
    expect(await noted(id)).toBe('');
    // Nothing is left open: the next choice is taken.
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    expect(prices(await later(id))).toEqual(['price_reader_monthly']);
  });

  it.each(['at once', 'after a second choice', 'after a cancellation', 'by a job, after Stripe fails'])(
    'is put back when the reader chooses a smaller plan and takes the choice back (%s)',
    async (how) => {
      const { session, id } = await scheduledHigh();
      const { dashboard } = site;
      const before = await later(id);
      if (how === 'after a cancellation') paid(await site.billing.cancel(session));
      paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
      if (how === 'after a second choice') paid(await site.billing.switchPlan(session, { planId: 'reader-yearly' }));
      await site.deliver();
      expect(await noted(id)).toBe('');
      expect(await later(id)).toHaveLength(1);
      if (how === 'by a job, after Stripe fails') {
        // Down from the moment at which the reader's choice is released.
        const { subscriptionSchedules } = dashboard;
        const release = subscriptionSchedules.release.bind(subscriptionSchedules);
        subscriptionSchedules.release = (async (one: string) => {
          const released = await release(one);
          site.stripe.faults.add({ status: 503, times: 1000 });
          return released;
        }) as typeof release;
        expect(await (await site.another({ stripe: dashboard })).resume(session)).toMatchObject({ status: 503 });
        subscriptionSchedules.release = release;
        site.stripe.faults.clear();
        await site.pass(120);
        await site.deliver();
      } else paid(await site.billing.resume(session));
      expect((await later(id)).map(({ price }) => price)).toEqual(before.map(({ price }) => price));
      expect(await noted(id)).toBe('');
      expect(await site.billing.subscription(session)).toMatchObject({ next: { fixed: true } });
      // What the publisher has planned stays.
      paid(await site.billing.resume(session));
      expect(await later(id)).toHaveLength(before.length);
    },
  );

  it('can’t be taken back, and its next phase at the same price is not shown as a change', async () => {
    const { session, id } = await scheduled();
    const before = await planned(id);
    expect(await site.billing.subscription(session)).toMatchObject({ price: 600, planId: 'reader-monthly' });
    expect(await site.billing.subscription(session)).not.toHaveProperty('next');
    paid(await site.billing.resume(session));
    // The plan that the reader has.
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    expect(await planned(id)).toEqual(before);
    const { length } = await later(id);
    paid(await site.billing.cancel(session));
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    paid(await site.billing.resume(session));
    expect(await later(id)).toHaveLength(length);
  });

  it('that cancels at its end still does after a refused upgrade, and after a cancellation that is taken back', async () => {
    const { session, id } = await scheduled();
    const { schedule } = await site.dashboard.subscriptions.retrieve(id);
    await site.dashboard.subscriptionSchedules.update(String(schedule), { end_behavior: 'cancel' });
    await site.deliver();
    const before = await later(id);
    const ends = async () => (await site.dashboard.subscriptions.retrieve(id)).cancel_at;
    const end = await ends();
    expect(end).toBe(before.at(-1)?.end_date);
    await chargeTo(session, id, 'pm_card_chargeCustomerFail');
    expect(await site.billing.switchPlan(session, upgrade)).toMatchObject({ ok: false, status: 402 });
    expect([await later(id), await ends()]).toEqual([before, end]);
    paid(await site.billing.cancel(session));
    paid(await site.billing.resume(session));
    expect([await later(id), await ends()]).toEqual([before, end]);
  });
});
