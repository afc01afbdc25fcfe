/** A reader with two subscriptions that both renew: each change acts on the one that the reader saw. On both databases. */
import { afterEach, expect, it } from 'vitest';
import { type BillingBench, billingBench, day, paid, rules } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

onBothEngines('of two subscriptions that renew', (engines) => {
  let site: BillingBench;
  let session: Session;
  afterEach(() => site?.stop());

  /** @returns the one that is shown, and the smaller one */
  async function two(): Promise<{ shown: string; smaller: string }> {
    site = await billingBench(await engines.open(), { rules: { ...rules, stay: { coupon: 'stay', everyDays: 365 } } });
    session = await site.readers.join('ada@example.com');
    const { subscriptionId: smaller } = paid(await site.billing.subscribe(session, monthly));
    const { customer, default_payment_method: card } = await site.dashboard.subscriptions.retrieve(smaller);
    const params = { customer: String(customer), default_payment_method: String(card) };
    const items = [{ price: 'price_member_yearly' }];
    const { id: shown } = await site.dashboard.subscriptions.create({ ...params, items });
    await site.deliver();
    expect(await site.billing.subscriptions(session)).toMatchObject([{ id: shown }, { id: smaller }]);
    return { shown, smaller };
  }
  const stateOf = async (id: string) => (await site.billing.subscriptions(session)).find((one) => one.id === id);

  it('the smaller one is canceled and resumed by its id, and the shown one stays as it is', async () => {
    const { shown, smaller } = await two();
    const reason = { reason: 'no-time', words: null } as const;
    paid(await site.billing.beginCancellation(session, reason, smaller));
    expect(paid(await site.billing.cancel(session, null, smaller))).toMatchObject({
      id: smaller,
      cancelAtPeriodEnd: true,
    });
    expect(await stateOf(shown)).toMatchObject({ cancelAtPeriodEnd: false });
    expect(paid(await site.billing.resume(session, smaller))).toMatchObject({ id: smaller, cancelAtPeriodEnd: false });
    expect(await stateOf(shown)).toMatchObject({ cancelAtPeriodEnd: false });
    const row = await site.database.db.selectFrom('cancellations').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ subscription: smaller, outcome: 'resumed', reason: 'no-time' });
  });

  it('an old page of one that was canceled meanwhile doesn’t drop what is planned for the other', async () => {
    const { shown, smaller } = await two();
    // The publisher plans a change of the smaller one.
    const { id: schedule, phases } = await site.dashboard.subscriptionSchedules.create({ from_subscription: smaller });
    const { start_date, end_date } = phases[0] ?? {};
    const first = { items: [{ price: 'price_reader_monthly' }], start_date, end_date };
    const next = { items: [{ price: 'price_member_monthly' }] };
    await site.dashboard.subscriptionSchedules.update(schedule, { phases: [first, next] });
    paid(await site.billing.switchPlan(session, { planId: 'reader-yearly', subscriptionId: shown }));
    await site.deliver();
    expect(await stateOf(shown)).toMatchObject({ next: { planId: 'reader-yearly' } });
    // It ends in another tab; this one still offers to keep its plan.
    await site.dashboard.subscriptions.cancel(shown);
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ id: smaller });
    expect(await site.billing.resume(session, shown)).toMatchObject({ ok: false, status: 404 });
    expect(await stateOf(smaller)).toMatchObject({ next: { planId: 'member-monthly' } });
  });

  it('a change of plan that was quoted for one is refused once the other one is shown', async () => {
    const { shown, smaller } = await two();
    const quote = paid(await site.billing.quote(session, { planId: 'member-monthly' }));
    expect(quote).toMatchObject({ kind: 'downgrade', subscriptionId: shown });
    paid(await site.billing.cancel(session, null, shown));
    const ask = { planId: 'member-monthly', subscriptionId: quote.subscriptionId };
    const changed = { ok: false, status: 409, error: { code: 'amount_changed' } };
    expect(await site.billing.switchPlan(session, ask)).toMatchObject(changed);
    expect(await stateOf(smaller)).toMatchObject({ planId: 'reader-monthly' });
    expect(await stateOf(smaller)).not.toHaveProperty('next');
    const again = paid(await site.billing.quote(session, { planId: 'member-monthly' }));
    expect(again).toMatchObject({ kind: 'upgrade', subscriptionId: smaller });
    const { dueToday: expected, subscriptionId } = again;
    paid(await site.billing.switchPlan(session, { planId: 'member-monthly', expected, subscriptionId }));
    expect(await stateOf(smaller)).toMatchObject({ planId: 'member-monthly' });
  });

  it('an offer and a reason belong to the one that the reader began to cancel', async () => {
    const { shown, smaller } = await two();
    const begin = (words: string, id: string) => site.billing.beginCancellation(session, { reason: null, words }, id);
    paid(await begin('Too much of it', smaller));
    const offered = await site.billing.retentionOffer(session, smaller);
    expect(offered).toMatchObject({ from: 1200, coupon: 'stay' });
    expect(await site.billing.retentionOffer(session, shown)).toBeNull();
    paid(await site.billing.cancel(session, null, shown));
    const open = { subscription: smaller, outcome: 'open', words: 'Too much of it' };
    const rows = await site.database.db.selectFrom('cancellations').selectAll().orderBy('created').execute();
    expect(rows.find(({ subscription }) => subscription === smaller)).toMatchObject(open);
    expect(rows.find(({ subscription }) => subscription === shown)).toMatchObject({
      outcome: 'cancelled',
      words: null,
    });
    expect(paid(await site.billing.stay(session, smaller))).toMatchObject({ id: smaller, price: offered?.to });
    expect(await site.billing.stay(session, shown)).toMatchObject({ ok: false, status: 409 });
  });

  /** The smaller one's renewal has failed. */
  async function twoWithOverdue() {
    const both = await two();
    const customer = (await site.billing.customerOf(session)) ?? '';
    const bad = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
    await site.dashboard.subscriptions.update(both.smaller, { default_payment_method: bad.id });
    await site.pass(31 * day);
    await site.deliver();
    expect(await stateOf(both.smaller)).toMatchObject({ status: 'past_due' });
    expect(await site.billing.subscription(session)).toMatchObject({ id: both.shown });
    return both;
  }
  const cardOf = async (id: string) => (await site.dashboard.subscriptions.retrieve(id)).default_payment_method;

  it('a new card is charged for both, and pays what is open of the smaller one', async () => {
    const { shown, smaller } = await twoWithOverdue();
    paid(await site.billing.usePaymentMethod(session, 'pm_card_mastercard'));
    expect(await stateOf(smaller)).toMatchObject({ status: 'active' });
    expect(await cardOf(shown)).toBe(await cardOf(smaller));
  });

  it('both get a new card although the bank never confirms what is open of the smaller one', async () => {
    const { shown, smaller } = await twoWithOverdue();
    const old = await cardOf(shown);
    const token = 'tok_authenticationRequired';
    const { id: asks } = await site.dashboard.paymentMethods.create({ type: 'card', card: { token } });
    const waits = { paymentIntentStatus: 'requires_action', clientSecret: expect.any(String) };
    expect(paid(await site.billing.usePaymentMethod(session, asks))).toMatchObject(waits);
    expect(await stateOf(smaller)).toMatchObject({ status: 'past_due' });
    expect([await cardOf(shown), await cardOf(smaller)]).toEqual([asks, asks]);
    expect(asks).not.toBe(old);
  });

  it('a card that is refused for what is open of the smaller one doesn’t replace the other’s', async () => {
    const { shown } = await twoWithOverdue();
    const old = await cardOf(shown);
    const refused = await site.billing.usePaymentMethod(session, 'pm_card_chargeCustomerFail');
    expect(refused).toMatchObject({ ok: false, status: 402 });
    expect(await cardOf(shown)).toBe(old);
  });

  it('another reader’s is neither resumed, begun nor stayed with', async () => {
    const { shown } = await two();
    const eve = await site.readers.join('eve@example.com');
    const missing = { ok: false, status: 404 };
    expect(await site.billing.resume(eve, shown)).toMatchObject(missing);
    expect(await site.billing.stay(eve, shown)).toMatchObject(missing);
    expect(await site.billing.beginCancellation(eve, { reason: null, words: null }, shown)).toMatchObject(missing);
    expect(await site.billing.retentionOffer(eve, shown)).toBeNull();
  });
});
