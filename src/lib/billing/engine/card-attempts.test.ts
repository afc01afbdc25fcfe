/** Calls to Stripe are limited, and refused cards are counted on every path. */
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import { defaultLimits } from '../../http/limits.ts';

const yearly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-yearly' };
const address = '203.0.113.9';

onBothEngines('calls that reach Stripe', (engines) => {
  let fixture: BillingFixture;
  afterEach(() => fixture?.stop());
  const open = async (options = {}) => {
    fixture = await billingFixture(await engines.open(), options);
    return fixture;
  };
  const asked = (path: string) => fixture.requests.filter((request) => request.path === path).length;
  const statuses = async (times: number, call: () => Promise<{ ok: boolean; status?: number }>) => {
    const given: number[] = [];
    for (let time = 0; time < times; time++) {
      const answer = await call();
      given.push(answer.ok ? 200 : (answer.status ?? 0));
    }
    return given;
  };

  it('anonymous quotes are cached for a minute, and quotes with a coupon are limited by address', async () => {
    const limits = { ...defaultLimits, quote: { address: { most: 5, seconds: 600 } } };
    const { billing, accounts } = await open({ limits });
    const plain = () => billing.quote(null, { planId: 'reader-yearly' }, address);
    expect(await statuses(30, plain)).toEqual(Array(30).fill(200));
    expect(asked('/v1/invoices/create_preview')).toBe(1);
    accounts.clock.pass(61);
    await plain();
    expect(asked('/v1/invoices/create_preview')).toBe(2);
    const coupon = () => billing.coupon('TENOFF', 'reader-yearly', { session: null, clientAddress: address });
    expect(await statuses(5, coupon)).toEqual([200, 200, 200, 429, 429]);
    const quote = () => billing.quote(null, { planId: 'reader-yearly', couponCode: 'TENOFF' }, '203.0.113.10');
    expect(await statuses(7, quote)).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });

  it('a reader gets one card setup until it is used', async () => {
    const { billing, readers, dashboard } = await open();
    const session = await readers.join('ada@example.com');
    const another = await fixture.another();
    const secrets = await Promise.all(
      Array.from({ length: 20 }, (_, one) => (one % 2 ? billing : another).setupIntent(session, address)),
    );
    expect(new Set(secrets.map((one) => paid(one).clientSecret)).size).toBe(1);
    const [intent] = (await dashboard.setupIntents.list()).data;
    expect((await dashboard.setupIntents.list()).data).toHaveLength(1);
    await dashboard.setupIntents.confirm(intent?.id ?? '', { payment_method: 'pm_card_visa' });
    expect(paid(await billing.setupIntent(session, address)).clientSecret).not.toBe(intent?.client_secret);
  });

  it('a client secret is canceled after eight declined cards, and the account is blocked after ten', async () => {
    const { billing, readers, dashboard, deliver } = await open();
    const abe = await readers.join('abe@example.com');
    const session = await readers.join('ada@example.com');
    const refuse = async () => {
      const secret = paid(await billing.setupIntent(session, address)).clientSecret;
      const id = secret.split('_secret_')[0] ?? '';
      // As the browser does with the secret; none of our routes sees the attempt.
      const card = { payment_method: 'pm_card_chargeDeclined' };
      const message = await dashboard.setupIntents.confirm(id, card).then(
        () => 'taken',
        (error: Error & { code?: string }) => error.code,
      );
      await deliver();
      return { id, message };
    };
    const first = await refuse();
    for (let time = 2; time <= 8; time++) expect(await refuse()).toEqual({ id: first.id, message: 'card_declined' });
    expect((await dashboard.setupIntents.retrieve(first.id)).status).toBe('canceled');
    // Two more refusals of another card, and the account may try no card for an hour, on any path.
    const second = await refuse();
    expect(second.id).not.toBe(first.id);
    await refuse();
    expect(await billing.setupIntent(session, address)).toMatchObject({ ok: false, status: 429 });
    expect(await billing.usePaymentMethod(session, 'pm_card_visa', address)).toMatchObject({ status: 429 });
    expect(await billing.subscribe(session, yearly, address)).toMatchObject({ status: 429 });
    expect(await billing.confirm(session, 'sub_1', address)).toMatchObject({ status: 429 });
    expect(await billing.switchPlan(session, { planId: 'member-yearly' }, address)).toMatchObject({ status: 429 });
    // Another reader at the same address isn't refused because of it.
    expect(paid(await billing.subscribe(abe, yearly, address)).grant_id).not.toBeNull();
  });

  it('a purchase is canceled after eight cards declined through its client secret', async () => {
    const { billing, readers, dashboard, deliver, database } = await open();
    const session = await readers.join('ada@example.com');
    const begun = paid(
      await billing.subscribe(session, { ...yearly, payment_method: 'pm_card_threeDSecure2Required' }, address),
    );
    const id = begun.clientSecret?.split('_secret_')[0] ?? '';
    for (let time = 1; time <= 8; time++) {
      expect((await dashboard.paymentIntents.retrieve(id)).status, `before card ${time}`).not.toBe('canceled');
      const tried = dashboard.paymentIntents.confirm(id, { payment_method: 'pm_card_chargeDeclined' });
      await expect(tried).rejects.toMatchObject({ code: 'card_declined' });
      await deliver();
    }
    const [purchase] = await database.db.selectFrom('purchases').select('state').execute();
    expect(purchase?.state).toBe('given up');
    expect((await dashboard.paymentIntents.retrieve(id)).status).toBe('canceled');
    expect(paid(await billing.setupIntent(session, address)).clientSecret).toContain('seti_');
  });

  it('renewals that Stripe retries by itself do not count toward the limit on declined cards', async () => {
    const card = { ...defaultLimits.card, overall: { most: 2, seconds: 600 } };
    const { billing, readers, dashboard, deliver } = await open({ limits: { ...defaultLimits, card } });
    for (const name of ['ada', 'eve', 'bob']) {
      const session = await readers.join(`${name}@example.com`);
      const { subscriptionId: id } = paid(await billing.subscribe(session, { ...yearly, plan_id: 'reader-monthly' }));
      const customer = (await billing.customerOf(session)) ?? '';
      const bad = await dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
      await dashboard.subscriptions.update(id, { default_payment_method: bad.id });
    }
    await fixture.pass(30 * day + 7200);
    expect(fixture.events.filter(({ type }) => type === 'payment_intent.payment_failed').length).toBeGreaterThan(2);
    await deliver();
    const reader = await readers.join('grace@example.com');
    expect(paid(await billing.subscribe(reader, yearly)).grant_id).not.toBeNull();
  });

  it('thirty new readers at one address can buy while one who tries declined cards there is blocked', async () => {
    const { billing, accounts, readers } = await open();
    const thief = await readers.join('thief@example.com');
    const declined = { ...yearly, payment_method: 'pm_card_chargeDeclined' };
    const tried = await statuses(14, () => billing.subscribe(thief, declined, address));
    expect(tried).toEqual([...Array(10).fill(402), ...Array(4).fill(429)]);
    for (let reader = 0; reader < 30; reader++) {
      const made = await accounts.accounts.create(
        `student${reader}@example.com`,
        { address, userAgent: null },
        { enter: true },
      );
      if (!made.ok || !made.value.signedIn) throw new Error(`Reader ${reader} was not let in`);
      const answer = await billing.subscribe(made.value.signedIn.session, yearly, address);
      expect(paid(answer).grant_id, `reader ${reader}`).not.toBeNull();
    }
  }, 240_000);
});
