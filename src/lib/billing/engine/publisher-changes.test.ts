/** Subscriptions that the publisher changes in Stripe's dashboard. On both databases. */
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

onBothEngines('a subscription', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  async function subscribed(plan = monthly): Promise<{ session: Session; id: string }> {
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    const { subscriptionId: id } = paid(await site.billing.subscribe(session, plan));
    await site.deliver();
    return { session, id };
  }
  const mailed = (kind: string) => site.mail.filter((message) => message.kind === kind).length;
  const charged = async () => (await site.dashboard.charges.list({ limit: 100 })).data.filter(({ paid: was }) => was);

  it('with an unpaid plan change by the publisher continues once it is paid with another card', async () => {
    const { session, id } = await subscribed();
    const customer = (await site.billing.customerOf(session)) ?? '';
    const bad = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
    await site.dashboard.subscriptions.update(id, { default_payment_method: bad.id });
    const [item] = (await site.dashboard.subscriptions.retrieve(id)).items.data;
    const items = [{ id: item?.id ?? '', price: 'price_member_monthly' }];
    await site.dashboard.subscriptions.update(id, { items, proration_behavior: 'always_invoice' });
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'past_due' });
    expect(mailed('payment-failed')).toBe(1);
    expect(paid(await site.billing.usePaymentMethod(session, 'pm_card_visa')).paymentIntentStatus).toBe('succeeded');
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'active', planId: 'member-monthly' });
    expect((await charged()).map(({ amount }) => amount)).toEqual([800, 1200]);
  });

  it('with an end date set by the publisher renews and is shown as running until then', async () => {
    const { session, id } = await subscribed();
    const start = site.accounts.clock.now / 1000;
    await site.dashboard.subscriptions.update(id, { cancel_at: start + 75 * day });
    await site.deliver();
    const next = new Date((start + 30 * day) * 1000).toISOString();
    const running = { cancelAtPeriodEnd: false, nextBillingDate: next, price: 1200 };
    expect(await site.billing.subscription(session)).toMatchObject(running);
    await site.pass(31 * day);
    await site.deliver();
    expect([mailed('cancelled'), mailed('renewal-notice')]).toEqual([0, 1]);
    await site.pass(8 * day);
    await site.deliver();
    expect(await charged()).toHaveLength(2);
    // The reader can end it earlier.
    expect(paid(await site.billing.cancel(session))).toMatchObject({ cancelAtPeriodEnd: true, nextBillingDate: null });
    expect(mailed('cancelled')).toBe(1);
  });

  it('keeps a schedule made by the publisher when the card is replaced, and pays with the new card', async () => {
    const { session, id } = await subscribed();
    const { id: schedule, phases } = await site.dashboard.subscriptionSchedules.create({ from_subscription: id });
    const { start_date, end_date } = phases[0] ?? {};
    const phase = (price: string) => ({ items: [{ price }], proration_behavior: 'none' as const });
    const planned = [phase('price_member_monthly'), phase('price_reader_monthly')];
    const first = { ...phase('price_reader_monthly'), start_date, end_date };
    await site.dashboard.subscriptionSchedules.update(schedule, { phases: [first, ...planned] });
    await site.deliver();
    paid(await site.billing.usePaymentMethod(session, 'pm_card_mastercard'));
    expect((await site.dashboard.subscriptionSchedules.retrieve(schedule)).phases).toHaveLength(3);
    await site.pass(32 * day);
    await site.deliver();
    const [newest] = await charged();
    expect(newest).toMatchObject({ amount: 2000, payment_method_details: { card: { brand: 'mastercard' } } });
  });

  it('of a higher tier, added by the publisher next to another, is the one shown, quoted and canceled', async () => {
    const { session, id } = await subscribed();
    const { customer, default_payment_method: card } = await site.dashboard.subscriptions.retrieve(id);
    const params = { customer: String(customer), default_payment_method: String(card) };
    const member = { ...params, items: [{ price: 'price_member_monthly' }] };
    const other = await site.dashboard.subscriptions.create(member);
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ id: other.id, planId: 'member-monthly' });
    expect(paid(await site.billing.quote(session, { planId: 'member-monthly' })).kind).toBe('same');
    expect(paid(await site.billing.cancel(session))).toMatchObject({ id: other.id, cancelAtPeriodEnd: true });
    // A canceled subscription doesn't hide the one that is charged, although it gives more access until its paid time is over.
    await site.dashboard.subscriptions.cancel(other.id);
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ id, status: 'active' });
    expect(paid(await site.billing.cancel(session))).toMatchObject({ id, cancelAtPeriodEnd: true });
  });

  it('that renews is the one to manage next to a higher one that ends, and both are listed', async () => {
    const { session, id } = await subscribed();
    const { customer, default_payment_method: card } = await site.dashboard.subscriptions.retrieve(id);
    const params = { customer: String(customer), default_payment_method: String(card) };
    const items = [{ price: 'price_member_monthly' }];
    const { id: ending } = await site.dashboard.subscriptions.create({ ...params, items, cancel_at_period_end: true });
    await site.deliver();
    const renewing = { id, cancelAtPeriodEnd: false, price: 1200 };
    expect(await site.billing.subscription(session)).toMatchObject(renewing);
    const other = { id: ending, planId: 'member-monthly', cancelAtPeriodEnd: true, nextBillingDate: null };
    expect(await site.billing.subscriptions(session)).toMatchObject([renewing, other]);
    expect((await site.billing.entitlements(session.userId))[0]).toMatchObject({ product: 'sun-member' });
    expect(paid(await site.billing.cancel(session))).toMatchObject({ id, cancelAtPeriodEnd: true });
    expect(await site.billing.subscriptions(session)).toMatchObject([{ id: ending }, { id, cancelAtPeriodEnd: true }]);
  });

  it('is canceled once by its id, without affecting another one of the same reader', async () => {
    const { session, id } = await subscribed();
    const { customer, default_payment_method: card } = await site.dashboard.subscriptions.retrieve(id);
    const params = { customer: String(customer), default_payment_method: String(card) };
    const member = { ...params, items: [{ price: 'price_member_monthly' }] };
    const { id: shown } = await site.dashboard.subscriptions.create(member);
    await site.deliver();
    for (let press = 0; press < 2; press++)
      expect(paid(await site.billing.cancel(session, null, shown))).toMatchObject({
        id: shown,
        cancelAtPeriodEnd: true,
      });
    expect(await site.billing.subscription(session)).toMatchObject({ id, cancelAtPeriodEnd: false });
    expect(await site.billing.cancel(session, null, 'sub_of_another')).toMatchObject({ ok: false, status: 404 });
    const cancellations = await site.database.db.selectFrom('cancellations').select('subscription').execute();
    expect(cancellations).toEqual([{ subscription: shown }]);
  });

  it('keeps the publisher’s end date when the reader resumes', async () => {
    const { session, id } = await subscribed({ ...monthly, product_id: 'sun-member', plan_id: 'member-monthly' });
    const at = site.accounts.clock.now / 1000 + 75 * day;
    await site.dashboard.subscriptions.update(id, { cancel_at: at });
    paid(await site.billing.resume(session));
    expect((await site.dashboard.subscriptions.retrieve(id)).cancel_at).toBe(at);
  });

  it('keeps the publisher’s end date when the reader plans a smaller plan and drops it', async () => {
    const { session, id } = await subscribed({ ...monthly, product_id: 'sun-member', plan_id: 'member-monthly' });
    const at = site.accounts.clock.now / 1000 + 75 * day;
    const ends = async () => (await site.dashboard.subscriptions.retrieve(id)).cancel_at;
    const planned = { planId: 'reader-monthly' };
    await site.dashboard.subscriptions.update(id, { cancel_at: at });
    await site.deliver();
    expect(paid(await site.billing.switchPlan(session, planned)).effective).toBe('renewal');
    expect(await ends()).toBe(at);
    expect(paid(await site.billing.resume(session))).not.toHaveProperty('next');
    expect(await ends()).toBe(at);
    paid(await site.billing.switchPlan(session, planned));
    await site.pass(65 * day);
    await site.deliver();
    expect((await charged()).map(({ amount }) => amount)).toEqual([1200, 1200, 2000]);
    await site.pass(11 * day);
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'canceled' });
    expect(await charged()).toHaveLength(3);
  });

  it('that a publisher’s schedule ends continues with the smaller plan that the reader chooses', async () => {
    const { session, id } = await subscribed({ ...monthly, product_id: 'sun-member', plan_id: 'member-monthly' });
    const { id: schedule } = await site.dashboard.subscriptionSchedules.create({ from_subscription: id });
    await site.dashboard.subscriptionSchedules.update(schedule, { end_behavior: 'cancel' });
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ cancelAtPeriodEnd: true, nextBillingDate: null });
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    const next = { planId: 'reader-monthly' };
    expect(await site.billing.subscription(session)).toMatchObject({ cancelAtPeriodEnd: false, price: 1200, next });
    await site.pass(32 * day);
    await site.deliver();
    expect((await charged()).map(({ amount }) => amount)).toEqual([1200, 2000]);
  });

  it('that a publisher’s schedule ends keeps that end when the payment for an upgrade fails', async () => {
    const { session, id } = await subscribed();
    const { id: schedule } = await site.dashboard.subscriptionSchedules.create({ from_subscription: id });
    await site.dashboard.subscriptionSchedules.update(schedule, { end_behavior: 'cancel' });
    await site.deliver();
    const { cancel_at: ends } = await site.dashboard.subscriptions.retrieve(id);
    const customer = (await site.billing.customerOf(session)) ?? '';
    const bad = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
    await site.dashboard.subscriptions.update(id, { default_payment_method: bad.id });
    const upgrade = { planId: 'member-monthly' };
    expect(await site.billing.switchPlan(session, upgrade)).toMatchObject({ ok: false, status: 402 });
    expect(ends).toBeGreaterThan(0);
    expect((await site.dashboard.subscriptions.retrieve(id)).cancel_at).toBe(ends);
    expect(await site.billing.subscription(session)).toMatchObject({ cancelAtPeriodEnd: true, nextBillingDate: null });
    // A paid upgrade cancels the planned end.
    paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
    paid(await site.billing.switchPlan(session, upgrade));
    expect((await site.dashboard.subscriptions.retrieve(id)).cancel_at).toBeNull();
    expect(await site.billing.subscription(session)).toMatchObject({ planId: 'member-monthly', price: 2000 });
  });

  it('keeps the publisher’s scheduled price increase when the payment for an upgrade fails', async () => {
    const { session, id } = await subscribed();
    const { dashboard } = site;
    const recurring = { interval: 'month' } as const;
    const dearer = { currency: 'usd', unit_amount: 1500, recurring, product: 'prod_reader', nickname: 'Monthly' };
    const raised = await dashboard.prices.create({ ...dearer, metadata: { zephrPlanId: 'reader-monthly' } });
    await dashboard.prices.update('price_reader_monthly', { active: false });
    await site.billing.refresh();
    const { id: schedule, phases } = await dashboard.subscriptionSchedules.create({ from_subscription: id });
    const { start_date, end_date } = phases[0] ?? {};
    const phase = (price: string) => ({ items: [{ price }], proration_behavior: 'none' as const });
    const present = { ...phase('price_reader_monthly'), start_date, end_date };
    await dashboard.subscriptionSchedules.update(schedule, { phases: [present, phase(raised.id)] });
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ price: 1500 });
    const customer = (await site.billing.customerOf(session)) ?? '';
    const bad = await dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
    await dashboard.subscriptions.update(id, { default_payment_method: bad.id });
    const refused = await site.billing.switchPlan(session, { planId: 'member-monthly' });
    expect(refused).toMatchObject({ ok: false, status: 402 });
    expect(await site.billing.subscription(session)).toMatchObject({ price: 1500, planId: 'reader-monthly' });
    paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
    await site.pass(32 * day);
    await site.deliver();
    expect((await charged()).map(({ amount }) => amount)).toEqual([1500, 1200]);
  });

  it('billed by invoice gives access once it is paid, and refuses a plan change by the reader with 409, and is not charged to a card', async () => {
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    paid(await site.billing.setupIntent(session));
    const customer = (await site.billing.customerOf(session)) ?? '';
    const byInvoice = { collection_method: 'send_invoice', days_until_due: 30 } as const;
    const items = [{ price: 'price_reader_monthly' }];
    const { latest_invoice: bill } = await site.dashboard.subscriptions.create({ customer, items, ...byInvoice });
    await site.deliver();
    expect(await site.billing.entitlements(session.userId)).toEqual([]);
    const invoices = async () => paid(await site.billing.invoices(session)).bills.map(({ status }) => status);
    // The reader finds even the first one in the account, to pay it.
    expect(await invoices()).toEqual(['open']);
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'active', invoiceOpen: true });
    await site.dashboard.invoices.pay(String(bill), { paid_out_of_band: true });
    await site.deliver();
    expect(await invoices()).toEqual(['paid']);
    expect(await site.billing.subscription(session)).not.toHaveProperty('invoiceOpen');
    expect(await site.billing.entitlements(session.userId)).toHaveLength(1);
    const refused = { ok: false, status: 409, error: { code: 'by_invoice' } };
    expect(await site.billing.quote(session, { planId: 'member-monthly' })).toMatchObject(refused);
    expect(await site.billing.switchPlan(session, { planId: 'member-monthly' })).toMatchObject(refused);
    expect(await charged()).toEqual([]);
    await site.pass(25 * day);
    await site.billing.repair(session);
    await site.pass(7 * day);
    await site.deliver();
    expect(site.mail.map(({ kind }) => kind)).not.toContain('renewal-notice');
    const bills = async () =>
      (await site.dashboard.invoices.list({ customer })).data.map(({ status }) => status as string);
    expect(await bills()).toEqual(['open', 'paid']);
    // The invoice is due in 30 days.
    expect(await site.billing.entitlements(session.userId)).toHaveLength(1);
    // Another card doesn't pay an invoice that the reader was asked to pay otherwise.
    paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
    expect([await bills(), await charged()]).toEqual([['open', 'paid'], []]);
    expect(paid(await site.billing.cards(session))).toEqual([]);
    await site.pass(31 * day);
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'past_due', byInvoice: true });
    expect(await site.billing.entitlements(session.userId)).toEqual([]);
    expect(site.mail.map(({ kind }) => kind)).not.toContain('payment-failed');
    expect(paid(await site.billing.cancel(session))).toMatchObject({ status: 'canceled' });
  });

  it('to an archived price gives access once the publisher adds a plan id to the price’s metadata', async () => {
    site = await billingFixture(await engines.open());
    const { dashboard } = site;
    const session = await site.readers.join('ada@example.com');
    paid(await site.billing.setupIntent(session));
    const customer = (await site.billing.customerOf(session)) ?? '';
    const card = await dashboard.paymentMethods.attach('pm_card_visa', { customer });
    const old = {
      product: 'prod_reader',
      currency: 'usd',
      unit_amount: 700,
      recurring: { interval: 'month' },
    } as const;
    const { id: price } = await dashboard.prices.create(old);
    await dashboard.subscriptions.create({ customer, items: [{ price }], default_payment_method: card.id });
    await dashboard.prices.update(price, { active: false });
    await site.deliver();
    expect(await site.billing.subscription(session)).toBeNull();
    await dashboard.prices.update(price, { metadata: { zephrPlanId: 'reader-early' } });
    await site.deliver();
    await site.pass(3601);
    await site.billing.repair(session);
    expect(await site.billing.subscription(session)).toMatchObject({
      planId: 'reader-early',
      print: false,
      price: 700,
    });
    await dashboard.prices.update(price, { metadata: { print: 'true' } });
    await site.pass(3601);
    await site.billing.repair(session);
    expect(await site.billing.subscription(session)).toMatchObject({ planId: 'reader-early', print: true });
    expect(await site.billing.entitlements(session.userId)).toMatchObject([{ product: 'sun-reader', print: true }]);
  });
});
