/**
 * What must not be possible in a purchase: choosing a price, changing another reader’s data, or guessing coupons without limit.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../src/lib/http/limits.ts';
import {
  type Answered,
  type Asked,
  ask,
  charges,
  checkoutForEachTest,
  fixture,
  open,
  reader,
  status,
  yearly,
} from '../fixtures/checkout-calls.ts';
import { day, home, paid } from '../world/billing.ts';

checkoutForEachTest();

describe('the price of a purchase', () => {
  it.each([
    ['another plan’s product', { product_id: 'sun-member' }],
    ['a more expensive plan of another product', { plan_id: 'member-print-yearly' }],
    ['a product without prices', { product_id: 'sun-founder' }],
    ['an unknown plan', { plan_id: 'free' }],
    ['a Stripe price ID instead of a plan ID', { plan_id: 'price_reader_yearly' }],
    ['a plan ID that is a property of every object', { plan_id: '__proto__', product_id: 'constructor' }],
  ])('is refused for %s', async (_, wrong) => {
    const { cookies } = await reader();
    const answer = await ask('blaize/payment/stripe/subscribe.ts', {
      method: 'POST',
      body: { ...yearly, ...wrong },
      cookies,
    });
    expect(answer.status).toBe(400);
    expect(fixture.stripe.account.store.count('subscription')).toBe(0);
  });

  it.each([
    ['negative', -12_000, 400],
    ['fractional', 0.5, 400],
    ['huge', Number.MAX_SAFE_INTEGER + 2, 400],
    ['the string “NaN”', 'NaN', 400],
    ['a string', '12000', 400],
    ['zero', 0, 409],
    ['a cent too low', 11_999, 409],
    ['a cent too high', 12_001, 409],
  ])('charges nothing if the price that the reader expects is %s', async (_, expected, refused) => {
    const { cookies } = await reader();
    const answer = await ask('blaize/payment/stripe/subscribe.ts', {
      method: 'POST',
      body: { ...yearly, expected },
      cookies,
    });
    expect(answer.status).toBe(refused);
    expect(charges()).toEqual([]);
    expect(
      await fixture.database.db.selectFrom('purchases').select('id').where('state', '=', 'open').execute(),
    ).toEqual([]);
  });

  it('is Stripe’s, whatever amount, coupon or customer the body names', async () => {
    const { cookies } = await reader();
    const more = {
      amount: 1,
      unit_amount: 1,
      currency: 'jpy',
      price: 'price_x',
      trial_end: 4e9,
      coupon: 'free-year',
      customer: 'cus_x',
    };
    const body = {
      ...yearly,
      ...more,
      items: [{ price_data: { unit_amount: 1 } }],
      metadata: { user: 'x' },
      discounts: [{}],
    };
    expect((await ask('blaize/payment/stripe/subscribe.ts', { method: 'POST', body, cookies })).status).toBe(200);
    expect(charges().map(({ amount, currency }) => [amount, currency])).toEqual([[12_000, 'usd']]);
  });

  it('cannot be bought or switched to once the webhook has taken it off sale', async () => {
    const { cookies, session } = await reader();
    await fixture.dashboard.prices.update('price_reader_yearly', { active: false });
    await fixture.deliver();
    const body = { ...yearly, expected: 12_000 };
    expect((await ask('blaize/payment/stripe/subscribe.ts', { method: 'POST', body, cookies })).status).toBe(400);
    expect(status(await fixture.billing.quote(session, { planId: 'reader-yearly' }))).toBe(400);
    paid(await fixture.billing.subscribe(session, { ...yearly, plan_id: 'reader-monthly' }));
    expect(status(await fixture.billing.switchPlan(session, { planId: 'reader-yearly' }))).toBe(400);
  });

  it('is refused by Stripe if it went off sale a moment ago, and no purchase stays open', async () => {
    const { cookies } = await reader();
    await fixture.dashboard.prices.update('price_reader_yearly', { active: false });
    const answer = await ask('blaize/payment/stripe/subscribe.ts', { method: 'POST', body: yearly, cookies });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(charges()).toEqual([]);
    expect(
      await fixture.database.db.selectFrom('purchases').select('id').where('state', '=', 'open').execute(),
    ).toEqual([]);
  });

  it('is not the promotional one on a plan change or a second purchase', async () => {
    const { session } = await reader();
    const penny = { ...yearly, plan_id: 'reader-penny' };
    paid(await fixture.billing.subscribe(session, penny));
    expect(await fixture.billing.switchPlan(session, { planId: 'reader-penny' })).toMatchObject({
      ok: false,
      status: 409,
      error: { code: 'promotion_used' },
    });
    paid(await fixture.billing.cancel(session, null));
    await fixture.pass(61 * day);
    await fixture.deliver();
    expect(status(await fixture.billing.subscribe(session, penny))).toBe(409);
    expect(charges().map(({ amount }) => amount)).toEqual([60]);
  });

  it.each([
    ['360 days ahead', 200, 360 * day],
    ['300 days ago', 200, -300 * day],
    ['before 1970', 400, -1_800_000_000],
  ])('of an upgrade does not change with a proration date %s, which is answered with %i', async (_, answered, away) => {
    const { cookies, session } = await reader();
    paid(await fixture.billing.subscribe(session, yearly));
    await fixture.pass(20 * day);
    const { dueToday: due } = paid(await fixture.billing.quote(session, { planId: 'member-yearly' }));
    const prorationDate = Math.floor(fixture.accounts.clock.now / 1000) + away;
    const body = { plan_id: 'member-yearly', prorationDate };
    const answer = await ask('api/v1/me/subscription/switch.ts', { method: 'POST', body, cookies });
    expect(answer.status).toBe(answered);
    expect(due).toBeGreaterThan(0);
    expect(charges().map(({ amount }) => amount)).toEqual(answered === 200 ? [12_000, due] : [12_000]);
  });
});

describe('another reader’s subscription', () => {
  it('is not read or changed through its IDs, and neither is the reader’s card, address or invoice', async () => {
    const [ada, eve] = [await reader(), await reader()];
    paid(await fixture.billing.saveShipping(ada.session, home));
    const { subscriptionId } = paid(await fixture.billing.subscribe(ada.session, yearly));
    const [customer] = [...fixture.stripe.account.store.all('customer')];
    const [method] = [...fixture.stripe.account.store.all('payment_method')].filter(
      (one) => one.customer === customer?.id,
    );
    const [invoice] = [...fixture.stripe.account.store.all('invoice')];
    const before = JSON.stringify(fixture.stripe.account.store.find('subscription', subscriptionId));
    const post = { method: 'POST', cookies: eve.cookies };
    const tries: readonly (readonly [string, Asked])[] = [
      ['blaize/payment/stripe/subscription/confirmation.ts', { ...post, body: { subscriptionId } }],
      ['blaize/payment/stripe/subscriptions/[id].ts', { ...post, method: 'DELETE', id: subscriptionId }],
      [
        'api/v1/me/subscription/metadata.ts',
        { ...post, method: 'PUT', body: { subscriptionId, metadata: { created_with: 'x' } } },
      ],
      ['api/v1/me/subscription/cancel.ts', { ...post, body: { subscriptionId, id: subscriptionId, reason: 'x' } }],
      ['api/v1/me/subscription/resume.ts', { ...post, body: { subscriptionId } }],
      ['api/v1/me/subscription/switch.ts', { ...post, body: { plan_id: 'member-yearly', subscriptionId } }],
      ['api/v1/me/payment-method.ts', { ...post, body: { payment_method: method?.id, customer: customer?.id } }],
      ['blaize/payment/stripe/subscribe.ts', { ...post, body: { ...yearly, payment_method: method?.id } }],
      // A part of a path must not lead elsewhere, and another kind of object isn't a card.
      ...[
        subscriptionId,
        invoice?.id,
        customer?.id,
        `../customers/${customer?.id}`,
        `${method?.id}/detach`,
        `x?y=${method?.id}`,
      ].map((id): readonly [string, Asked] => [
        'api/v1/me/payment-method.ts',
        { ...post, body: { payment_method: id } },
      ]),
      ...[invoice?.id, `../invoices/${invoice?.id}`, `${subscriptionId}/../${subscriptionId}`, '../customers'].map(
        (id): readonly [string, Asked] => [
          'blaize/payment/stripe/subscription/confirmation.ts',
          { ...post, body: { subscriptionId: id } },
        ],
      ),
    ];
    for (const [path, asked] of tries) {
      const answer = await ask(path, asked);
      expect([400, 402, 403, 404, 409], `${path} ${JSON.stringify(asked.body)} ${answer.status}`).toContain(
        answer.status,
      );
      expect(answer.text).not.toMatch(/Lovelace|Broadway|ada-lovelace|_secret_|4242/);
    }
    expect(JSON.stringify(fixture.stripe.account.store.find('subscription', subscriptionId))).toBe(before);
    expect(charges()).toHaveLength(1);
    for (const path of [
      'api/v1/me/shipping.ts',
      'api/v1/me/invoices.ts',
      'api/v1/me/payment-method.ts',
      'api/v1/me/subscription/index.ts',
      'blaize/payment/stripe/subscriptions/index.ts',
    ]) {
      const answer = await ask(path, { method: 'GET', cookies: eve.cookies });
      expect(answer.text).not.toMatch(/Lovelace|Broadway|sub_|in_|4242/);
    }
    expect(await fixture.billing.entitlements(eve.session.userId)).toEqual([]);
  });

  it('is not canceled by a subscriber, whose own cancellation leaves it unchanged', async () => {
    const [ada, eve] = [await reader(), await reader()];
    const hers = paid(await fixture.billing.subscribe(ada.session, yearly)).subscriptionId;
    const own = paid(await fixture.billing.subscribe(eve.session, yearly)).subscriptionId;
    const path = 'blaize/payment/stripe/subscriptions/[id].ts';
    const cancel = (id: string) => ask(path, { method: 'DELETE', cookies: eve.cookies, id });
    expect((await cancel(hers)).status).toBe(404);
    const body = { subscriptionId: hers };
    const posted = await ask('api/v1/me/subscription/cancel.ts', { method: 'POST', cookies: eve.cookies, body });
    expect(posted.status).toBe(404);
    for (const one of [ada, eve])
      expect(await fixture.billing.subscription(one.session)).toMatchObject({ cancelAtPeriodEnd: false });
    expect([(await cancel(own)).status, (await cancel(own)).status]).toEqual([200, 409]);
    expect(await fixture.billing.subscription(ada.session)).toMatchObject({ cancelAtPeriodEnd: false });
  });

  it('is not confirmed by a reader whose own purchase is unfinished', async () => {
    const [ada, eve] = [await reader(), await reader()];
    const asks = { ...yearly, payment_method: 'pm_card_threeDSecure2Required' };
    const hers = paid(await fixture.billing.subscribe(ada.session, asks));
    paid(await fixture.billing.subscribe(eve.session, asks));
    fixture.stripe.finishChallenge(hers.clientSecret?.split('_secret_')[0] ?? '', true);
    const body = { subscriptionId: hers.subscriptionId };
    const path = 'blaize/payment/stripe/subscription/confirmation.ts';
    expect((await ask(path, { method: 'POST', body, cookies: eve.cookies })).status).toBe(404);
    expect(await fixture.billing.entitlements(eve.session.userId)).toEqual([]);
    expect((await ask(path, { method: 'POST', body, cookies: ada.cookies })).status).toBe(200);
  });

  it('is separate even if both readers send the same attempt ID', async () => {
    const [ada, eve] = [await reader(), await reader()];
    const attempt = randomUUID();
    const hers = paid(await fixture.billing.subscribe(ada.session, { ...yearly, attempt }));
    const own = paid(await fixture.billing.subscribe(eve.session, { ...yearly, attempt }));
    expect(own.subscriptionId).not.toBe(hers.subscriptionId);
    expect(own.grant_id).not.toBe(hers.grant_id);
    expect(charges()).toHaveLength(2);
  });
});

describe('coupon guesses', () => {
  const few = { most: 7, seconds: 600 };
  const many = { most: 1000, seconds: 600 };
  const guess = (at: number, more: Partial<Asked> = {}) =>
    ask('api/v1/checkout/get-coupon.ts', { method: 'POST', body: { couponCode: `GUESS${at}` }, ...more });
  const hundred = (how: (at: number) => Promise<Answered>) =>
    Promise.all(Array.from({ length: 100 }, (_, at) => how(at)));
  const counted = (answers: readonly Answered[]) =>
    [404, 429].map((wanted) => answers.filter((answer) => answer.status === wanted).length);

  it.each([
    ['from one IP address', { address: few, email: many, overall: many }],
    ['from all addresses together', { address: many, email: many, overall: few }],
  ])('%s stop at the limit, even with 100 at once', async (of, coupon) => {
    await fixture.stop();
    await open({ ...defaultLimits, coupon });
    const answers = await hundred((at) =>
      guess(at, of === 'from all addresses together' ? { address: `198.51.100.${at}` } : {}),
    );
    expect(counted(answers)).toEqual([7, 93]);
    const late = answers.find((answer) => answer.status === 429)?.json;
    expect(late).toMatchObject({ retryAfter: expect.any(Number), amount_off: null, percent_off: null });
  });

  it('of a reader stop at the limit, even with 100 at once from different addresses and through all calls', async () => {
    await fixture.stop();
    await open({ ...defaultLimits, coupon: { address: many, email: few, overall: many } });
    const { cookies } = await reader();
    const ways = [
      (at: number) => ({ path: 'api/v1/checkout/get-coupon.ts', body: { couponCode: `GUESS${at}` } }),
      (at: number) => ({
        path: 'api/v1/checkout/quote.ts',
        body: { plan_id: 'reader-yearly', couponCode: `GUESS${at}` },
      }),
      (at: number) => ({
        path: 'blaize/payment/stripe/subscribe.ts',
        body: { ...yearly, discount_code: `GUESS${at}` },
      }),
    ];
    const answers = await hundred((at) => {
      const { path, body } = (ways[at % 3] ?? ways[0])?.(at) ?? { path: '', body: {} };
      return ask(path, { method: 'POST', body, cookies, address: `198.51.100.${at}` });
    });
    expect(counted(answers)).toEqual([7, 93]);
    expect(charges()).toEqual([]);
  });

  it('are limited by default to one in 30 seconds per IP address and reader, and two a second in total', () => {
    const { address, email, overall } = defaultLimits.coupon;
    for (const limit of [address, email])
      expect((limit?.most ?? 1e9) / (limit?.seconds ?? 1)).toBeLessThanOrEqual(1 / 30);
    expect((overall?.most ?? 1e9) / (overall?.seconds ?? 1)).toBeLessThan(2);
  });
});
