/** Subscriptions in an account that leaves them unpaid after the last retry, instead of canceling them. On both databases. */
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

onBothEngines('an unpaid subscription', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  /** Its renewal has failed for the last time. */
  async function unpaid(): Promise<{ session: Session; id: string }> {
    site = await billingFixture(await engines.open());
    const { account } = site.stripe;
    account.transaction(() =>
      account.store.add('setting', { id: 'billing', object: 'setting', afterLastRetry: 'unpaid' }),
    );
    const session = await site.readers.join('ada@example.com');
    const { subscriptionId: id } = paid(await site.billing.subscribe(session, monthly));
    const customer = (await site.billing.customerOf(session)) ?? '';
    const bad = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
    await site.dashboard.subscriptions.update(id, { default_payment_method: bad.id });
    await site.pass(31 * day);
    await site.deliver();
    await site.pass(16 * day);
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'unpaid', nextBillingDate: null });
    return { session, id };
  }
  const opens = async (session: Session) => (await site.billing.entitlements(session.userId)).length;
  const failures = () => site.mail.filter(({ kind }) => kind === 'payment-failed');
  const sums = async () =>
    (await site.dashboard.charges.list({ limit: 100 })).data.flatMap(({ paid: was, amount }) => (was ? [amount] : []));
  const bills = async (id: string) =>
    (await site.dashboard.invoices.list({ subscription: id })).data.map(({ status }) => status);

  it('gives no access, and sends one email at the first failure and one at the last', async () => {
    const { session } = await unpaid();
    expect(await opens(session)).toBe(0);
    expect(failures()).toMatchObject([{ over: false }, { over: true, nextAttempt: null }]);
    await site.pass(40 * day);
    await site.deliver();
    await site.billing.compare();
    await site.billing.drain();
    expect(await opens(session)).toBe(0);
    expect(failures()).toHaveLength(2);
  });

  it('resumes when the reader pays the open invoice with another card', async () => {
    const { session, id } = await unpaid();
    paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
    await site.deliver();
    expect(await sums()).toEqual([1200, 1200]);
    expect(await opens(session)).toBe(1);
    expect(await bills(id)).toEqual(['paid', 'paid']);
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'active' });
    await site.pass(15 * day);
    await site.deliver();
    expect(await sums()).toHaveLength(3);
  });

  it('after two more periods costs only the current one, even if a card is declined first', async () => {
    const { session, id } = await unpaid();
    await site.pass(50 * day);
    await site.deliver();
    expect(await bills(id)).toEqual(['draft', 'draft', 'open', 'paid']);
    expect(await site.billing.usePaymentMethod(session, 'pm_card_chargeCustomerFail')).toMatchObject({ status: 402 });
    await site.deliver();
    expect(await opens(session)).toBe(0);
    expect(failures()).toHaveLength(2);
    paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
    await site.deliver();
    expect(await sums()).toEqual([1200, 1200]);
    expect(await bills(id)).toEqual(['paid', 'void', 'void', 'paid']);
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'active' });
    expect(await opens(session)).toBe(1);
  });

  it.each([
    ['the newest invoice is finalized', 0, 'finalize', 'before'],
    ['an older invoice is voided', 2, 'void', 'after'],
    ['the payment begins', 0, 'pay', 'before'],
    ['the payment has just succeeded', 0, 'pay', 'after'],
  ] as const)('is charged once even if Stripe fails when %s', async (_, at, call, when) => {
    const { session, id } = await unpaid();
    await site.pass(50 * day);
    await site.deliver();
    const bill = (await site.dashboard.invoices.list({ subscription: id })).data[at]?.id;
    site.stripe.faults.add({ method: 'POST', path: `/v1/invoices/${bill}/${call}`, status: 503, when });
    expect(await site.billing.usePaymentMethod(session, 'pm_card_visa')).toMatchObject({ ok: false, status: 503 });
    paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
    expect(await sums()).toEqual([1200, 1200]);
    expect(await bills(id)).toEqual(['paid', 'void', 'void', 'paid']);
    expect(await opens(session)).toBe(1);
  });

  it('can be canceled, and does not keep the reader from subscribing again', async () => {
    const { session } = await unpaid();
    expect(paid(await site.billing.cancel(session))).toMatchObject({ status: 'canceled' });
    paid(await site.billing.subscribe(session, monthly));
    expect(await opens(session)).toBe(1);
  });
});
