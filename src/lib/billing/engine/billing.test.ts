/** Buying, with the real SDK and the sandbox's Stripe, on both databases. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, home, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';

const yearly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-yearly' };

onBothEngines('buying a subscription', (engines) => {
  let site: BillingFixture;
  const open = async (): Promise<BillingFixture> => {
    site = await billingFixture(await engines.open());
    return site;
  };
  afterEach(() => site?.stop());

  it('lists Stripe’s prices cheapest first, each promotion after the price that follows it', async () => {
    const { billing } = await open();
    expect(billing.prices().map(({ zephrPlanId }) => zephrPlanId)).toEqual([
      'reader-monthly',
      'reader-yearly',
      'reader-penny',
      'member-monthly',
      'member-yearly',
      'member-print-yearly',
    ]);
    expect(billing.prices()[2]).toMatchObject({
      unit_amount: 12_000,
      pennyHeading: 'Read the Sun for a PENNY A DAY',
      pennySubheading: 'Full dues ($120/year) billed after 60 days',
      promotion: { offer: 'to_reader_penny', next: 'price_reader_yearly', days: 60, amount: 60 },
      product: { name: 'Sun Reader', metadata: { zephr_product_id: 'sun-reader' } },
    });
  });

  it.each([
    ['reader-monthly', 'sun-reader', 1200],
    ['reader-yearly', 'sun-reader', 12_000],
    ['member-monthly', 'sun-member', 2000],
    ['member-yearly', 'sun-member', 20_000],
    ['member-print-yearly', 'sun-member', 28_000],
    ['reader-penny', 'sun-reader', 60],
  ])('charges the quoted amount for %s and gives access to its product', async (plan, product, sum) => {
    const { billing, readers, dashboard, mail } = await open();
    const session = await readers.join('ada@example.com');
    paid(await billing.saveShipping(session, home));
    const quote = paid(await billing.quote(session, { planId: plan }));
    expect(quote).toMatchObject({ kind: 'new', dueToday: sum });
    expect(paid(await billing.quote(null, { planId: plan }))).toEqual(quote);
    expect(await billing.entitlements(session.userId)).toEqual([]);
    const answer = paid(
      await billing.subscribe(session, { ...yearly, product_id: product, plan_id: plan, expected: sum }),
    );
    expect(answer).toMatchObject({ paymentIntentStatus: 'succeeded', clientSecret: null, paymentType: 'recurring' });
    expect(answer.grant_id).toMatch(/^[\w-]{36}$/);
    const charges = await dashboard.charges.list();
    expect(charges.data.map(({ amount }) => amount)).toEqual([sum]);
    const [granted] = await billing.entitlements(session.userId);
    expect(granted).toMatchObject({ product, print: plan.includes('print'), trialing: plan === 'reader-penny' });
    expect(Math.abs((granted?.until ?? 0) - quote.renewalDate)).toBeLessThan(5000);
    expect(await billing.subscription(session)).toMatchObject({
      id: answer.subscriptionId,
      planId: plan,
      productId: product,
      price: quote.dueAfterRenewal,
      nextBillingDate: new Date(granted?.until ?? 0).toISOString(),
    });
    expect(mail.map(({ kind }) => kind).toSorted()).toEqual(['receipt', 'welcome-tier']);
  });

  it('waits for the reader when the bank requires a confirmation, and gives access only then', async () => {
    const { billing, readers, stripe, mail } = await open();
    const session = await readers.join('ada@example.com');
    const card = { ...yearly, payment_method: 'pm_card_threeDSecure2Required' };
    const answer = paid(await billing.subscribe(session, card));
    expect(answer).toMatchObject({ paymentIntentStatus: 'requires_action', grant_id: null });
    expect(answer.clientSecret).toMatch(/^pi_\w+_secret_\w+$/);
    expect(await billing.entitlements(session.userId)).toEqual([]);
    expect(await billing.confirm(session, answer.subscriptionId)).toMatchObject({ ok: false, status: 402 });
    stripe.finishChallenge(answer.clientSecret?.split('_secret_')[0] ?? '', true);
    expect(paid(await billing.confirm(session, answer.subscriptionId)).grant_id).toMatch(/^[\w-]{36}$/);
    expect(await billing.entitlements(session.userId)).toHaveLength(1);
    expect(mail.map(({ kind }) => kind).toSorted()).toEqual(['receipt', 'welcome-tier']);
  });

  it('reports a declined card, and accepts another card for the same purchase', async () => {
    const { billing, readers, dashboard } = await open();
    const session = await readers.join('ada@example.com');
    const attempt = randomUUID();
    const declined = await billing.subscribe(session, {
      ...yearly,
      attempt,
      payment_method: 'pm_card_visa_chargeDeclined',
    });
    expect(declined).toMatchObject({ ok: false, status: 402, error: { code: 'card_declined' } });
    expect(await billing.entitlements(session.userId)).toEqual([]);
    paid(await billing.subscribe(session, { ...yearly, attempt }));
    const all = await dashboard.subscriptions.list({ status: 'all' });
    expect(all.data.map(({ status }) => status)).toEqual(['active']);
  });

  it('refuses any card with 429 after ten declined ones, and does not count good cards', async () => {
    const { billing, readers, dashboard } = await open();
    const session = await readers.join('ada@example.com');
    const declined = { ...yearly, payment_method: 'pm_card_visa_chargeDeclined' };
    const statuses: unknown[] = [];
    for (let at = 0; at < 11; at++) {
      const answer = await billing.subscribe(session, declined, `198.51.100.${at}`);
      statuses.push(answer.ok || answer.status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 402), 429]);
    // Not even with a good card, because the answer would reveal whether the card is good.
    expect(await billing.subscribe(session, yearly, '198.51.100.99')).toMatchObject({
      ok: false,
      status: 429,
      error: { retryAfter: expect.any(Number) },
    });
    expect((await dashboard.charges.list({ limit: 100 })).data.filter(({ paid: was }) => was)).toEqual([]);
    // Another reader at another address isn't limited.
    const other = await readers.join('grace@example.com');
    for (let time = 0; time < 12; time++) paid(await billing.subscribe(other, yearly, '198.51.100.200'));
  });

  it('counts declined cards that are saved for later toward the same limit', async () => {
    const { billing, readers } = await open();
    const session = await readers.join('ada@example.com');
    const statuses: unknown[] = [];
    for (let at = 0; at < 11; at++) {
      const answer = await billing.usePaymentMethod(session, 'pm_card_visa_chargeDeclined', `198.51.100.${at}`);
      statuses.push(answer.ok || answer.status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 402), 429]);
    expect(await billing.subscribe(session, yearly, '198.51.100.99')).toMatchObject({ ok: false, status: 429 });
  });

  it('resumes an interrupted purchase at the current price, not at the earlier one', async () => {
    const { billing, readers, dashboard } = await open();
    const session = await readers.join('ada@example.com');
    const asks = { ...yearly, payment_method: 'pm_card_authenticationRequired', expected: 12_000 };
    expect(paid(await billing.subscribe(session, asks)).paymentIntentStatus).toBe('requires_action');
    const old = await dashboard.prices.retrieve('price_reader_yearly');
    await dashboard.prices.create({
      currency: 'usd',
      unit_amount: 13_000,
      recurring: { interval: 'year' },
      metadata: old.metadata,
      product: old.product as string,
      nickname: 'Yearly',
    });
    await dashboard.prices.update(old.id, { active: false });
    await billing.refresh();
    const { dueToday } = paid(await billing.quote(session, { planId: 'reader-yearly' }));
    expect(dueToday).toBe(13_000);
    const answer = paid(await billing.subscribe(session, { ...yearly, expected: dueToday }));
    expect(answer.paymentIntentStatus).toBe('succeeded');
    expect((await dashboard.charges.list()).data.map(({ amount }) => amount)).toEqual([13_000]);
  });

  it('waits 45 minutes for a bank confirmation, then gives the purchase up', async () => {
    const { billing, readers, stripe, pass, dashboard } = await open();
    const card = { ...yearly, payment_method: 'pm_card_threeDSecure2Required' };
    const [ada, eve] = [await readers.join('ada@example.com'), await readers.join('eve@example.com')];
    const [hers, other] = [paid(await billing.subscribe(ada, card)), paid(await billing.subscribe(eve, card))];
    await pass(44 * 60);
    await billing.recover();
    stripe.finishChallenge(hers.clientSecret?.split('_secret_')[0] ?? '', true);
    expect(paid(await billing.confirm(ada, hers.subscriptionId)).grant_id).not.toBeNull();
    await pass(2 * 60);
    await billing.recover();
    expect(await dashboard.subscriptions.retrieve(other.subscriptionId)).not.toMatchObject({ status: 'incomplete' });
    expect(await billing.confirm(eve, other.subscriptionId)).toMatchObject({ ok: false });
    expect(await billing.entitlements(eve.userId)).toEqual([]);
  });

  it('requires a confirmed email address to change the delivery address of a paid print edition', async () => {
    const { billing, readers } = await open();
    const session = { ...(await readers.join('ada@example.com')), emailVerified: false };
    const elsewhere = { ...home, name: 'Eve' };
    paid(await billing.saveShipping(session, elsewhere));
    paid(await billing.saveShipping(session, home));
    const print = { ...yearly, product_id: 'sun-member', plan_id: 'member-print-yearly' };
    paid(await billing.subscribe(session, print));
    const refused = { ok: false, status: 403, error: { code: 'unconfirmed' } };
    expect(await billing.saveShipping(session, elsewhere)).toMatchObject(refused);
    expect(await billing.shipping(session)).toEqual(home);
    paid(await billing.saveShipping({ ...session, emailVerified: true }, elsewhere));
    expect(await billing.shipping(session)).toEqual(elsewhere);
  });

  it('sells one subscription for two simultaneous clicks and a click in another tab', async () => {
    const { billing, readers, dashboard } = await open();
    const session = await readers.join('ada@example.com');
    const attempt = randomUUID();
    const [first, second, tab] = await Promise.all([
      billing.subscribe(session, { ...yearly, attempt }),
      billing.subscribe(session, { ...yearly, attempt }),
      billing.subscribe(session, { ...yearly, plan_id: 'reader-monthly', attempt: randomUUID() }),
    ]);
    // The database decides which tab is first; both clicks in the first tab have the same result.
    if (tab.ok) expect([first, second]).toMatchObject(Array(2).fill({ ok: false, status: 409 }));
    else {
      expect(paid(second)).toEqual(paid(first));
      expect(tab).toMatchObject({ ok: false, status: 409 });
    }
    expect((await dashboard.charges.list()).data).toHaveLength(1);
    expect((await dashboard.subscriptions.list({ status: 'all' })).data).toHaveLength(1);
  });

  it('renews with a second receipt and no second welcome email', async () => {
    const { billing, readers, pass, deliver, mail } = await open();
    const session = await readers.join('ada@example.com');
    paid(await billing.subscribe(session, { ...yearly, plan_id: 'reader-monthly' }));
    await deliver();
    await pass(32 * day);
    await deliver();
    expect(await billing.entitlements(session.userId)).toHaveLength(1);
    expect(mail.filter(({ kind }) => kind === 'receipt')).toHaveLength(2);
    expect(mail.filter(({ kind }) => kind === 'welcome-tier')).toHaveLength(1);
  });
});
