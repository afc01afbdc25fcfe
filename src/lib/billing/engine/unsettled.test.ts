/**
 * Access depends on "the card is set up and the first invoice is paid", never on Stripe's status alone: if a coupon reduces the first
 * invoice to 0, Stripe calls a subscription active or trialing before any card is confirmed. On both databases.
 */
import { afterEach, expect, it } from 'vitest';
import { type BillingFixture, billingFixture, paid } from '../../../../tests/world/billing.ts';
import { onBothEngines } from '../../../../tests/world/databases.ts';
import type { Session } from '../../accounts/service.ts';

const penny = { product_id: 'sun-reader', plan_id: 'reader-penny' };
const yearly = { product_id: 'sun-reader', plan_id: 'reader-yearly' };

onBothEngines('a first invoice of 0', (engines) => {
  let site: BillingFixture;
  afterEach(() => site?.stop());

  async function begin(): Promise<Session> {
    site = await billingFixture(await engines.open());
    return site.readers.join('ada@example.com');
  }
  const opens = (session: Session) => site.billing.entitlements(session.userId);
  const statuses = async () =>
    (await site.dashboard.subscriptions.list({ status: 'all' })).data.map(({ status }) => status);
  const intentOf = (secret: string | null) => secret?.split('_secret_')[0] ?? '';

  /** The reader never has access: not now, not when webhooks arrive, not after the background tasks have run. */
  async function neverOpens(session: Session): Promise<void> {
    expect(await opens(session)).toEqual([]);
    await site.deliver();
    expect(await opens(session)).toEqual([]);
    for (const minutes of [3, 50]) {
      await site.pass(minutes * 60);
      await site.billing.recover();
      await site.billing.compare();
      await site.deliver();
      await site.billing.repair(session);
      expect(await opens(session)).toEqual([]);
    }
    // Nothing is left at Stripe that could later renew or give access.
    expect((await statuses()).filter((status) => status !== 'canceled')).toEqual([]);
    expect(await site.billing.subscription(session)).toBeNull();
    expect((await site.dashboard.charges.list()).data).toEqual([]);
    expect(site.mail).toEqual([]);
  }

  it.each([
    ['a payment method that does not exist', 'pm_bogus', penny, 'TENOFF'],
    ['a card that the bank declines', 'pm_card_visa_chargeDeclined', penny, 'TENOFF'],
    ['an amount too small to be charged', 'pm_card_visa_chargeDeclined', penny, 'SUNSHINE20'],
    ['a free year', 'pm_card_visa_chargeDeclined', yearly, 'FREEYEAR'],
  ])(
    'gives no access when the card is refused, and leaves nothing running at Stripe (%s)',
    async (_, method, plan, code) => {
      const session = await begin();
      const refused = await site.billing.subscribe(session, { ...plan, payment_method: method, discount_code: code });
      expect(refused).toMatchObject({ ok: false, status: 402 });
      expect((await statuses()).filter((status) => status !== 'canceled')).toEqual([]);
      await neverOpens(session);
    },
  );

  /** A plan that costs nothing, but asks for a card. */
  async function free() {
    const recurring = { interval: 'month' } as const;
    const costless = { currency: 'usd', unit_amount: 0, recurring, product: 'prod_reader', nickname: 'Free' };
    await site.dashboard.prices.create({ ...costless, metadata: { zephrPlanId: 'reader-free' } });
    await site.billing.refresh();
    return { product_id: 'sun-reader', plan_id: 'reader-free', payment_method: 'pm_card_threeDSecure2Required' };
  }

  it('gives no access when the card is declined by the subscription itself, which is canceled later', async () => {
    const session = await begin();
    // The bank confirms only the card, and refuses the payment a moment later.
    site.stripe.faults.add({
      path: '/v1/setup_intents/seti_',
      status: 402,
      times: 2,
      error: { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' },
    });
    const asks = { ...penny, payment_method: 'pm_card_threeDSecure2Required', discount_code: 'TENOFF' };
    expect(await site.billing.subscribe(session, asks)).toMatchObject({ ok: false, status: 402 });
    expect(await statuses()).toEqual(['active']);
    await neverOpens(session);
  });

  it.each([
    ['the promotional price', penny, 'TENOFF'],
    ['the promotional price, reduced to an amount too small to be charged', penny, 'SUNSHINE20'],
    ['a free year', yearly, 'FREEYEAR'],
  ])('gives no access while the bank’s confirmation is pending, or if it never comes (%s)', async (_, plan, code) => {
    const session = await begin();
    const asks = { ...plan, payment_method: 'pm_card_threeDSecure2Required', discount_code: code };
    const answer = paid(await site.billing.subscribe(session, asks));
    expect(answer).toMatchObject({ paymentIntentStatus: 'requires_action', grant_id: null });
    expect(await site.billing.subscription(session)).toBeNull();
    await neverOpens(session);
  });

  it.each([
    ['at once', 'canceled', free],
    [
      'later where that uses up a coupon',
      'active',
      async () => ({ ...penny, payment_method: 'pm_card_threeDSecure2Required', discount_code: 'TENOFF' }),
    ],
  ])('gives no access when the bank refuses, and the subscription is canceled %s', async (_, status, asks) => {
    const session = await begin();
    const { clientSecret, subscriptionId } = paid(await site.billing.subscribe(session, await asks()));
    site.stripe.finishChallenge(intentOf(clientSecret), false);
    expect(await site.billing.confirm(session, subscriptionId)).toMatchObject({ ok: false, status: 402 });
    expect(await statuses()).toEqual([status]);
    await neverOpens(session);
  });

  it.each(['the browser reports it', 'only Stripe reports it'])(
    'gives access once the bank confirms the card and %s',
    async (how) => {
      const session = await begin();
      const asks = { ...penny, payment_method: 'pm_card_threeDSecure2Required', discount_code: 'TENOFF' };
      const { clientSecret, subscriptionId } = paid(await site.billing.subscribe(session, asks));
      await site.deliver();
      expect(await opens(session)).toEqual([]);
      site.stripe.finishChallenge(intentOf(clientSecret), true);
      if (how === 'the browser reports it') {
        expect(paid(await site.billing.confirm(session, subscriptionId)).grant_id).not.toBeNull();
      } else await site.deliver();
      expect(await opens(session)).toMatchObject([{ product: 'sun-reader', trialing: true }]);
      await site.pass(3600);
      await site.billing.recover();
      await site.deliver();
      expect(await opens(session)).toHaveLength(1);
    },
  );

  it.each([
    ['pm_card_visa', 'also a promotion', penny, 'TENOFF'],
    ['pm_card_visa', 'also with a code that can be used once', yearly, 'ONCE'],
    ['pm_card_authenticationRequiredOnSetup', 'also if the bank asks again', yearly, 'ONCE'],
  ])('can be tried again with another card (%s) after the first was refused, %s', async (method, _, plan, code) => {
    const session = await begin();
    await site.dashboard.coupons.create({ id: 'all', percent_off: 100, duration: 'once' });
    const promotion = { type: 'coupon', coupon: 'all' } as const;
    await site.dashboard.promotionCodes.create({ code: 'ONCE', promotion, max_redemptions: 1 });
    const asks = { ...plan, payment_method: 'pm_card_threeDSecure2Required', discount_code: code };
    const { clientSecret, subscriptionId } = paid(await site.billing.subscribe(session, asks));
    site.stripe.finishChallenge(intentOf(clientSecret), false);
    expect(await site.billing.confirm(session, subscriptionId)).toMatchObject({ ok: false, status: 402 });
    // The page is reloaded. For Stripe, upper and lower case are the same.
    const typed = code.toLowerCase();
    paid(await site.billing.quote(session, { planId: plan.plan_id, couponCode: typed }));
    paid(await site.billing.coupon(typed, plan.plan_id, { session, clientAddress: '203.0.113.1' }));
    const retry = { ...asks, payment_method: method, discount_code: typed };
    const again = paid(await site.billing.subscribe(session, retry));
    if (again.clientSecret !== null) site.stripe.finishChallenge(intentOf(again.clientSecret), true);
    await site.deliver();
    expect(await opens(session)).toHaveLength(1);
    expect(await statuses()).toEqual(['active']);
    const { default_payment_method: card } = await site.dashboard.subscriptions.retrieve(subscriptionId);
    const setups = await site.dashboard.setupIntents.list({ payment_method: String(card) });
    expect(setups.data).toMatchObject([{ status: 'succeeded' }]);
  });

  it.each(['the browser reports it', 'only Stripe reports it'])(
    'charges later the card that was typed, not an older one of the reader, once the bank confirms it and %s',
    async (how) => {
      const session = await begin();
      paid(await site.billing.usePaymentMethod(session, 'pm_card_mastercard'));
      const asks = { ...yearly, payment_method: 'pm_card_threeDSecure2Required', discount_code: 'FREEYEAR' };
      const answer = paid(await site.billing.subscribe(session, asks));
      expect(answer).toMatchObject({ paymentIntentStatus: 'requires_action', grant_id: null });
      expect(await opens(session)).toEqual([]);
      site.stripe.finishChallenge(intentOf(answer.clientSecret), true);
      const reported = how === 'the browser reports it';
      if (reported) paid(await site.billing.confirm(session, answer.subscriptionId));
      await site.deliver();
      expect(await opens(session)).toHaveLength(1);
      const { default_payment_method: card } = await site.dashboard.subscriptions.retrieve(answer.subscriptionId, {
        expand: ['default_payment_method'],
      });
      expect(card).toMatchObject({ card: { brand: 'visa' } });
    },
  );

  it('keeps its access, and charges the confirmed card later, if an earlier version left the default to Stripe', async () => {
    const session = await begin();
    const asks = { ...yearly, payment_method: 'pm_card_threeDSecure2Required', discount_code: 'FREEYEAR' };
    const { clientSecret, subscriptionId } = paid(await site.billing.subscribe(session, asks));
    site.stripe.finishChallenge(intentOf(clientSecret), true);
    await site.deliver();
    const { default_payment_method: card } = await site.dashboard.subscriptions.retrieve(subscriptionId);
    const { account } = site.stripe;
    account.transaction(() => {
      account.need('subscription', subscriptionId).default_payment_method = null;
    });
    await site.billing.repair(session);
    expect(await opens(session)).toHaveLength(1);
    expect(await site.dashboard.subscriptions.retrieve(subscriptionId)).toMatchObject({ default_payment_method: card });
  });

  it('gives no access when the card setup is canceled', async () => {
    const session = await begin();
    const asks = { ...penny, payment_method: 'pm_card_threeDSecure2Required', discount_code: 'TENOFF' };
    const { subscriptionId } = paid(await site.billing.subscribe(session, asks));
    const { pending_setup_intent: setup } = await site.dashboard.subscriptions.retrieve(subscriptionId);
    await site.dashboard.setupIntents.cancel(setup as string);
    // Stripe then waits for nothing anymore, but has no card.
    const { account } = site.stripe;
    account.transaction(() => {
      account.need('subscription', subscriptionId).pending_setup_intent = null;
    });
    await neverOpens(session);
  });

  it('is not assumed for a paid subscription that has another card setup pending', async () => {
    const session = await begin();
    const { subscriptionId } = paid(
      await site.billing.subscribe(session, { ...yearly, payment_method: 'pm_card_visa' }),
    );
    const { id } = await site.dashboard.setupIntents.create({});
    const { account } = site.stripe;
    account.transaction(() => {
      account.need('subscription', subscriptionId).pending_setup_intent = id;
    });
    await site.billing.repair(session);
    expect(await opens(session)).toHaveLength(1);
  });
});
