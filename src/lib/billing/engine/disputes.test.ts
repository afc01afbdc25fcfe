/** Payments that readers have their banks take back: opened, won, lost, only inquired about, and found without a webhook. */
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';
import { pruneDisputes } from './subscriptions.server.ts';

const monthly = { payment_method: 'pm_card_createDispute', product_id: 'sun-reader', plan_id: 'reader-monthly' };

onBothEngines('a disputed payment', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  async function subscribed(card = monthly.payment_method): Promise<{ session: Session; id: string }> {
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    const { subscriptionId: id } = paid(await site.billing.subscribe(session, { ...monthly, payment_method: card }));
    await site.deliver();
    return { session, id };
  }
  const opens = async (session: Session) => (await site.billing.entitlements(session.userId))[0] ?? null;
  const answer = async (words: string) => {
    const [dispute] = (await site.dashboard.disputes.list()).data;
    await site.dashboard.disputes.update(dispute?.id ?? '', { evidence: { uncategorized_text: words } });
  };
  const disputes = () => site.billing.stats().disputes;

  it('keeps access open until it is decided, and is counted for operators', async () => {
    const { session } = await subscribed();
    expect(await opens(session)).not.toBeNull();
    expect(disputes()).toBe(1);
    await answer('It was read every day.');
    await site.deliver();
    expect(await opens(session)).not.toBeNull();
    expect(disputes()).toBe(1);
  });

  it('that is lost ends access and the subscription, after which the reader can buy another', async () => {
    const { session, id } = await subscribed();
    await answer('losing_evidence');
    await site.deliver();
    expect(await opens(session)).toBeNull();
    expect(disputes()).toBe(0);
    expect(await site.dashboard.subscriptions.retrieve(id)).toMatchObject({ status: 'canceled' });
    expect(site.mail.filter(({ kind }) => kind === 'cancelled')).toMatchObject([{ until: null }]);
    await site.pass(40 * day);
    await site.deliver();
    expect((await site.dashboard.charges.list()).data).toHaveLength(1);
    paid(await site.billing.subscribe(session, { ...monthly, payment_method: 'pm_card_visa' }));
    expect(await opens(session)).not.toBeNull();
  });

  it('that is won changes nothing', async () => {
    const { session, id } = await subscribed();
    await answer('winning_evidence');
    await site.deliver();
    expect(await opens(session)).not.toBeNull();
    expect(disputes()).toBe(0);
    expect(await site.dashboard.subscriptions.retrieve(id)).toMatchObject({ status: 'active' });
  });

  it('that was only an inquiry leaves access open', async () => {
    const { session } = await subscribed('pm_card_createDisputeInquiry');
    expect(disputes()).toBe(1);
    await answer('losing_evidence');
    await site.deliver();
    expect(await opens(session)).not.toBeNull();
    expect(disputes()).toBe(0);
  });

  it('of an earlier period leaves a later paid period open', async () => {
    const { session, id } = await subscribed();
    const { customer } = await site.dashboard.subscriptions.retrieve(id);
    const good = await site.dashboard.paymentMethods.attach('pm_card_visa', { customer: customer as string });
    await site.dashboard.subscriptions.update(id, { default_payment_method: good.id });
    await site.pass(32 * day);
    await site.deliver();
    const before = await opens(session);
    await answer('losing_evidence');
    await site.deliver();
    expect(await opens(session)).toEqual(before);
    expect(await site.dashboard.subscriptions.retrieve(id)).toMatchObject({ status: 'active' });
  });

  it('is found by the nightly comparison when no webhook arrives', async () => {
    const { session } = await subscribed();
    await answer('losing_evidence');
    site.events.splice(0);
    await site.billing.compare();
    await site.billing.drain();
    expect(await opens(session)).toBeNull();
  });

  it('of a deleted account is no longer counted once it is decided or old', async () => {
    const { session } = await subscribed();
    await site.billing.personalData.erase(session, null);
    await site.billing.drain();
    expect(disputes()).toBe(1);
    await answer('losing_evidence');
    await site.deliver();
    expect(disputes()).toBe(0);
    const { db } = site.database;
    await db.insertInto('billing_notes').values({ key: 'dispute:dp_old', value: '{}', at: 0 }).execute();
    await pruneDisputes(db, site.accounts.clock.now);
    await site.billing.drain();
    expect(disputes()).toBe(0);
  });

  it('does not block access when the Stripe key may not read disputes', async () => {
    site = await billingFixture(await engines.open());
    site.stripe.faults.add({ path: '/v1/disputes', status: 403, times: 100 });
    const session = await site.readers.join('ada@example.com');
    paid(await site.billing.subscribe(session, monthly));
    await site.deliver();
    expect(await opens(session)).not.toBeNull();
    expect(site.billing.stats().waiting).toBe(0);
  });
});
