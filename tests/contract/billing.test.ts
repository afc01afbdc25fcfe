/**
 * Every checkout call of spec section 7 against the built site over HTTP, with the sandbox's Stripe over HTTP: bodies, replies, statuses,
 * the messages of section 8, access after a payment, and what is neither revealed nor accepted.
 */
import { randomUUID } from 'node:crypto';
import Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RunningStripe, startStripe } from '../../sandbox/stripe/stripe.ts';
import { apiVersion } from '../../src/lib/billing/engine/stripe.server.ts';
import type { PlansAnswer, QuoteAnswer, SubscribeAnswer, Subscription } from '../../src/lib/billing/schema.ts';
import { type AccountSite, type Browser, startAccountSite } from '../fixtures/account-site.ts';

let stripe: RunningStripe;
let site: AccountSite;
let dashboard: Stripe;
const events: { readonly id: string; readonly type: string }[] = [];

beforeAll(async () => {
  stripe = await startStripe({});
  stripe.state.onEvents((told) => void events.push(...told));
  const { apiUrl, scriptUrl, secretKey, publishableKey, webhookSecret } = stripe.access;
  site = await startAccountSite({
    settings: {
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_PUBLISHABLE_KEY: publishableKey,
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_API_URL: apiUrl,
      STRIPE_JS_URL: scriptUrl,
    },
  });
  const { hostname, port } = new URL(apiUrl);
  dashboard = new Stripe(secretKey, { apiVersion, host: hostname, port, protocol: 'http' });
});
afterAll(async () => {
  await site.stop();
  await stripe.stop();
});
beforeEach(() => void events.splice(0));

let count = 0;
async function reader(): Promise<{ browser: Browser; email: string }> {
  const browser = site.browser();
  const email = `payer-${++count}@example.com`;
  expect((await browser.signIn(site, email)).status).toBe(303);
  return { browser, email };
}
const subscribe = '/blaize/payment/stripe/subscribe';
const confirmation = '/blaize/payment/stripe/subscription/confirmation';
const yearly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-yearly' };
const story = '/article/story-3';
const paidPart = 'ENDING-3';

/** As Stripe sends it. */
function tell(event: object, headers: Record<string, string> = {}, path = '/api/v1/stripe/webhook') {
  const payload = JSON.stringify(event);
  const { webhookSecret: secret } = stripe.access;
  const signature = dashboard.webhooks.generateTestHeaderString({ payload, secret });
  return site.browser().ask(path, {
    method: 'POST',
    body: payload,
    headers: {
      origin: null,
      'sec-fetch-site': null,
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': signature,
      'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      ...headers,
    },
  });
}

describe('the checkout', () => {
  it('gives the browser prices, the publishable key and the script’s address, but not the secret key', async () => {
    const answer = await site.browser().get('/api/v1/checkout/plans');
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    const { prices, publishableKey, scriptUrl } = answer.json<PlansAnswer>();
    expect(prices).toHaveLength(6);
    expect(publishableKey).toBe(stripe.access.publishableKey);
    expect(scriptUrl).toBe(stripe.access.scriptUrl);
    expect(answer.text).not.toContain(stripe.access.secretKey);
    const key = await site.browser().get('/blaize/payment/stripe/publicKey');
    expect(key.json()).toBe(stripe.access.publishableKey);
  });

  it('quotes a price with a coupon to every visitor', async () => {
    const answer = await site
      .browser()
      .post('/api/v1/checkout/quote', { plan_id: 'reader-yearly', couponCode: 'SUNSHINE20' });
    expect(answer.json<QuoteAnswer>()).toMatchObject({ kind: 'new', dueToday: 9600, dueAfterRenewal: 12_000 });
  });

  it('allows Stripe’s script and frames in the content security policy of a page', async () => {
    const policy = String((await site.browser().get('/pricing')).headers['content-security-policy']);
    const { origin } = new URL(stripe.access.scriptUrl);
    for (const directive of ['script-src', 'frame-src', 'connect-src']) {
      expect(
        policy.split('; ').find((one) => one.startsWith(`${directive} `)),
        directive,
      ).toContain(origin);
    }
  });
});

describe('payment calls', () => {
  it.each([
    ['POST', subscribe],
    ['POST', confirmation],
    ['GET', '/blaize/payment/stripe/subscriptions'],
    ['DELETE', '/blaize/payment/stripe/subscriptions/sub_1'],
    ['POST', '/zephr/payment/stripe/setupIntentSecret'],
    ['GET', '/api/v1/me/subscription'],
    ['PUT', '/api/v1/me/subscription/metadata'],
    ['POST', '/api/v1/me/subscription/switch'],
    ['POST', '/api/v1/me/subscription/cancel'],
    ['POST', '/api/v1/me/subscription/resume'],
    ['GET', '/api/v1/me/shipping'],
    ['POST', '/api/v1/me/shipping'],
    ['POST', '/api/v1/me/payment-method'],
  ])('answer 401 to a signed-out visitor: %s %s', async (method, path) => {
    const bodies = {
      ...yearly,
      subscriptionId: 'sub_1',
      metadata: {},
      name: 'Ada',
      address: { line1: '1', city: 'New York', state: 'NY', postal_code: '10007', country: 'US' },
    };
    const answer = await site.browser().ask(path, { method, ...(method !== 'GET' && { json: bodies }) });
    expect([answer.status, answer.json()]).toEqual([401, { message: 'Please sign in first.' }]);
  });

  it.each([subscribe, '/api/v1/checkout/quote', '/api/v1/me/subscription/cancel'])(
    'answer 403 to another site that calls %s',
    async (path) => {
      const { browser } = await reader();
      const answer = await browser.post(path, yearly, {
        headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      });
      expect(answer.status).toBe(403);
    },
  );
});

describe('subscribing', () => {
  it('answers in the specified format, and opens the article at once', async () => {
    const { browser } = await reader();
    expect((await browser.get(story)).text).not.toContain(paidPart);
    const answer = await browser.post(subscribe, { ...yearly, expected: 12_000, attempt: randomUUID() });
    expect(answer.status).toBe(200);
    const { subscriptionId, grant_id, ...rest } = answer.json<SubscribeAnswer>();
    expect(rest).toEqual({ paymentIntentStatus: 'succeeded', clientSecret: null, paymentType: 'recurring' });
    expect(subscriptionId).toMatch(/^sub_/);
    expect(grant_id).toMatch(/^[\w-]{36}$/);
    expect((await browser.get(story)).text).toContain(paidPart);
    const { subscription } = (await browser.get('/api/v1/me/subscription')).json<{ subscription: Subscription }>();
    expect(subscription).toMatchObject({
      id: subscriptionId,
      currency: 'usd',
      preDiscountPrice: 12_000,
      price: 12_000,
      planId: 'reader-yearly',
      nextBillingDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    const [listed] = (await browser.get('/blaize/payment/stripe/subscriptions')).json<Record<string, unknown>[]>();
    expect(listed).toMatchObject({ externalId: subscriptionId, planId: 'reader-yearly', state: 'ACTIVE' });
    const confirmed = await browser.post(confirmation, { subscriptionId });
    expect([confirmed.status, confirmed.json()]).toEqual([200, { grant_id }]);
  });

  it.each([
    ['pm_card_visa_chargeDeclined', 'card_declined'],
    ['pm_card_chargeDeclinedInsufficientFunds', 'card_declined', 'insufficient_funds'],
    ['pm_card_chargeDeclinedExpiredCard', 'expired_card'],
    ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc'],
    ['pm_card_chargeDeclinedProcessingError', 'processing_error'],
    ['pm_never_made', 'resource_missing'],
  ])('answers 402 with the reason when the card is %s', async (card, code, declineCode = undefined) => {
    const { browser } = await reader();
    const answer = await browser.post(subscribe, { ...yearly, payment_method: card });
    expect(answer.status).toBe(402);
    const error = answer.json<{ message: string; code: string; declineCode?: string }>();
    expect(error.code).toBe(code);
    if (declineCode) expect(error.declineCode).toBe(declineCode);
    expect(error.message.length).toBeGreaterThan(10);
    expect((await browser.get('/api/v1/me/subscription')).json()).toEqual({ subscription: null });
    expect((await browser.get(story)).text).not.toContain(paidPart);
  });

  it('waits for the bank, then answers 200 if it confirms and 402 if it declines', async () => {
    for (const passed of [true, false]) {
      const { browser } = await reader();
      const card = 'pm_card_threeDSecure2Required';
      const { subscriptionId, clientSecret, ...rest } = (
        await browser.post(subscribe, { ...yearly, payment_method: card })
      ).json<SubscribeAnswer>();
      expect(rest).toEqual({ paymentIntentStatus: 'requires_action', paymentType: 'recurring', grant_id: null });
      stripe.state.finishChallenge(clientSecret?.split('_secret_')[0] ?? '', passed);
      const answer = await browser.post(confirmation, { subscriptionId });
      expect(answer.status, answer.text).toBe(passed ? 200 : 402);
      expect((await browser.get(story)).text.includes(paidPart)).toBe(passed);
      if (!passed) expect(answer.json<{ code: string }>().code).toBe('payment_intent_authentication_failure');
    }
  });

  it('answers 400 to invalid fields, and 404 to an unknown subscription', async () => {
    const { browser } = await reader();
    for (const change of [
      { payment_method: '' },
      { plan_id: 7 },
      { expected: 1.5 },
      { expected: -1 },
      { attempt: 'x' },
    ]) {
      const answer = await browser.post(subscribe, { ...yearly, ...change });
      expect(answer.status, JSON.stringify(change)).toBe(400);
    }
    expect((await browser.post(confirmation, { subscriptionId: 'sub_of_another' })).status).toBe(404);
  });
});

describe('coupons', () => {
  it('get different answers when valid, expired or unknown', async () => {
    const ask = (couponCode: string) =>
      site.browser().post('/api/v1/checkout/get-coupon', { couponCode, plan_id: 'reader-yearly' });
    const good = await ask('TENOFF');
    expect([good.status, good.json()]).toEqual([200, { discount_code: 'TENOFF', amount_off: 1000, percent_off: null }]);
    expect((await ask('EXPIRED')).json()).toMatchObject({ error: 'This coupon has expired.', amount_off: null });
    const unknown = await ask('NOSUCH');
    expect([unknown.status, unknown.json<{ error: string }>().error]).toEqual([
      404,
      'We don’t recognize this coupon. Check the spelling and try again.',
    ]);
  });

  it('can be guessed only 20 times from one address', async () => {
    const browser = site.browser();
    const statuses: number[] = [];
    for (let guess = 0; guess < 25; guess++) {
      const answer = await browser.post('/api/v1/checkout/get-coupon', { couponCode: `GUESS${guess}` });
      statuses.push(answer.status);
      if (answer.status === 429) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(statuses.filter((status) => status === 404)).toHaveLength(20);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('a subscription', () => {
  it('can be switched, given metadata, canceled, resumed, and charged to another card', async () => {
    const { browser, email } = await reader();
    const { subscriptionId } = (await browser.post(subscribe, yearly)).json<SubscribeAnswer>();
    const quote = (await browser.post('/api/v1/checkout/quote', { plan_id: 'member-yearly' })).json<QuoteAnswer>();
    expect(quote).toMatchObject({ kind: 'upgrade', dueToday: 8000 });
    const ask = { plan_id: 'member-yearly', prorationDate: quote.prorationDate, expected: quote.dueToday };
    const switched = await browser.post('/api/v1/me/subscription/switch', ask);
    expect([switched.status, switched.json()]).toEqual([200, expect.objectContaining({ effective: 'now' })]);
    const metadata = { created_with: 'paywall', query_utm_source: 'letter', customer_email: 'someone@else.example' };
    const noted = await browser.ask('/api/v1/me/subscription/metadata', {
      method: 'PUT',
      json: { subscriptionId, metadata },
    });
    expect(noted.status).toBe(200);
    expect((await dashboard.subscriptions.retrieve(subscriptionId)).metadata).toMatchObject({
      query_utm_source: 'letter',
      customer_email: email,
    });
    const cancelled = await browser.post('/api/v1/me/subscription/cancel', { reason: 'moving' });
    expect(cancelled.json()).toMatchObject({ subscription: { cancelAtPeriodEnd: true, nextBillingDate: null } });
    const resumed = await browser.post('/api/v1/me/subscription/resume', {});
    expect(resumed.json()).toMatchObject({ subscription: { cancelAtPeriodEnd: false } });
    const secret = (await browser.post('/zephr/payment/stripe/setupIntentSecret', {})).json<{ clientSecret: string }>();
    expect(secret.clientSecret).toMatch(/^seti_\w+_secret_\w+$/);
    const card = await browser.post('/api/v1/me/payment-method', { payment_method: 'pm_card_mastercard' });
    expect(card.status).toBe(200);
    const gone = await browser.ask(`/blaize/payment/stripe/subscriptions/${subscriptionId}`, { method: 'DELETE' });
    expect(gone.status).toBe(200);
    const again = await browser.ask(`/blaize/payment/stripe/subscriptions/${subscriptionId}`, { method: 'DELETE' });
    expect(again.status).toBe(409);
    const other = await reader();
    const theirs = await other.browser.ask(`/blaize/payment/stripe/subscriptions/${subscriptionId}`, {
      method: 'DELETE',
    });
    expect(theirs.status).toBe(404);
  });

  it('with the print edition requires a shipping address first', async () => {
    const { browser } = await reader();
    const print = { payment_method: 'pm_card_visa', product_id: 'sun-member', plan_id: 'member-print-yearly' };
    const refused = await browser.post(subscribe, print);
    expect([refused.status, refused.json<{ code: string }>().code]).toEqual([400, 'shipping']);
    const address = { line1: '280 Broadway', city: 'New York', state: 'NY', postal_code: '10007', country: 'US' };
    const saved = await browser.post('/api/v1/me/shipping', { name: 'Ada Lovelace', address });
    expect([saved.status, saved.json()]).toEqual([200, { shipping: { name: 'Ada Lovelace', address } }]);
    expect((await browser.get('/api/v1/me/shipping')).json()).toEqual(saved.json());
    expect((await browser.post('/api/v1/me/shipping', { name: 'Ada', address: { ...address, city: '' } })).status).toBe(
      400,
    );
    const { subscriptionId } = (await browser.post(subscribe, print)).json<SubscribeAnswer>();
    const { customer } = await dashboard.subscriptions.retrieve(subscriptionId, { expand: ['customer'] });
    expect(customer).toMatchObject({ shipping: { name: 'Ada Lovelace', address: { line1: '280 Broadway' } } });
  });
});

describe('webhooks', () => {
  it('are accepted only with Stripe’s signature; one about a refund, delivered to both addresses, takes effect once', async () => {
    const { browser } = await reader();
    await browser.post(subscribe, yearly);
    const [charge] = (await dashboard.charges.list({ limit: 1 })).data;
    await dashboard.refunds.create({ charge: charge?.id ?? '' });
    const refund = events.find(({ type }) => type === 'charge.refunded');
    expect((await tell(refund ?? {}, { 'stripe-signature': 't=1,v1=00' })).status).toBe(400);
    await site.billing?.drain();
    expect((await browser.get('/api/v1/me/subscription')).json()).toMatchObject({ subscription: { status: 'active' } });
    expect((await browser.get(story)).text).toContain(paidPart);
    // No worker runs on this site, so a job stays until `drain`.
    const customer = String(charge?.customer);
    const waiting = async () =>
      (await site.database.db.selectFrom('jobs').select('kind').where('subject', '=', customer).execute()).length;
    for (const [path, caused] of [
      ['/api/v1/stripe/webhook', 1],
      ['/blaize/payment/stripe/subscriptionChargedCallback', 0],
    ] as const) {
      const answer = await tell(refund ?? {}, {}, path);
      expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
      expect(await waiting(), path).toBe(caused);
      await site.billing?.drain();
      expect(await waiting()).toBe(0);
      // The next call corrects the browser's access.
      await browser.get('/api/v1/me/subscription');
      expect((await browser.get(story)).text).not.toContain(paidPart);
    }
  });
});

it('payment calls answer 503 when Stripe is not configured', async () => {
  const without = await startAccountSite();
  try {
    const browser = without.browser();
    await browser.signIn(without, 'ada@example.com');
    for (const [method, path] of [
      ['GET', '/api/v1/checkout/plans'],
      ['GET', '/api/v1/me/subscription'],
      ['POST', '/api/v1/stripe/webhook'],
    ] as const) {
      const answer = await browser.ask(path, { method, ...(method === 'POST' && { json: {} }) });
      expect(answer.status, path).toBe(503);
    }
    const policy = String((await browser.get('/pricing')).headers['content-security-policy']);
    expect(policy).not.toContain('stripe');
  } finally {
    await without.stop();
  }
});
