/** A reader with two subscriptions that both renew: each change acts on the one that the reader saw. On both databases. */
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, paid, rules } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

onBothEngines('of two subscriptions that renew', (engines) => {
  let site: BillingFixture;
  let session: Session;
  afterEach(() => site?.stop());

  /** @returns the one that is shown, and the smaller one */
  async function two(bought = 'pm_card_visa'): Promise<{ shown: string; smaller: string }> {
    site = await billingFixture(await engines.open(), {
      rules: { ...rules, stay: { coupon: 'stay', everyDays: 365 } },
    });
    session = await site.readers.join('ada@example.com');
    const { subscriptionId: smaller } = paid(
      await site.billing.subscribe(session, { ...monthly, payment_method: bought }),
    );
    const { customer, default_payment_method: card } = await site.dashboard.subscriptions.retrieve(smaller);
    const params = { customer: String(customer), default_payment_method: String(card) };
    const items = [{ price: 'price_member_yearly' }];
    if (bought !== 'pm_card_visa') {
      const good = await site.dashboard.paymentMethods.attach('pm_card_visa', { customer: params.customer });
      params.default_payment_method = good.id;
    }
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

  async function pass(days: number): Promise<void> {
    await site.pass(days * day);
    await site.deliver();
  }
  const mails = (kind: string) => site.mail.filter((message) => message.kind === kind);

  it('the mail about a failed payment, and about the end, says nothing about the access by the other', async () => {
    await twoWithOverdue();
    const about = { plan: 'Sun Reader, Monthly', others: true };
    expect(mails('payment-failed')).toMatchObject([about]);
    for (let days = 0; days < 60; days += 2) await pass(2);
    expect(mails('cancelled')).toMatchObject([about]);
    expect(await site.billing.entitlements(session.userId)).toMatchObject([{ product: 'sun-member' }]);
  });

  it('the mail about the last one says that its access ends', async () => {
    const { shown, smaller } = await two();
    paid(await site.billing.cancel(session, null, shown));
    expect(mails('cancelled')).toMatchObject([{ plan: 'Sun Member, Yearly', others: true }]);
    await site.dashboard.subscriptions.cancel(shown);
    const charge = (await site.dashboard.charges.list()).data.find(({ amount }) => amount === 20_000);
    await site.dashboard.refunds.create({ charge: charge?.id ?? '' });
    await site.deliver();
    paid(await site.billing.cancel(session, null, smaller));
    expect(mails('cancelled').at(-1)).toMatchObject({ plan: 'Sun Reader, Monthly', others: false });
  });

  it('each invoice names the subscription that it belongs to, and none of a single one', async () => {
    const { shown, smaller } = await two();
    const bills = async () =>
      paid(await site.billing.invoices(session)).bills.map(({ amount, plan }) => [amount, plan]);
    expect((await bills()).toSorted()).toEqual([
      [1200, 'Sun Reader, Monthly'],
      [20_000, 'Sun Member, Yearly'],
    ]);
    await site.dashboard.subscriptions.cancel(shown);
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ id: smaller });
    expect((await bills()).map(([, plan]) => plan)).toEqual([undefined, undefined]);
  });

  it('a pause of one bills, announces and changes the other as usual', async () => {
    const { shown, smaller } = await two();
    await site.dashboard.subscriptions.update(shown, { pause_collection: { behavior: 'void' } });
    await site.deliver();
    expect(await stateOf(shown)).toMatchObject({ paused: { resumesAt: null }, nextBillingDate: null });
    expect(await stateOf(smaller)).toMatchObject({ nextBillingDate: expect.any(String) });
    expect(await stateOf(smaller)).not.toHaveProperty('paused');
    for (let days = 0; days < 32; days += 4) await pass(4);
    expect(mails('renewal-notice')).toMatchObject([{ plan: 'Sun Reader, Monthly', amount: 1200 }]);
    expect(mails('receipt').at(-1)).toMatchObject({ plan: 'Sun Reader, Monthly', nextBill: { amount: 1200 } });
    expect(mails('receipt')).toHaveLength(3);
    await site.dashboard.subscriptions.update(shown, { pause_collection: '' });
    await site.dashboard.subscriptions.update(smaller, { pause_collection: { behavior: 'mark_uncollectible' } });
    await site.deliver();
    expect(await stateOf(shown)).not.toHaveProperty('paused');
    expect(await stateOf(smaller)).toMatchObject({ paused: { resumesAt: null } });
    for (let months = 0; months < 2; months++) await site.pass(31 * day);
    await site.deliver();
    expect(mails('receipt')).toHaveLength(3);
    expect((await site.billing.entitlements(session.userId)).map(({ product }) => product)).toEqual([
      'sun-member',
      'sun-reader',
    ]);
  });

  it.each(['once', 'twice and out of order'])(
    'a refund of one takes only its access back, and a part of it nothing (events %s)',
    async (how) => {
      const { shown, smaller } = await two();
      const opened = async () => (await site.billing.entitlements(session.userId)).map(({ product }) => product);
      const deliver = async () => {
        const events = site.events.splice(0);
        await site.deliver(how === 'once' ? events : [...events.toReversed(), ...events]);
      };
      const listed = async () =>
        paid(await site.billing.invoices(session)).bills.find(({ amount }) => amount === 20_000)?.status;
      const charge = (await site.dashboard.charges.list()).data.find(({ amount }) => amount === 20_000)?.id ?? '';
      await site.dashboard.refunds.create({ charge, amount: 5000 });
      await deliver();
      expect(await opened()).toEqual(['sun-member', 'sun-reader']);
      expect(await listed()).toBe('paid');
      await site.dashboard.refunds.create({ charge });
      await deliver();
      expect(await opened()).toEqual(['sun-reader']);
      expect(await listed()).toBe('refunded');
      // Both still renew: the one that gives access is shown.
      expect(await site.billing.subscriptions(session)).toMatchObject([{ id: smaller }, { id: shown }]);
      expect(mails('cancelled')).toEqual([]);
      await site.pass(31 * day);
      await deliver();
      expect(await opened()).toEqual(['sun-reader']);
    },
  );

  it.each([
    ['lost', 'losing_evidence', ['sun-member'], 'canceled'],
    ['won', 'winning_evidence', ['sun-member', 'sun-reader'], 'active'],
  ])('a dispute of one that is %s leaves the other as it is', async (_, evidence, opened, status) => {
    const { shown, smaller } = await two('pm_card_createDispute');
    const open = async () => (await site.billing.entitlements(session.userId)).map(({ product }) => product);
    expect(await open()).toEqual(['sun-member', 'sun-reader']);
    expect(site.billing.stats().disputes).toBe(1);
    const [dispute] = (await site.dashboard.disputes.list()).data;
    await site.dashboard.disputes.update(dispute?.id ?? '', { evidence: { uncategorized_text: evidence } });
    const events = site.events.splice(0);
    await site.deliver([...events.toReversed(), ...events]);
    expect(site.billing.stats().disputes).toBe(0);
    expect(await open()).toEqual(opened);
    expect(await site.dashboard.subscriptions.retrieve(smaller)).toMatchObject({ status });
    expect(await stateOf(shown)).toMatchObject({ status: 'active', nextBillingDate: expect.any(String) });
    const mailed = status === 'canceled' ? [{ plan: 'Sun Reader, Monthly', until: null, others: true }] : [];
    expect(mails('cancelled')).toMatchObject(mailed);
    // Another purchase is refused as long as the other one runs.
    const again = await site.billing.subscribe(session, { ...monthly, attempt: 'another decision' });
    expect(again).toMatchObject({ ok: false, status: 409 });
  });

  it('each card is listed with the subscriptions that are charged to it, and one card for both once', async () => {
    const { shown, smaller } = await two();
    const cards = async () =>
      paid(await site.billing.cards(session)).map(({ card, subscriptions }) => [card.brand, subscriptions]);
    expect(await cards()).toEqual([['visa', [shown, smaller]]]);
    // The publisher charges one to another card, as with a new one that the reader has told by telephone.
    const customer = (await site.billing.customerOf(session)) ?? '';
    const { id } = await site.dashboard.paymentMethods.attach('pm_card_mastercard', { customer });
    await site.dashboard.subscriptions.update(smaller, { default_payment_method: id });
    await site.deliver();
    expect(await cards()).toEqual([
      ['visa', [shown]],
      ['mastercard', [smaller]],
    ]);
    expect(paid(await site.billing.card(session))).toMatchObject({ brand: 'visa' });
    paid(await site.billing.usePaymentMethod(session, 'pm_card_amex'));
    expect(await cards()).toEqual([['amex', [shown, smaller]]]);
    // Without a subscription it is the customer's.
    await site.dashboard.subscriptions.cancel(shown);
    await site.dashboard.subscriptions.cancel(smaller);
    await site.deliver();
    expect(await cards()).toEqual([['amex', []]]);
  });

  it('an expired card ends only what is charged to it', async () => {
    const { shown, smaller } = await two();
    const customer = (await site.billing.customerOf(session)) ?? '';
    const expired = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
    await site.dashboard.subscriptions.update(shown, { default_payment_method: expired.id });
    for (let months = 0; months < 11; months++) await pass(30);
    for (let days = 0; days < 36; days += 2) await pass(2);
    expect(await stateOf(shown)).toMatchObject({ status: 'past_due' });
    expect(await stateOf(smaller)).toMatchObject({ status: 'active' });
    expect(mails('payment-failed')).toMatchObject([{ plan: 'Sun Member, Yearly', others: true }]);
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
