/** Retention, and changing to another plan, in either order: the last decision counts. On both databases. */
import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import { afterEach, describe, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, home, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const reader = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };
const member = { ...reader, product_id: 'sun-member', plan_id: 'member-monthly' };

onBothEngines('plan switches', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  async function subscribed(plan = reader): Promise<{ session: Session; id: string }> {
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    const { subscriptionId: id } = paid(await site.billing.subscribe(session, plan));
    await site.deliver();
    return { session, id };
  }
  /** From now on the bank asks about every payment. */
  async function askingBank(id: string): Promise<void> {
    const customer = (await site.dashboard.subscriptions.retrieve(id)).customer as string;
    const card = await site.dashboard.paymentMethods.attach('pm_card_authenticationRequired', { customer });
    await site.dashboard.subscriptions.update(id, { default_payment_method: card.id });
  }
  const agree = (secret: string | null) => site.stripe.finishChallenge(secret?.split('_secret_')[0] ?? '', true);
  const now = (session: Session) => site.billing.subscription(session);

  it('an upgrade takes back an earlier cancellation', async () => {
    const { session } = await subscribed();
    paid(await site.billing.cancel(session));
    paid(await site.billing.switchPlan(session, { planId: 'member-monthly' }));
    expect(await now(session)).toMatchObject({ planId: 'member-monthly', cancelAtPeriodEnd: false });
  });

  it.each(['the browser reports it', 'only Stripe reports it'])(
    'an upgrade that waits for the bank takes back a cancellation once it is paid and %s',
    async (how) => {
      const { session, id } = await subscribed();
      paid(await site.billing.cancel(session));
      await askingBank(id);
      const { clientSecret } = paid(await site.billing.switchPlan(session, { planId: 'member-yearly' }));
      // Nothing was paid, so nothing is credited.
      expect(await now(session)).toMatchObject({ planId: 'reader-monthly', cancelAtPeriodEnd: true });
      agree(clientSecret);
      if (how === 'the browser reports it') paid(await site.billing.confirm(session, id));
      else await site.deliver();
      expect(await now(session)).toMatchObject({ planId: 'member-yearly', cancelAtPeriodEnd: false });
    },
  );

  it('canceling while the bank confirms an upgrade also drops the upgrade, without a charge', async () => {
    const { session, id } = await subscribed();
    await askingBank(id);
    const { clientSecret } = paid(await site.billing.switchPlan(session, { planId: 'member-yearly' }));
    paid(await site.billing.cancel(session));
    expect(() => agree(clientSecret)).toThrow();
    await site.deliver();
    expect(await now(session)).toMatchObject({ planId: 'reader-monthly', cancelAtPeriodEnd: true });
    const charges = (await site.dashboard.charges.list()).data.filter(({ paid: was }) => was);
    expect(charges.map(({ amount }) => amount)).toEqual([1200]);
  });

  it('choosing a smaller plan takes back an earlier cancellation and applies at the renewal', async () => {
    const { session } = await subscribed(member);
    paid(await site.billing.cancel(session));
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    expect(await now(session)).toMatchObject({ cancelAtPeriodEnd: false, next: { planId: 'reader-monthly' } });
    await site.pass(32 * day);
    await site.deliver();
    expect(await now(session)).toMatchObject({ planId: 'reader-monthly', status: 'active' });
  });

  it.each(['at the first try', 'after Stripe fails once'])(
    'canceling and resuming keeps the planned smaller plan (%s)',
    async (how) => {
      const { session, id } = await subscribed({ ...member, plan_id: 'member-yearly' });
      paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
      expect(paid(await site.billing.cancel(session))).toMatchObject({ cancelAtPeriodEnd: true });
      expect((await site.dashboard.subscriptions.retrieve(id)).schedule).toBeNull();
      await site.deliver();
      if (how !== 'at the first try') {
        site.stripe.faults.add({ path: '/v1/subscription_schedules/', method: 'post', status: 500, times: 1 });
        expect(await site.billing.resume(session)).toMatchObject({ ok: false, status: 503 });
      }
      const resumed = paid(await site.billing.resume(session));
      expect(resumed).toMatchObject({ cancelAtPeriodEnd: false, price: 1200, next: { planId: 'reader-monthly' } });
      expect((await site.dashboard.subscriptions.retrieve(id)).metadata.planned ?? '').toBe('');
      await site.pass(366 * day);
      await site.deliver();
      const charges = (await site.dashboard.charges.list()).data.filter(({ paid: was }) => was);
      expect(charges.map(({ amount }) => amount)).toEqual([1200, 20_000]);
      expect(await now(session)).toMatchObject({ planId: 'reader-monthly', status: 'active' });
    },
  );

  describe('a planned smaller plan is kept when a cancellation fails at its last call to Stripe', () => {
    const failing = async (): Promise<Session> => {
      const { session } = await subscribed(member);
      paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
      const { subscriptions } = site.dashboard;
      const update = subscriptions.update.bind(subscriptions);
      subscriptions.update = ((id: string, asked: Stripe.SubscriptionUpdateParams) => {
        if (asked.cancel_at_period_end) site.stripe.faults.add({ status: 503, times: 1000 });
        return update(id, asked);
      }) as typeof update;
      const process = await site.another({ stripe: site.dashboard });
      expect(await process.cancel(session)).toMatchObject({ status: 503 });
      subscriptions.update = update;
      site.stripe.faults.clear();
      return session;
    };
    const renewed = async (session: Session) => {
      await site.pass(32 * day);
      await site.deliver();
      return now(session);
    };

    it('and the reader does not try again', async () => {
      const session = await failing();
      await site.pass(120);
      await site.deliver();
      expect(await now(session)).toMatchObject({ cancelAtPeriodEnd: false, next: { planId: 'reader-monthly' } });
      expect(await renewed(session)).toMatchObject({ planId: 'reader-monthly', status: 'active' });
    });

    it('and the reader then cancels and resumes', async () => {
      const session = await failing();
      paid(await site.billing.cancel(session));
      await site.pass(120);
      await site.deliver();
      expect(await now(session)).toMatchObject({ cancelAtPeriodEnd: true, nextBillingDate: null });
      expect(paid(await site.billing.resume(session)).next).toMatchObject({ planId: 'reader-monthly' });
      expect(await renewed(session)).toMatchObject({ planId: 'reader-monthly', status: 'active' });
    });
  });

  it('a planned smaller plan is kept when the card for an upgrade is declined', async () => {
    const { session, id } = await subscribed(member);
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    const customer = (await site.dashboard.subscriptions.retrieve(id)).customer as string;
    const card = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
    await site.dashboard.subscriptions.update(id, { default_payment_method: card.id });
    const refused = await site.billing.switchPlan(session, { planId: 'member-yearly' });
    expect(refused).toMatchObject({ ok: false, status: 402 });
    expect(await now(session)).toMatchObject({ planId: 'member-monthly', next: { planId: 'reader-monthly' } });
    paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
    await site.pass(32 * day);
    await site.deliver();
    expect(await now(session)).toMatchObject({ planId: 'reader-monthly', status: 'active' });
    expect((await site.dashboard.subscriptions.retrieve(id)).metadata.planned ?? '').toBe('');
  });

  it('a planned smaller plan is kept when the bank never confirms an upgrade', async () => {
    const { session, id } = await subscribed(member);
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    await askingBank(id);
    paid(await site.billing.switchPlan(session, { planId: 'member-yearly' }));
    await site.deliver();
    await site.pass(50 * 60);
    await site.billing.recover();
    await site.deliver();
    expect(await now(session)).toMatchObject({ planId: 'member-monthly', next: { planId: 'reader-monthly' } });
  });

  it('a planned smaller plan is kept when the reader cancels during an upgrade’s confirmation, and resumes', async () => {
    const { session, id } = await subscribed(member);
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    await askingBank(id);
    paid(await site.billing.switchPlan(session, { planId: 'member-yearly' }));
    paid(await site.billing.cancel(session));
    await site.deliver();
    expect(paid(await site.billing.resume(session)).next).toMatchObject({ planId: 'reader-monthly' });
  });

  it.each(['the browser reports it', 'only Stripe reports it'])(
    'an upgrade replaces the planned smaller plan for good once it is paid and %s',
    async (how) => {
      const { session, id } = await subscribed(member);
      paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
      await askingBank(id);
      const { clientSecret } = paid(await site.billing.switchPlan(session, { planId: 'member-yearly' }));
      agree(clientSecret);
      if (how === 'the browser reports it') paid(await site.billing.confirm(session, id));
      await site.deliver();
      // Taking back a cancellation restores nothing from before the upgrade.
      paid(await site.billing.cancel(session));
      expect(paid(await site.billing.resume(session))).toMatchObject({ planId: 'member-yearly' });
      expect((await now(session))?.next).toBeUndefined();
      expect((await site.dashboard.subscriptions.retrieve(id)).metadata.planned ?? '').toBe('');
    },
  );

  it('a planned smaller plan is charged to the card that replaced the earlier one', async () => {
    const { session } = await subscribed(member);
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    paid(await site.billing.usePaymentMethod(session, 'pm_card_mastercard'));
    expect(await now(session)).toMatchObject({ next: { planId: 'reader-monthly' } });
    await site.pass(32 * day);
    await site.deliver();
    const [newest] = (await site.dashboard.charges.list()).data;
    expect(newest).toMatchObject({ amount: 1200, payment_method_details: { card: { brand: 'mastercard' } } });
    expect(paid(await site.billing.card(session))).toMatchObject({ brand: 'mastercard' });
  });

  it('a discount given after a smaller plan was planned applies to it, even with another card', async () => {
    const { session, id } = await subscribed(member);
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    await site.dashboard.coupons.create({ id: 'half', percent_off: 50, duration: 'forever' });
    await site.dashboard.subscriptions.update(id, { discounts: [{ coupon: 'half' }] });
    paid(await site.billing.usePaymentMethod(session, 'pm_card_mastercard'));
    expect(await now(session)).toMatchObject({ price: 600, next: { planId: 'reader-monthly' } });
    await site.pass(32 * day);
    await site.deliver();
    expect((await site.dashboard.charges.list()).data[0]).toMatchObject({ amount: 600 });
  });

  it('an upgrade is refused with 409 while the renewal invoice is a draft, and nothing is charged twice', async () => {
    const { session } = await subscribed();
    await site.pass(30 * day + 1800);
    await site.deliver();
    const renewing = { ok: false, status: 409, error: { code: 'renewing' } };
    expect(await site.billing.quote(session, { planId: 'member-monthly' })).toMatchObject(renewing);
    expect(await site.billing.switchPlan(session, { planId: 'member-monthly' })).toMatchObject(renewing);
    await site.pass(3600);
    await site.deliver();
    const { dueToday } = paid(await site.billing.quote(session, { planId: 'member-monthly' }));
    expect(dueToday).toBeLessThan(810);
    paid(await site.billing.switchPlan(session, { planId: 'member-monthly', expected: dueToday }));
    await site.pass(day);
    const charges = (await site.dashboard.charges.list()).data.map(({ amount }) => amount);
    expect(charges).toEqual([dueToday, 1200, 1200]);
  });

  it('choosing the current plan again keeps the old price after a price increase', async () => {
    const { session } = await subscribed();
    const recurring = { interval: 'month' } as const;
    const dearer = { currency: 'usd', unit_amount: 1500, recurring, product: 'prod_reader', nickname: 'Monthly' };
    await site.dashboard.prices.create({ ...dearer, metadata: { zephrPlanId: 'reader-monthly' } });
    await site.dashboard.prices.update('price_reader_monthly', { active: false });
    await site.billing.refresh();
    expect(paid(await site.billing.quote(session, { planId: 'reader-monthly' }))).toMatchObject({ kind: 'same' });
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    expect(await now(session)).toMatchObject({ planId: 'reader-monthly', price: 1200 });
    expect((await site.dashboard.charges.list()).data).toHaveLength(1);
  });

  it('a smaller plan that was planned and dropped is planned again when its request is repeated', async () => {
    const { session } = await subscribed(member);
    const asked = { planId: 'reader-monthly', attempt: randomUUID() };
    expect(paid(await site.billing.switchPlan(session, asked))).toMatchObject({ effective: 'renewal' });
    expect(paid(await site.billing.switchPlan(session, asked))).toMatchObject({ effective: 'renewal' });
    paid(await site.billing.resume(session));
    expect((await now(session))?.next).toBeUndefined();
    expect(paid(await site.billing.switchPlan(session, asked))).toMatchObject({ effective: 'renewal' });
    expect(await now(session)).toMatchObject({ next: { planId: 'reader-monthly' } });
  });

  it('a planned smaller plan that the reader dropped does not return after a cancellation is taken back', async () => {
    const { session } = await subscribed(member);
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    for (const change of [site.billing.cancel, site.billing.cancel, site.billing.resume]) paid(await change(session));
    expect(await now(session)).toMatchObject({ next: { planId: 'reader-monthly' } });
    // The button next to a planned switch, pressed again in another tab.
    for (let press = 0; press < 2; press++) paid(await site.billing.resume(session));
    expect((await now(session))?.next).toBeUndefined();
    paid(await site.billing.cancel(session));
    expect(paid(await site.billing.resume(session)).next).toBeUndefined();
    await site.pass(32 * day);
    await site.deliver();
    expect(await now(session)).toMatchObject({ planId: 'member-monthly', status: 'active' });
  });

  it('canceling after planning a smaller plan ends the subscription with the paid period', async () => {
    const { session } = await subscribed(member);
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    paid(await site.billing.cancel(session));
    await site.pass(32 * day);
    await site.deliver();
    expect(await now(session)).toMatchObject({ planId: 'member-monthly', status: 'canceled' });
    // Too late to take it back: the reader is told, and nothing starts.
    expect(await site.billing.resume(session)).toMatchObject({ ok: false, status: 404 });
    expect((await site.dashboard.charges.list()).data).toHaveLength(1);
  });

  describe('a canceled subscription stays canceled when Stripe fails to schedule a smaller plan', () => {
    const canceled = async (): Promise<{ session: Session; id: string }> => {
      const bought = await subscribed(member);
      paid(await site.billing.cancel(bought.session));
      return bought;
    };
    const schedules = '/v1/subscription_schedules';
    const ends = async (id: string) => (await site.dashboard.subscriptions.retrieve(id)).cancel_at_period_end;

    it.each([
      ['the schedule can’t be made', { path: schedules, when: 'before' }],
      ['its phases can’t be set', { path: `${schedules}/`, when: 'before' }],
    ] as const)('because %s, until a retry succeeds', async (_, fault) => {
      const { session, id } = await canceled();
      site.stripe.faults.add({ method: 'POST', status: 503, ...fault });
      expect(await site.billing.switchPlan(session, { planId: 'reader-monthly' })).toMatchObject({ status: 503 });
      expect(await ends(id)).toBe(true);
      expect(await now(session)).toMatchObject({ cancelAtPeriodEnd: true });
      paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
      expect(await now(session)).toMatchObject({ cancelAtPeriodEnd: false, next: { planId: 'reader-monthly' } });
      await site.pass(3600);
      await site.billing.recover();
      expect(await now(session)).toMatchObject({ cancelAtPeriodEnd: false, next: { planId: 'reader-monthly' } });
    });

    /** Stripe is down from the moment at which the change should be scheduled. */
    async function outage(planId = 'reader-monthly'): Promise<{ session: Session; id: string }> {
      const bought = await canceled();
      if (planId === 'member-monthly') await lowerPrice();
      const { subscriptionSchedules } = site.dashboard;
      const create = subscriptionSchedules.create.bind(subscriptionSchedules);
      subscriptionSchedules.create = (...asked) => {
        site.stripe.faults.add({ status: 503, times: 1000 });
        return create(...asked);
      };
      const process = await site.another({ stripe: site.dashboard });
      expect(await process.switchPlan(bought.session, { planId })).toMatchObject({ status: 503 });
      subscriptionSchedules.create = create;
      site.stripe.faults.clear();
      expect(await ends(bought.id)).toBe(false);
      return bought;
    }

    /** The plan that the reader has costs less now. */
    async function lowerPrice(): Promise<void> {
      const recurring = { interval: 'month' } as const;
      const cheaper = { currency: 'usd', unit_amount: 1500, recurring, product: 'prod_member', nickname: 'Monthly' };
      await site.dashboard.prices.create({ ...cheaper, metadata: { zephrPlanId: 'member-monthly' } });
      await site.dashboard.prices.update('price_member_monthly', { active: false });
      await site.billing.refresh();
    }

    it('also where only the price of the plan is lower', async () => {
      const { session, id } = await outage('member-monthly');
      await site.deliver();
      await site.pass(3600);
      await site.billing.recover();
      expect(await ends(id)).toBe(true);
      expect(await now(session)).toMatchObject({ cancelAtPeriodEnd: true });
      const again = { planId: 'member-monthly', attempt: randomUUID() };
      for (let tries = 0; tries < 2; tries++)
        expect(paid(await site.billing.switchPlan(session, again))).toMatchObject({ effective: 'renewal' });
      expect(await now(session)).toMatchObject({ cancelAtPeriodEnd: false, next: { planId: 'member-monthly' } });
    });

    it('because of an outage, unless the reader resumes', async () => {
      const { id } = await outage();
      await site.pass(3600);
      await site.billing.recover();
      expect(await ends(id)).toBe(true);
      await site.stop();
      const { session, id: other } = await outage();
      paid(await site.billing.resume(session));
      await site.pass(3600);
      await site.billing.recover();
      expect(await ends(other)).toBe(false);
    });

    it('even if the second attempt fails', async () => {
      const { session, id } = await outage();
      site.stripe.faults.add({ method: 'POST', path: schedules, status: 503 });
      expect(await site.billing.switchPlan(session, { planId: 'reader-monthly' })).toMatchObject({ status: 503 });
      expect(await ends(id)).toBe(true);
    });

    it('unless only Stripe’s response was lost', async () => {
      const { session, id } = await canceled();
      site.stripe.faults.add({ method: 'POST', path: `${schedules}/`, status: 503, when: 'after' });
      expect(await site.billing.switchPlan(session, { planId: 'reader-monthly' })).toMatchObject({ status: 503 });
      expect(await ends(id)).toBe(false);
      expect(await now(session)).toMatchObject({ next: { planId: 'reader-monthly' } });
    });
  });

  it('a switch to a print plan sends Stripe the delivery address that Stripe lacks', async () => {
    const { session } = await subscribed(member);
    site.stripe.faults.add({ method: 'POST', path: '/v1/customers/', status: 503 });
    paid(await site.billing.saveShipping(session, home));
    paid(await site.billing.switchPlan(session, { planId: 'member-print-yearly' }));
    const customer = await site.dashboard.customers.retrieve((await site.billing.customerOf(session)) ?? '');
    expect(customer).toMatchObject({ shipping: { name: home.name } });
  });

  it('a quote uses the new period after a renewal whose webhook is missing', async () => {
    const { session } = await subscribed(member);
    await site.pass(32 * day);
    site.events.splice(0);
    const { kind, renewalDate } = paid(await site.billing.quote(session, { planId: 'reader-monthly' }));
    expect(kind).toBe('downgrade');
    expect(renewalDate).toBeGreaterThan(site.accounts.clock.now);
  });
});
