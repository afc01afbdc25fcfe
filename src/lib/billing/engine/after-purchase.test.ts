/** What happens to a subscription after it was bought: switches, cancellation, refunds, failing cards, webhooks, forgetting. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, day, home, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const monthly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-monthly' };

onBothEngines('a running subscription', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  /** Keeps a card that the bank will refuse at the next renewal. */
  async function failNextTime(id: string): Promise<void> {
    const customer = (await site.dashboard.subscriptions.retrieve(id)).customer as string;
    const bad = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
    await site.dashboard.subscriptions.update(id, { default_payment_method: bad.id });
  }

  async function subscribed(plan = monthly): Promise<{ session: Session; id: string }> {
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    const { subscriptionId: id } = paid(await site.billing.subscribe(session, plan));
    await site.deliver();
    return { session, id };
  }
  const opens = async (session: Session) => (await site.billing.entitlements(session.userId))[0] ?? null;
  const mailed = (kind: string) => site.mail.filter((message) => message.kind === kind).length;
  const charged = async () => (await site.dashboard.charges.list({ limit: 100 })).data.filter(({ paid: was }) => was);

  it('is upgraded at once for the quoted amount, and refuses another amount with 409', async () => {
    const { session } = await subscribed();
    await site.pass(10 * day);
    const quote = paid(await site.billing.quote(session, { planId: 'member-monthly' }));
    expect(quote.kind).toBe('upgrade');
    // 800 cents more a month, for the rest of it.
    expect(quote.dueToday).toBeGreaterThan(500);
    expect(quote.dueToday).toBeLessThan(600);
    const ask = { planId: 'member-monthly', prorationDate: quote.prorationDate ?? 0 };
    const other = await site.billing.switchPlan(session, { ...ask, expected: quote.dueToday - 1 });
    expect(other).toMatchObject({ ok: false, status: 409, error: { due: quote.dueToday } });
    const attempt = randomUUID();
    const done = paid(await site.billing.switchPlan(session, { ...ask, expected: quote.dueToday, attempt }));
    expect(done).toMatchObject({ effective: 'now', paymentIntentStatus: 'succeeded', clientSecret: null });
    expect((await charged()).map(({ amount }) => amount)).toEqual([quote.dueToday, 1200]);
    expect(await opens(session)).toMatchObject({ product: 'sun-member' });
    expect(paid(await site.billing.switchPlan(session, { ...ask, attempt })).effective).toBe('now');
    expect(await charged()).toHaveLength(2);
    expect(mailed('welcome-tier')).toBe(2);
  });

  it('is upgraded with proration by Stripe’s clock, even when that is 45 days ahead of ours', async () => {
    const { session } = await subscribed();
    const later = Math.floor(site.accounts.clock.now / 1000) + 45 * day;
    site.stripe.advanceTo(later);
    await site.deliver();
    const quote = paid(await site.billing.quote(session, { planId: 'member-monthly' }));
    expect(quote).toMatchObject({ kind: 'upgrade', prorationDate: later });
    expect(quote.dueToday).toBeGreaterThan(300);
    expect(quote.dueToday).toBeLessThan(500);
    const ask = { planId: 'member-monthly', prorationDate: later, expected: quote.dueToday };
    paid(await site.billing.switchPlan(session, ask));
    expect((await charged())[0]?.amount).toBe(quote.dueToday);
  });

  it('cannot be upgraded for free by sending a proration date near the period’s end', async () => {
    const { session } = await subscribed();
    const quote = paid(await site.billing.quote(session, { planId: 'member-monthly' }));
    const end = Math.floor(((await opens(session))?.until ?? 0) / 1000) - 60;
    const ask = { planId: 'member-monthly', prorationDate: end };
    const refused = await site.billing.switchPlan(session, { ...ask, expected: 0 });
    expect(refused).toMatchObject({ ok: false, status: 409, error: { due: quote.dueToday } });
    paid(await site.billing.switchPlan(session, ask));
    expect((await charged())[0]?.amount).toBe(quote.dueToday);
  });

  it('keeps its plan and leaves no open invoice when the card for an upgrade is declined', async () => {
    const { session, id } = await subscribed();
    const [customer] = (await site.dashboard.customers.list()).data;
    const bad = await site.dashboard.paymentMethods.attach('pm_card_chargeCustomerFail', {
      customer: customer?.id ?? '',
    });
    await site.dashboard.subscriptions.update(id, { default_payment_method: bad.id });
    const refused = await site.billing.switchPlan(session, { planId: 'member-yearly' });
    expect(refused).toMatchObject({ ok: false, status: 402, error: { code: 'card_declined' } });
    expect(await opens(session)).toMatchObject({ product: 'sun-reader' });
    const now = await site.dashboard.subscriptions.retrieve(id);
    expect(now.pending_update).toBeNull();
    expect(now.status).toBe('active');
    // Nothing that could be charged later is left.
    expect((await site.dashboard.invoices.list({ status: 'open' })).data).toEqual([]);
    // A subscription's card can't be unset; detaching the payment method removes it.
    await site.dashboard.paymentMethods.detach(bad.id);
  });

  it('is upgraded only after the bank confirms the payment', async () => {
    const { session, id } = await subscribed();
    const [customer] = (await site.dashboard.customers.list()).data;
    const card = await site.dashboard.paymentMethods.attach('pm_card_authenticationRequired', {
      customer: customer?.id ?? '',
    });
    await site.dashboard.subscriptions.update(id, { default_payment_method: card.id });
    const waits = paid(await site.billing.switchPlan(session, { planId: 'member-yearly' }));
    expect(waits).toMatchObject({ paymentIntentStatus: 'requires_action', grant_id: null });
    expect(await opens(session)).toMatchObject({ product: 'sun-reader' });
    site.stripe.finishChallenge(waits.clientSecret?.split('_secret_')[0] ?? '', true);
    paid(await site.billing.confirm(session, id));
    expect(await opens(session)).toMatchObject({ product: 'sun-member' });
  });

  it('is downgraded at the next renewal', async () => {
    const { session } = await subscribed({ ...monthly, product_id: 'sun-member', plan_id: 'member-monthly' });
    const quote = paid(await site.billing.quote(session, { planId: 'reader-monthly' }));
    expect(quote).toMatchObject({ kind: 'downgrade', dueToday: 0, dueAfterRenewal: 1200 });
    const planned = paid(await site.billing.switchPlan(session, { planId: 'reader-monthly', expected: 0 }));
    expect(planned).toMatchObject({ effective: 'renewal', clientSecret: null });
    expect(await opens(session)).toMatchObject({ product: 'sun-member' });
    expect(await site.billing.subscription(session)).toMatchObject({ price: 1200, planId: 'member-monthly' });
    await site.pass(32 * day);
    await site.deliver();
    expect(await opens(session)).toMatchObject({ product: 'sun-reader' });
    expect((await charged()).map(({ amount }) => amount)).toEqual([1200, 2000]);
  });

  it('is not downgraded by a request that expected to pay for an upgrade', async () => {
    const { session, id } = await subscribed();
    const quote = paid(await site.billing.quote(session, { planId: 'member-monthly' }));
    const ask = { planId: 'member-monthly', prorationDate: quote.prorationDate ?? 0, expected: quote.dueToday };
    // In another tab the reader chose the yearly plan.
    paid(await site.billing.switchPlan(session, { planId: 'member-yearly' }));
    const before = (await charged()).length;
    expect(await site.billing.switchPlan(session, ask)).toMatchObject({ ok: false, status: 409, error: { due: 0 } });
    expect((await site.dashboard.subscriptions.retrieve(id)).schedule).toBeNull();
    expect(await charged()).toHaveLength(before);
    expect(paid(await site.billing.switchPlan(session, { ...ask, expected: 0 })).effective).toBe('renewal');
  });

  it('drops a planned downgrade when the reader chooses the current plan again', async () => {
    const { session, id } = await subscribed({ ...monthly, product_id: 'sun-member', plan_id: 'member-monthly' });
    paid(await site.billing.switchPlan(session, { planId: 'reader-monthly' }));
    paid(await site.billing.switchPlan(session, { planId: 'member-monthly' }));
    expect((await site.dashboard.subscriptions.retrieve(id)).schedule).toBeNull();
    expect(await site.billing.subscription(session)).toMatchObject({ price: 2000 });
  });

  it('keeps access to the end of the paid period when canceled, and can be resumed until then', async () => {
    const { session } = await subscribed();
    const until = (await opens(session))?.until;
    expect(paid(await site.billing.cancel(session, 'too much to read'))).toMatchObject({
      cancelAtPeriodEnd: true,
      nextBillingDate: null,
      status: 'active',
    });
    expect(await opens(session)).toMatchObject({ until });
    await site.deliver();
    expect(site.mail.filter(({ kind }) => kind === 'cancelled')).toMatchObject([{ over: false }]);
    expect(paid(await site.billing.resume(session))).toMatchObject({ cancelAtPeriodEnd: false });
    paid(await site.billing.cancel(session, null));
    // Resumed in between, the cancellation is confirmed once more, but not the subscription's end.
    expect(mailed('cancelled')).toBe(2);
    await site.pass(32 * day);
    await site.deliver();
    expect(await opens(session)).toBeNull();
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'canceled' });
    expect(mailed('cancelled')).toBe(2);
    expect(await charged()).toHaveLength(1);
    expect(await site.billing.cancel(session, null)).toMatchObject({ ok: false, status: 404 });
    paid(await site.billing.subscribe(session, monthly));
    expect(await opens(session)).not.toBeNull();
  });

  it('is not renewed if it is canceled while the renewal invoice is a draft', async () => {
    const { session } = await subscribed();
    await site.pass(30 * day + 1800);
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'active', renewalDue: true });
    expect(paid(await site.billing.cancel(session))).toMatchObject({ status: 'canceled', nextBillingDate: null });
    await site.pass(40 * day);
    await site.deliver();
    expect((await charged()).map(({ amount }) => amount)).toEqual([1200]);
    expect(site.mail.filter(({ kind }) => kind === 'cancelled')).toMatchObject([{ over: true }]);
    expect(await opens(session)).toBeNull();
  });

  it('keeps access for three days when a renewal fails, and continues with another card', async () => {
    const { session, id } = await subscribed();
    await failNextTime(id);
    const until = (await opens(session))?.until ?? 0;
    await site.pass((until - site.accounts.clock.now) / 1000 + 2 * 3600);
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'past_due' });
    expect(await opens(session)).toMatchObject({ until: until + 3 * day * 1000 });
    expect(mailed('payment-failed')).toBe(1);
    await site.pass(3 * day);
    await site.deliver();
    expect(await opens(session)).toBeNull();
    expect(await site.billing.switchPlan(session, { planId: 'member-monthly' })).toMatchObject({ status: 409 });
    expect(await site.billing.usePaymentMethod(session, 'pm_card_visa')).toMatchObject({ ok: true });
    expect(await opens(session)).toMatchObject({ product: 'sun-reader' });
    expect(mailed('payment-failed')).toBe(1);
    expect(mailed('receipt')).toBe(2);
  });

  it('is not charged for an upgrade awaiting the bank when the reader replaces the card', async () => {
    const { session, id } = await subscribed();
    const { customer } = await site.dashboard.subscriptions.retrieve(id);
    const asking = await site.dashboard.paymentMethods.attach('pm_card_authenticationRequired', {
      customer: String(customer),
    });
    await site.dashboard.subscriptions.update(id, { default_payment_method: asking.id });
    paid(await site.billing.switchPlan(session, { planId: 'member-monthly' }));
    paid(await site.billing.usePaymentMethod(session, 'pm_card_visa'));
    expect((await charged()).map(({ amount }) => amount)).toEqual([1200]);
  });

  it('ends when it stays unpaid, with an email that says it is over', async () => {
    const { session, id } = await subscribed();
    await failNextTime(id);
    await site.pass(46 * day);
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'canceled' });
    const letters = site.mail.filter(({ kind }) => kind === 'cancelled');
    expect(letters).toMatchObject([{ over: true }]);
  });

  it('with an overdue renewal is paid with another card after the reader confirms it with the bank', async () => {
    const { session, id } = await subscribed();
    await failNextTime(id);
    await site.pass(32 * day);
    await site.deliver();
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'past_due' });
    const card = async (token: string) =>
      (await site.dashboard.paymentMethods.create({ type: 'card', card: { token } })).id;
    const asks = await card('tok_authenticationRequired');
    const waits = paid(await site.billing.usePaymentMethod(session, asks));
    expect(waits.paymentIntentStatus).toBe('requires_action');
    const intent = waits.clientSecret?.split('_secret_')[0] ?? '';
    // A second request before the bank has an answer returns the same payment.
    expect(paid(await site.billing.usePaymentMethod(session, asks)).clientSecret).toBe(waits.clientSecret);
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'past_due' });
    site.stripe.finishChallenge(intent, false);
    const again = paid(await site.billing.usePaymentMethod(session, await card('tok_authenticationRequired')));
    expect(again).toMatchObject({ paymentIntentStatus: 'requires_action', clientSecret: waits.clientSecret });
    expect(await charged()).toHaveLength(1);
    site.stripe.finishChallenge(intent, true);
    const done = { paymentIntentStatus: 'succeeded', clientSecret: null };
    expect(paid(await site.billing.usePaymentMethod(session, asks))).toEqual(done);
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'active' });
    expect(await opens(session)).not.toBeNull();
    expect((await charged()).map(({ amount }) => amount)).toEqual([1200, 1200]);
  });

  it('declined with authentication_required is paid after the reader confirms', async () => {
    const { session, id } = await subscribed();
    await failNextTime(id);
    await site.pass(32 * day);
    await site.deliver();
    // As banks do when the cardholder isn't present: the payment needs another payment method, and says why.
    const [invoice] = (await site.dashboard.invoices.list({ status: 'open' })).data;
    const refusal = { type: 'card_error', code: 'authentication_required', message: 'Your card was declined.' };
    site.stripe.faults.add({ path: `/v1/invoices/${invoice?.id}/pay`, status: 402, error: refusal, times: 1 });
    const { id: asks } = await site.dashboard.paymentMethods.create({
      type: 'card',
      card: { token: 'tok_authenticationRequired' },
    });
    const waits = paid(await site.billing.usePaymentMethod(session, asks));
    expect(waits.paymentIntentStatus).toBe('requires_action');
    site.stripe.finishChallenge(waits.clientSecret?.split('_secret_')[0] ?? '', true);
    expect(paid(await site.billing.usePaymentMethod(session, asks)).clientSecret).toBeNull();
    expect(await site.billing.subscription(session)).toMatchObject({ status: 'active' });
  });

  it('loses access after a full refund, and keeps it after a partial one', async () => {
    const { session } = await subscribed();
    const [charge] = await charged();
    await site.dashboard.refunds.create({ charge: charge?.id ?? '', amount: 500 });
    await site.deliver();
    expect(await opens(session)).not.toBeNull();
    await site.dashboard.refunds.create({ charge: charge?.id ?? '' });
    await site.deliver();
    expect(await opens(session)).toBeNull();
    // A cancellation is still confirmed, once.
    paid(await site.billing.cancel(session));
    paid(await site.billing.cancel(session));
    expect(site.mail.filter(({ kind }) => kind === 'cancelled')).toMatchObject([{ until: null, over: true }]);
  });

  it('stays without access after a refund of a charge that is older than the newest hundred', async () => {
    const { session, id } = await subscribed();
    const [charge] = await charged();
    await site.dashboard.refunds.create({ charge: charge?.id ?? '' });
    await site.deliver();
    expect(await opens(session)).toBeNull();
    const { customer } = await site.dashboard.subscriptions.retrieve(id);
    for (let at = 0; at < 101; at++) {
      const refused = site.dashboard.paymentIntents.create({
        amount: 100,
        currency: 'usd',
        customer: customer as string,
        confirm: true,
        payment_method: 'pm_card_visa_chargeDeclined',
        return_url: 'https://paper.example/',
      });
      await expect(refused).rejects.toThrow('declined');
    }
    expect((await site.dashboard.charges.list({ limit: 100 })).has_more).toBe(true);
    await site.dashboard.subscriptions.update(id, { metadata: { noted: 'yes' } });
    await site.deliver();
    expect(await opens(session)).toBeNull();
  });

  it('sends one cancellation email when a refund follows the cancellation', async () => {
    const { session, id } = await subscribed();
    await site.dashboard.subscriptions.cancel(id);
    await site.deliver();
    const [charge] = await charged();
    await site.dashboard.refunds.create({ charge: charge?.id ?? '' });
    await site.deliver();
    expect(await opens(session)).toBeNull();
    expect(mailed('cancelled')).toBe(1);
  });

  it('is announced once before it renews', async () => {
    const { session } = await subscribed();
    const until = (await opens(session))?.until ?? 0;
    await site.pass((until - site.accounts.clock.now) / 1000 - 6 * day);
    await site.deliver();
    await site.billing.repair(session);
    expect(mailed('renewal-notice')).toBe(1);
  });

  it('at the promotional price is charged the full price after 60 days, and the promotion cannot be reused', async () => {
    site = await billingFixture(await engines.open());
    const session = await site.readers.join('ada@example.com');
    paid(await site.billing.subscribe(session, { ...monthly, plan_id: 'reader-penny', expected: 60 }));
    expect(await opens(session)).toMatchObject({ trialing: true });
    await site.pass(61 * day);
    await site.deliver();
    expect((await charged()).map(({ amount }) => amount)).toEqual([12_000, 60]);
    expect(await opens(session)).toMatchObject({ trialing: false, product: 'sun-reader' });
    paid(await site.billing.cancel(session, null));
    await site.pass(366 * day);
    await site.deliver();
    expect(await opens(session)).toBeNull();
    const again = await site.billing.subscribe(session, { ...monthly, plan_id: 'reader-penny' });
    expect(again).toMatchObject({ ok: false, status: 409, error: { code: 'promotion_used' } });
  });

  it('is sold at the promotional price once in two years, even if the reader deletes the account and returns', async () => {
    site = await billingFixture(await engines.open());
    const penny = { ...monthly, plan_id: 'reader-penny' };
    const session = await site.readers.join('ada@example.com');
    paid(await site.billing.subscribe(session, penny));
    const leave = async (one: Session) => {
      await site.billing.personalData.erase(one, null);
      await site.database.db.deleteFrom('users').where('id', '=', one.userId).execute();
      await site.billing.drain();
    };
    await leave(session);
    const notes = await site.database.db.selectFrom('billing_notes').selectAll().execute();
    expect(JSON.stringify(notes).toLowerCase()).not.toContain('ada@example.com');
    const back = await site.readers.join('ada@example.com');
    expect(back.userId).not.toBe(session.userId);
    const used = { ok: false, status: 409, error: { code: 'promotion_used' } };
    // Before the reader types a card, and where no card is needed.
    expect(await site.billing.quote(back, { planId: 'reader-penny' })).toMatchObject(used);
    expect(await site.billing.subscribe(back, penny)).toMatchObject(used);
    expect((await site.dashboard.charges.list()).data).toHaveLength(1);
    paid(await site.billing.subscribe(back, monthly));
    await leave(back);
    const other = await site.readers.join('eve@example.com');
    expect(await site.billing.quote(other, { planId: 'reader-penny' })).toMatchObject({ ok: true });
    await site.pass(731 * day);
    const later = await site.readers.join('ada@example.com');
    expect(await site.billing.quote(later, { planId: 'reader-penny' })).toMatchObject({ ok: true });
  });

  it('is quoted at the promotional price even when Stripe’s clock is 100 days ahead', async () => {
    site = await billingFixture(await engines.open());
    site.stripe.advanceTo(Math.floor(site.accounts.clock.now / 1000) + 100 * day);
    const quote = paid(await site.billing.quote(null, { planId: 'reader-penny' }));
    expect(quote).toMatchObject({ dueToday: 60, dueAfterRenewal: 12_000 });
    expect(quote.renewalDate).toBe(site.accounts.clock.now + 160 * day * 1000);
  });

  it('is canceled when its account is deleted, and its purchase record no longer names a user', async () => {
    const { session, id } = await subscribed();
    paid(await site.billing.saveShipping(session, home));
    expect((await site.billing.personalData.export(session)).billing).toMatchObject({
      shipping: home,
      subscriptions: [{ id, planId: 'reader-monthly' }],
      purchases: [{ kind: 'subscribe', state: 'done', coupon: null }],
      mailed: expect.arrayContaining([{ what: expect.stringMatching(/^receipt:in_/), time: expect.any(String) }]),
    });
    await site.billing.personalData.erase(session, null);
    await site.billing.drain();
    await site.deliver();
    const { data } = await site.dashboard.subscriptions.list({ status: 'all' });
    expect(data.map(({ status }) => status)).toEqual(['canceled']);
    expect((await site.billing.personalData.export(session)).billing).toEqual({
      customer: null,
      shipping: null,
      subscriptions: [],
      invoices: [],
      cancellations: [],
      purchases: [],
      mailed: [],
    });
    const kept = await site.database.db.selectFrom('purchases').selectAll().execute();
    expect(kept).toMatchObject([{ user_id: null, payment_method: null, attempt: null, subscription: id }]);
  });

  it('cannot be seen, changed or canceled by another reader, who cannot use its card either', async () => {
    const { id } = await subscribed();
    const other = await site.readers.join('eve@example.com');
    expect(await site.billing.confirm(other, id)).toMatchObject({ ok: false, status: 404 });
    expect(await site.billing.saveMetadata(other, id, { created_with: 'x' })).toMatchObject({ status: 404 });
    expect(await site.billing.cancel(other, null)).toMatchObject({ status: 404 });
    expect(await site.billing.subscription(other)).toBeNull();
    const [card] = (await site.dashboard.paymentMethods.list({ limit: 1 })).data;
    expect(await site.billing.usePaymentMethod(other, card?.id ?? '')).toMatchObject({ ok: false, status: 402 });
    const bought = await site.billing.subscribe(other, { ...monthly, payment_method: card?.id ?? '' });
    expect(bought).toMatchObject({ ok: false, status: 402 });
  });

  it('stores metadata from the client without overwriting the site’s own keys', async () => {
    const { session, id } = await subscribed();
    const metadata = { created_with: 'paywall', purchase: 'x', user: 'y', customer_email: 'eve@example.com' };
    paid(await site.billing.saveMetadata(session, id, metadata));
    const kept = (await site.dashboard.subscriptions.retrieve(id)).metadata;
    expect(kept).toMatchObject({ created_with: 'paywall', customer_email: 'ada@example.com', user: session.userId });
    expect(kept.purchase).not.toBe('x');
  });
});
