/** Payments that readers have their banks take back: open, won, lost, only asked about, and found again when nothing was told. */
import { afterEach, expect, it } from 'vitest';
import { type BillingBench, billingBench, day, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';
import { pruneDisputes } from './subscriptions.server.ts';

const monthly = { payment_method: 'pm_card_createDispute', product_id: 'sun-reader', plan_id: 'reader-monthly' };

onBothEngines('a disputed payment', (engines) => {
  let house: BillingBench;
  afterEach(() => house?.stop());

  async function subscribed(card = monthly.payment_method): Promise<{ session: Session; id: string }> {
    house = await billingBench(await engines.open());
    const session = await house.readers.join('ada@example.com');
    const { subscriptionId: id } = paid(await house.billing.subscribe(session, { ...monthly, payment_method: card }));
    await house.deliver();
    return { session, id };
  }
  const opens = async (session: Session) => (await house.billing.entitlements(session.userId))[0] ?? null;
  const answer = async (words: string) => {
    const [dispute] = (await house.dashboard.disputes.list()).data;
    await house.dashboard.disputes.update(dispute?.id ?? '', { evidence: { uncategorized_text: words } });
  };
  const disputes = () => house.billing.stats().disputes;

  it('stays open to its reader while it is not decided, and is told to operators', async () => {
    const { session } = await subscribed();
    expect(await opens(session)).not.toBeNull();
    expect(disputes()).toBe(1);
    await answer('It was read every day.');
    await house.deliver();
    expect(await opens(session)).not.toBeNull();
    expect(disputes()).toBe(1);
  });

  it('that is lost closes like a refund; nothing is charged again, and another can be bought', async () => {
    const { session, id } = await subscribed();
    await answer('losing_evidence');
    await house.deliver();
    expect(await opens(session)).toBeNull();
    expect(disputes()).toBe(0);
    expect(await house.dashboard.subscriptions.retrieve(id)).toMatchObject({ status: 'canceled' });
    await house.pass(40 * day);
    await house.deliver();
    expect((await house.dashboard.charges.list()).data).toHaveLength(1);
    paid(await house.billing.subscribe(session, { ...monthly, payment_method: 'pm_card_visa' }));
    expect(await opens(session)).not.toBeNull();
  });

  it('that is won changes nothing', async () => {
    const { session, id } = await subscribed();
    await answer('winning_evidence');
    await house.deliver();
    expect(await opens(session)).not.toBeNull();
    expect(disputes()).toBe(0);
    expect(await house.dashboard.subscriptions.retrieve(id)).toMatchObject({ status: 'active' });
  });

  it('that was only asked about closes nothing', async () => {
    const { session } = await subscribed('pm_card_createDisputeInquiry');
    expect(disputes()).toBe(1);
    await answer('losing_evidence');
    await house.deliver();
    expect(await opens(session)).not.toBeNull();
    expect(disputes()).toBe(0);
  });

  it('of an earlier time takes nothing from a later one that is paid', async () => {
    const { session, id } = await subscribed();
    const { customer } = await house.dashboard.subscriptions.retrieve(id);
    const good = await house.dashboard.paymentMethods.attach('pm_card_visa', { customer: customer as string });
    await house.dashboard.subscriptions.update(id, { default_payment_method: good.id });
    await house.pass(32 * day);
    await house.deliver();
    const before = await opens(session);
    await answer('losing_evidence');
    await house.deliver();
    expect(await opens(session)).toEqual(before);
    expect(await house.dashboard.subscriptions.retrieve(id)).toMatchObject({ status: 'active' });
  });

  it('that nobody told us of is found at night', async () => {
    const { session } = await subscribed();
    await answer('losing_evidence');
    house.events.splice(0);
    await house.billing.compare();
    await house.billing.drain();
    expect(await opens(session)).toBeNull();
  });

  it('of a reader who has left does not wait for ever', async () => {
    const { session } = await subscribed();
    await house.billing.personalData.erase(session, null);
    await house.billing.drain();
    expect(disputes()).toBe(1);
    await answer('losing_evidence');
    await house.deliver();
    expect(disputes()).toBe(0);
    const { db } = house.database;
    await db.insertInto('billing_notes').values({ key: 'dispute:dp_old', value: '{}', at: 0 }).execute();
    await pruneDisputes(db, house.accounts.clock.now);
    await house.billing.drain();
    expect(disputes()).toBe(0);
  });

  it('does not stand in the way where the key may not read disputes', async () => {
    house = await billingBench(await engines.open());
    house.stripe.faults.add({ path: '/v1/disputes', status: 403, times: 100 });
    const session = await house.readers.join('ada@example.com');
    paid(await house.billing.subscribe(session, monthly));
    await house.deliver();
    expect(await opens(session)).not.toBeNull();
    expect(house.billing.stats().waiting).toBe(0);
  });
});
