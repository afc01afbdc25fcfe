/** Readers who delete their accounts during a payment: with the real SDK and the sandbox's Stripe, on both databases. */
import { afterEach, describe, expect, it } from 'vitest';
import { caller } from '../../../../tests/world/accounts.ts';
import { type BillingFixture, billingFixture, day, home, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

onBothEngines('a reader who deletes the account', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  async function begin(): Promise<Session> {
    site = await billingFixture(await engines.open());
    return site.readers.join('ada@example.com');
  }
  /** As the site does it, see `withBilling` in src/server/readers.ts. */
  async function leave(session: Session): Promise<void> {
    await site.billing.personalData.erase(session, null);
    await site.accounts.accounts.forget(session, caller());
    await site.billing.personalData.erase(session, null);
  }
  const charged = async () =>
    (await site.dashboard.charges.list({ limit: 100 })).data.filter(({ paid: was }) => was).map(({ amount }) => amount);
  const statuses = async () =>
    (await site.dashboard.subscriptions.list({ status: 'all' })).data.map(({ status }) => status);
  /** The bank confirms the payment, unless it no longer asks about it. */
  function agree(secret: string | null): void {
    try {
      site.stripe.finishChallenge(secret?.split('_secret_')[0] ?? '', true);
    } catch (error) {
      expect(String(error)).toMatch(/cancel|challenge/i);
    }
  }

  it('is not charged if the account is deleted while the bank confirms the first payment', async () => {
    const session = await begin();
    const card = { ...monthly, payment_method: 'pm_card_threeDSecure2Required' };
    const { clientSecret } = paid(await site.billing.subscribe(session, card));
    // The site asks the reader to wait for that, but not forever.
    expect(await site.billing.hasOpenPayment(session.userId)).toBe(true);
    await site.pass(61);
    expect(await site.billing.hasOpenPayment(session.userId)).toBe(false);
    await leave(session);
    await site.billing.drain();
    agree(clientSecret);
    await site.deliver();
    expect(await charged()).toEqual([]);
    expect(await statuses()).toEqual(['incomplete_expired']);
  });

  it('is not charged for an upgrade if the account is deleted while the bank confirms it', async () => {
    const session = await begin();
    const { subscriptionId: id } = paid(await site.billing.subscribe(session, monthly));
    const [customer] = (await site.dashboard.customers.list()).data;
    const card = await site.dashboard.paymentMethods.attach('pm_card_authenticationRequired', {
      customer: customer?.id ?? '',
    });
    await site.dashboard.subscriptions.update(id, { default_payment_method: card.id });
    const { clientSecret } = paid(await site.billing.switchPlan(session, { planId: 'member-yearly' }));
    expect(clientSecret).not.toBeNull();
    await leave(session);
    await site.billing.drain();
    agree(clientSecret);
    await site.deliver();
    expect(await charged()).toEqual([1200]);
    expect(await statuses()).toEqual(['canceled']);
  });

  it('is named by no subscription at Stripe, running, canceled or unpaid', async () => {
    const session = await begin();
    const details = {
      customer_email: 'ada@example.com',
      query_url: 'https://paper.example/ada',
      geo_city: 'Springfield',
    };
    const buy = async (payment_method: string) => {
      const { subscriptionId: id } = paid(await site.billing.subscribe(session, { ...monthly, payment_method }));
      await site.deliver();
      paid(await site.billing.saveMetadata(session, id, details));
      return id;
    };
    const first = await buy('pm_card_visa');
    paid(await site.billing.cancel(session, 'I move to Ogdenville'));
    await site.pass(40 * day);
    await site.deliver();
    const second = await buy('pm_card_visa');
    await site.dashboard.subscriptions.cancel(second);
    await site.pass(day);
    await site.deliver();
    await buy('pm_card_threeDSecure2Required');
    const texts = async () => JSON.stringify((await site.dashboard.subscriptions.list({ status: 'all' })).data);
    const theirs = [...Object.values(details), 'Ogdenville', session.userId];
    const before = await texts();
    for (const text of theirs) expect(before).toContain(text);
    await leave(session);
    await site.billing.drain();
    await site.deliver();
    const after = await texts();
    for (const text of theirs) expect(after).not.toContain(text);
    expect((await site.dashboard.subscriptions.retrieve(first)).metadata.purchase).toBeDefined();
    expect((await statuses()).toSorted()).toEqual(['canceled', 'canceled', 'incomplete_expired']);
    const rows = await site.database.db.selectFrom('subscriptions').select('user_id').execute();
    expect(rows.map(({ user_id: user }) => user)).toEqual([null, null, null]);
  });

  it('does not affect what other readers have bought or are buying', async () => {
    const session = await begin();
    const others = [await site.readers.join('grace@example.com'), await site.readers.join('alan@example.com')];
    const [grace, alan] = others as [Session, Session];
    for (const reader of [session, grace]) {
      paid(await site.billing.subscribe(reader, monthly));
      const leaving = { id: reader.userId, user_id: reader.userId, subscription: 'sub_1', plan: 'reader-monthly' };
      await site.database.db
        .insertInto('cancellations')
        .values({ ...leaving, reason: null, words: reader.email, offer: null, outcome: 'open', created: 1, updated: 1 })
        .execute();
    }
    const asked = { ...monthly, payment_method: 'pm_card_threeDSecure2Required' };
    const { clientSecret } = paid(await site.billing.subscribe(alan, asked));
    paid(await site.billing.saveShipping(grace, home));
    await site.deliver();
    const kept = () =>
      Promise.all(
        others.map(async (reader) => [
          await site.billing.personalData.export(reader),
          await site.billing.entitlements(reader.userId),
        ]),
      );
    const before = await kept();
    expect(before).toMatchObject([
      [{ billing: { subscriptions: [{}], invoices: [{}], purchases: [{ state: 'done' }], shipping: home } }, [{}]],
      [{ billing: { purchases: [{ state: 'open' }], cancellations: [], shipping: null } }, []],
    ]);
    await leave(session);
    await site.billing.drain();
    await site.deliver();
    expect(await kept()).toEqual(before);
    agree(clientSecret);
    await site.deliver();
    expect((await statuses()).toSorted()).toEqual(['active', 'active', 'canceled']);
    expect(await site.billing.entitlements(alan.userId)).toHaveLength(1);
  });

  it('is not re-created at Stripe by later calls, which get 403', async () => {
    const session = await begin();
    await leave(session);
    for (const refused of [
      await site.billing.subscribe(session, monthly),
      await site.billing.setupIntent(session),
      await site.billing.usePaymentMethod(session, 'pm_card_visa'),
      await site.billing.saveShipping(session, home),
    ]) {
      expect(refused).toMatchObject({ ok: false, status: 403 });
    }
    expect(await site.database.db.selectFrom('customers').selectAll().execute()).toEqual([]);
    expect((await site.dashboard.customers.list()).data).toEqual([]);
    expect(await statuses()).toEqual([]);
  });

  it('can buy again after an interrupted deletion, and keeps the new subscription', async () => {
    const session = await begin();
    paid(await site.billing.subscribe(session, monthly));
    expect(await site.billing.hasOpenPayment(session.userId)).toBe(false);
    // The process died before the account was deleted and before Stripe got the request.
    await site.billing.personalData.erase(session, null);
    paid(await site.billing.subscribe(session, { ...monthly, attempt: '0d9b1f8e-3c52-4a5c-9b41-6f6f2f6a3c11' }));
    await site.billing.drain();
    await site.deliver();
    expect((await statuses()).toSorted()).toEqual(['active', 'canceled']);
    expect(await site.billing.entitlements(session.userId)).toHaveLength(1);
  });

  describe('whose email address another person proves to own', () => {
    let session: Session;
    let customer: string;
    async function beginWithAddress(): Promise<void> {
      session = await begin();
      paid(await site.billing.setupIntent(session));
      paid(await site.billing.saveShipping(session, { ...home, name: 'Eve' }));
      customer = (await site.billing.customerOf(session)) ?? '';
    }
    const disown = () => site.database.transaction((tx) => site.billing.personalData.disown(tx, session.userId));
    /** The name on the delivery address at Stripe. */
    const shipping = async () => {
      const one = await site.dashboard.customers.retrieve(customer);
      return 'shipping' in one ? (one.shipping?.name ?? null) : null;
    };
    /** A process whose next change of a customer reaches Stripe late, once `arrive` is called. */
    async function slowProcess() {
      const { customers } = site.dashboard;
      const update = customers.update.bind(customers);
      const waits = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      customers.update = async (...asked: Parameters<typeof update>) => {
        customers.update = update;
        waits.resolve();
        await gate.promise;
        return update(...asked);
      };
      const billing = await site.another({ stripe: site.dashboard });
      return { billing, waits: waits.promise, arrive: gate.resolve };
    }

    it('keeps a delivery address saved before Stripe clears the earlier one', async () => {
      await beginWithAddress();
      await disown();
      paid(await site.billing.saveShipping(session, home));
      await site.billing.drain();
      expect(await shipping()).toBe(home.name);
      await disown();
      await site.billing.drain();
      expect([await shipping(), await site.billing.shipping(session)]).toEqual([null, null]);
    });

    it('keeps a delivery address saved while Stripe clears the earlier one', async () => {
      await beginWithAddress();
      await disown();
      const slow = await slowProcess();
      const clearing = slow.billing.drain();
      await slow.waits;
      paid(await site.billing.saveShipping(session, home));
      slow.arrive();
      await clearing;
      expect(await shipping()).toBe(home.name);
    });

    it('keeps it even if the process dies before it is sent again', async () => {
      await beginWithAddress();
      await disown();
      const slow = await slowProcess();
      const clearing = slow.billing.drain();
      await slow.waits;
      paid(await site.billing.saveShipping(session, home));
      site.dashboard.customers.update = () => Promise.reject(new Error('The process died'));
      slow.arrive();
      await clearing;
      expect(await shipping()).toBeNull();
      await site.pass(60);
      await site.billing.drain();
      expect(await shipping()).toBe(home.name);
    });

    it('does not leave an earlier delivery address at Stripe that arrives there after it was cleared', async () => {
      await beginWithAddress();
      const slow = await slowProcess();
      const sending = slow.billing.saveShipping(session, { ...home, name: 'Mallory' });
      await slow.waits;
      await disown();
      await site.billing.drain();
      slow.arrive();
      paid(await sending);
      await site.billing.drain();
      expect([await shipping(), await site.billing.shipping(session)]).toEqual([null, null]);
    });
  });
});
