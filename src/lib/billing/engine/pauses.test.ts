/** Pauses of collection (`pause_collection`), made in Stripe's dashboard or by the retention widget, through the whole engine. */

import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, paid } from '../../../../tests/world/billing.ts';
import { prepare } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';
import { messages } from '../messages.ts';

const engines = prepare('sqlite');
let site: BillingFixture;
afterEach(() => site?.stop());

async function subscribed(): Promise<{ session: Session; id: string }> {
  site = await billingFixture(await engines.open());
  const session = await site.readers.join('ada@example.com');
  const body = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };
  const { subscriptionId: id } = paid(await site.billing.subscribe(session, body));
  await site.deliver();
  site.mail.splice(0);
  return { session, id };
}
const now = () => Math.floor(site.accounts.clock.now / 1000);
type Behavior = 'keep_as_draft' | 'mark_uncollectible' | 'void';

async function pause(id: string, behavior: Behavior, days: number | null): Promise<void> {
  const resumes = days === null ? {} : { resumes_at: now() + days * day };
  await site.dashboard.subscriptions.update(id, { pause_collection: { behavior, ...resumes } });
  await site.deliver();
}
const shown = (session: Session) => site.billing.subscription(session);
const opens = async (session: Session) => (await site.billing.entitlements(session.userId))[0] ?? null;
const mailed = (kind: string) => site.mail.filter((message) => message.kind === kind).length;
const charges = async () => (await site.dashboard.charges.list()).data.length;
async function pass(days: number): Promise<void> {
  await site.pass(days * day);
  await site.deliver();
}

it.each(['void', 'mark_uncollectible', 'keep_as_draft'] as const)(
  'a paused subscription (%s) shows the pause, keeps access without charges or notices, and resumes by itself',
  async (behavior) => {
    const { session, id } = await subscribed();
    await pass(10);
    await pause(id, behavior, 35);
    const resumesAt = new Date((now() + 35 * day) * 1000).toISOString();
    expect(await shown(session)).toMatchObject({ status: 'active', nextBillingDate: null, paused: { resumesAt } });
    await pass(15);
    expect(mailed('renewal-notice')).toBe(0);
    await pass(10);
    // The period for which the bill was not collected.
    expect([await charges(), mailed('renewal-notice'), mailed('receipt'), mailed('payment-failed')]).toEqual([
      1, 0, 0, 0,
    ]);
    expect((await opens(session))?.until).toBe(Date.parse((await shown(session))?.paidUntil ?? ''));
    expect((await opens(session))?.until).toBeGreaterThan((now() + 20 * day) * 1000);
    // Resumed in the middle of the period: the rest of it stays free, and the next bill is announced.
    await pass(12);
    expect(await shown(session)).not.toHaveProperty('paused');
    expect(await shown(session)).toMatchObject({ price: 1200, nextBillingDate: expect.any(String) });
    expect(await opens(session)).toMatchObject({ product: 'sun-reader' });
    await pass(8);
    expect(mailed('renewal-notice')).toBe(1);
    await pass(8);
    expect([await charges(), mailed('receipt')]).toEqual([2, 1]);
  },
);

it('a paused subscription refuses a plan change with 409 until the pause ends', async () => {
  const { session, id } = await subscribed();
  await pause(id, 'void', null);
  expect(await shown(session)).toMatchObject({ paused: { resumesAt: null } });
  const refused = { ok: false, status: 409, error: { code: 'paused', message: messages.paused } };
  for (const planId of ['member-monthly', 'reader-yearly'])
    expect(await site.billing.switchPlan(session, { planId })).toMatchObject(refused);
  await site.dashboard.subscriptions.update(id, { pause_collection: '' });
  await site.deliver();
  expect(await shown(session)).not.toHaveProperty('paused');
  expect(await site.billing.switchPlan(session, { planId: 'member-monthly' })).toMatchObject({ ok: true });
});

it.each(['void', 'mark_uncollectible'] as const)(
  'an upgrade after a pause credits nothing for the period that was not collected (%s)',
  async (behavior) => {
    const { session, id } = await subscribed();
    await pass(10);
    await pause(id, behavior, 30);
    await pass(35);
    expect(await shown(session)).not.toHaveProperty('paused');
    for (const [planId, sum] of [
      ['member-monthly', 2000],
      ['member-yearly', 20_000],
    ] as const) {
      const quote = paid(await site.billing.quote(session, { planId }));
      expect(quote).toMatchObject({ kind: 'upgrade', dueToday: sum, dueAfterRenewal: sum });
    }
    paid(await site.billing.switchPlan(session, { planId: 'member-monthly', expected: 2000 }));
    expect((await site.dashboard.charges.list()).data[0]).toMatchObject({ amount: 2000 });
    expect(await shown(session)).toMatchObject({ planId: 'member-monthly', price: 2000 });
    // Time that is paid from here on is credited as usual.
    expect(paid(await site.billing.quote(session, { planId: 'member-yearly' })).dueToday).toBe(18_000);
  },
);

it('the receipt for an earlier invoice that is paid during a pause says that billing is paused', async () => {
  const { session, id } = await subscribed();
  const { customer } = await site.dashboard.subscriptions.retrieve(id);
  const bad = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer: String(customer) });
  await site.dashboard.subscriptions.update(id, { default_payment_method: bad.id });
  await pass(31);
  await pause(id, 'void', 30);
  paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
  expect(site.mail.findLast(({ kind }) => kind === 'receipt')).toMatchObject({ amount: 1200, nextBill: 'paused' });
});

it('a paused subscription can be canceled at the end of its period, and resumed', async () => {
  const { session, id } = await subscribed();
  await pause(id, 'void', null);
  await pass(35);
  paid(await site.billing.cancel(session));
  await site.deliver();
  expect(await shown(session)).toMatchObject({ cancelAtPeriodEnd: true, nextBillingDate: null });
  expect(mailed('cancelled')).toBe(1);
  expect(await opens(session)).not.toBeNull();
  paid(await site.billing.resume(session));
  expect(await shown(session)).toMatchObject({ cancelAtPeriodEnd: false, paused: { resumesAt: null } });
  paid(await site.billing.cancel(session));
  await pass(35);
  expect(await opens(session)).toBeNull();
  expect(await charges()).toBe(1);
});

it('a paused subscription gets no retention offer', async () => {
  const { session, id } = await subscribed();
  await pause(id, 'void', 60);
  paid(await site.billing.beginCancellation(session, { reason: null, words: null }));
  expect(await site.billing.retentionOffer(session)).toBeNull();
});
