/**
 * What must not be possible in the checkout: choose a price, touch what is another's, guess at coupons without end, speak for Stripe, call from
 * another site, break a call with a strange body, or find a person or a secret in a log or an answer. Every route of the checkout as
 * it is, over the real services, with the sandbox's Stripe.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { APIContext, APIRoute } from 'astro';
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Billed } from '../../src/lib/billing/service.ts';
import { createGeo } from '../../src/lib/geo/geo.server.ts';
import { defaultLimits } from '../../src/lib/http/limits.ts';
import { createLog } from '../../src/server/logging.ts';
import { browser, siteUrl } from '../world/accounts.ts';
import { type BillingBench, billingBench, day, home, paid, webhookSecret } from '../world/billing.ts';
import { prepare } from '../world/databases.ts';

const engines = prepare('sqlite');
const root = join(import.meta.dirname, '..', '..', 'src', 'pages');

const yearly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-yearly' };
type Sample = { readonly method: string; readonly body?: Record<string, unknown>; readonly open?: true };
/** Every route of the checkout, with a body that it takes; `open`: also for readers who are signed out. */
const calls: Readonly<Record<string, readonly Sample[]>> = {
  'api/v1/checkout/currency.ts': [{ method: 'GET', open: true }],
  'api/v1/checkout/get-coupon.ts': [
    { method: 'POST', body: { couponCode: 'TENOFF', plan_id: 'reader-yearly' }, open: true },
  ],
  'api/v1/checkout/plans.ts': [{ method: 'GET', open: true }],
  'api/v1/checkout/quote.ts': [
    { method: 'POST', body: { plan_id: 'reader-yearly', couponCode: 'TENOFF' }, open: true },
  ],
  'api/v1/me/invoices.ts': [{ method: 'GET' }],
  'api/v1/me/payment-method.ts': [{ method: 'GET' }, { method: 'POST', body: { payment_method: 'pm_card_visa' } }],
  'api/v1/me/shipping.ts': [{ method: 'GET' }, { method: 'POST', body: { ...home } }],
  'api/v1/me/subscription/cancel.ts': [{ method: 'POST', body: { reason: 'none' } }],
  'api/v1/me/subscription/index.ts': [{ method: 'GET' }],
  'api/v1/me/subscription/metadata.ts': [
    { method: 'PUT', body: { subscriptionId: 'sub_other', metadata: { created_with: 'paywall' } } },
  ],
  'api/v1/me/subscription/resume.ts': [{ method: 'POST' }],
  'api/v1/me/subscription/switch.ts': [
    { method: 'POST', body: { plan_id: 'member-yearly', prorationDate: 1, expected: 1, attempt: randomUUID() } },
  ],
  'blaize/payment/stripe/publicKey.ts': [{ method: 'GET', open: true }],
  'blaize/payment/stripe/subscribe.ts': [
    { method: 'POST', body: { ...yearly, discount_code: 'TENOFF', attempt: randomUUID(), expected: 11_000 } },
  ],
  'blaize/payment/stripe/subscription/confirmation.ts': [{ method: 'POST', body: { subscriptionId: 'sub_other' } }],
  'blaize/payment/stripe/subscriptions/[id].ts': [{ method: 'DELETE' }],
  'blaize/payment/stripe/subscriptions/index.ts': [{ method: 'GET' }],
  'zephr/payment/stripe/setupIntentSecret.ts': [{ method: 'POST' }],
};
/** Signed by Stripe instead of by a session. */
const webhooks = ['api/v1/stripe/webhook.ts', 'blaize/payment/stripe/subscriptionChargedCallback.ts'];

const writing = Object.entries(calls).flatMap(([path, samples]) =>
  samples.filter(({ method }) => method !== 'GET').map((sample) => ({ path, ...sample })),
);
const guarded = Object.entries(calls).flatMap(([path, samples]) =>
  samples.filter(({ open }) => !open).map((sample) => ({ path, ...sample })),
);

let house: BillingBench;
let logged: string[] = [];
const open = async (limits = defaultLimits): Promise<void> => {
  logged = [];
  const log = createLog('debug', { write: (line: string) => void logged.push(line) });
  house = await billingBench(await engines.open(), { log, limits });
};
beforeEach(() => open());
afterEach(() => house.stop());

interface Asked {
  readonly method: string;
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly cookies?: string;
  readonly id?: string;
  readonly address?: string;
}
interface Answered {
  readonly status: number;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

/** Asks a route as a page of the site does, unless something else is said. */
async function ask(path: string, { method, body, raw, headers = {}, cookies, id, address = '203.0.113.1' }: Asked) {
  const module = (await import(join(root, path))) as Record<string, APIRoute>;
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const sent: Record<string, string | null> = {
    ...(method !== 'GET' && { origin: siteUrl, 'sec-fetch-site': 'same-origin' }),
    ...(text !== undefined && { 'content-type': 'application/json' }),
    cookie: cookies ?? null,
    ...headers,
  };
  const request = new Request(`${siteUrl}/${path}`, {
    method,
    headers: Object.entries(sent).filter((entry): entry is [string, string] => entry[1] !== null),
    ...(text !== undefined && { body: text }),
  });
  const log = createLog('debug', { write: (line: string) => void logged.push(line) });
  const geo = createGeo({ countryHeader: null, cityHeader: null });
  const services = { accounts: house.accounts.accounts, billing: house.billing, access: null, geo, log };
  const answer = await (module[method] ?? module.ALL)?.({
    request,
    params: { id },
    url: new URL(request.url),
    clientAddress: address,
    locals: { services, config: { siteUrl } },
  } as unknown as APIContext);
  const said = (await answer?.text()) ?? '';
  return { status: answer?.status ?? 0, text: said, json: said ? JSON.parse(said) : {} } as Answered;
}

let people = 0;
async function reader(): Promise<{
  readonly cookies: string;
  readonly session: Parameters<typeof house.billing.confirm>[0];
}> {
  const { cookies, session } = await house.accounts.join(`ada-lovelace-${++people}@example.com`);
  return { cookies: browser(cookies), session };
}
const charges = () => [...house.stripe.ledger.store.all('charge')].filter(({ status }) => status === 'succeeded');
const status = (result: Billed<unknown>): number => (result.ok ? 200 : result.status);
/** Whatever a call does at Stripe makes an event or an object there. */
const things = (): number =>
  (['event', 'customer', 'subscription', 'payment_method', 'setup_intent', 'answer'] as const)
    .map((kind) => house.stripe.ledger.store.count(kind))
    .reduce((sum, one) => sum + one, 0);

describe('the list of calls', () => {
  it('is whole', () => {
    const folders = ['api/v1/checkout', 'api/v1/me', 'api/v1/stripe', 'blaize/payment', 'zephr/payment'];
    const found = folders
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
      )
      .filter((name) => name.endsWith('.ts'))
      // Calls of the account and of the reader's own things, which tests of their own look after; they ask nothing of Stripe but what
      // it knows.
      .filter((name) => !/me\/(?:(?:export|newsletters|repair|sessions)\.ts$|(?:history|saved)\/)/.test(name));
    expect(found.toSorted()).toEqual([...Object.keys(calls), ...webhooks].toSorted());
  });
});

describe('a price', () => {
  it.each([
    ['another product', { product_id: 'sun-member' }],
    ['a dearer plan of another product', { plan_id: 'member-print-yearly' }],
    ['a product without prices', { product_id: 'sun-founder' }],
    ['no plan of ours', { plan_id: 'free' }],
    ['Stripe’s number of the price', { plan_id: 'price_reader_yearly' }],
    ['a plan called like a property', { plan_id: '__proto__', product_id: 'constructor' }],
  ])('of %s is not sold', async (_, wrong) => {
    const { cookies } = await reader();
    const answer = await ask('blaize/payment/stripe/subscribe.ts', {
      method: 'POST',
      body: { ...yearly, ...wrong },
      cookies,
    });
    expect(answer.status).toBe(400);
    expect(house.stripe.ledger.store.count('subscription')).toBe(0);
  });

  it.each([
    ['negative', -12_000, 400],
    ['fractional', 0.5, 400],
    ['huge', Number.MAX_SAFE_INTEGER + 2, 400],
    ['not a number', 'NaN', 400],
    ['a text', '12000', 400],
    ['nothing', 0, 409],
    ['a cent less', 11_999, 409],
    ['a cent more', 12_001, 409],
  ])('that is %s charges nothing', async (_, expected, refused) => {
    const { cookies } = await reader();
    const answer = await ask('blaize/payment/stripe/subscribe.ts', {
      method: 'POST',
      body: { ...yearly, expected },
      cookies,
    });
    expect(answer.status).toBe(refused);
    expect(charges()).toEqual([]);
    expect(await house.database.db.selectFrom('purchases').select('id').where('state', '=', 'open').execute()).toEqual(
      [],
    );
  });

  it('is Stripe’s, whatever else the body says', async () => {
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

  it('that was taken off sale is not sold any more, nor switched to', async () => {
    const { cookies, session } = await reader();
    await house.dashboard.prices.update('price_reader_yearly', { active: false });
    await house.deliver();
    const body = { ...yearly, expected: 12_000 };
    expect((await ask('blaize/payment/stripe/subscribe.ts', { method: 'POST', body, cookies })).status).toBe(400);
    expect(status(await house.billing.quote(session, { planId: 'reader-yearly' }))).toBe(400);
    paid(await house.billing.subscribe(session, { ...yearly, plan_id: 'reader-monthly' }));
    expect(status(await house.billing.switchPlan(session, { planId: 'reader-yearly' }))).toBe(400);
  });

  it('that was taken off sale a moment ago is refused by Stripe, and nothing stays open', async () => {
    const { cookies } = await reader();
    await house.dashboard.prices.update('price_reader_yearly', { active: false });
    const answer = await ask('blaize/payment/stripe/subscribe.ts', { method: 'POST', body: yearly, cookies });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(charges()).toEqual([]);
    expect(await house.database.db.selectFrom('purchases').select('id').where('state', '=', 'open').execute()).toEqual(
      [],
    );
  });

  it('of the promotion is not to be had by a switch, nor twice', async () => {
    const { session } = await reader();
    const penny = { ...yearly, plan_id: 'reader-penny' };
    paid(await house.billing.subscribe(session, penny));
    expect(await house.billing.switchPlan(session, { planId: 'reader-penny' })).toMatchObject({
      ok: false,
      status: 409,
      error: { code: 'promotion_used' },
    });
    paid(await house.billing.cancel(session, null));
    await house.pass(61 * day);
    await house.deliver();
    expect(status(await house.billing.subscribe(session, penny))).toBe(409);
    expect(charges().map(({ amount }) => amount)).toEqual([60]);
  });

  it.each([
    ['far ahead', 360 * day],
    ['long ago', -300 * day],
    ['before time', -1_800_000_000],
  ])('of an upgrade does not depend on a date %s', async (_, away) => {
    const { cookies, session } = await reader();
    paid(await house.billing.subscribe(session, yearly));
    await house.pass(20 * day);
    const { dueToday: due } = paid(await house.billing.quote(session, { planId: 'member-yearly' }));
    const prorationDate = Math.floor(house.accounts.clock.now / 1000) + away;
    const body = { plan_id: 'member-yearly', prorationDate };
    const answer = await ask('api/v1/me/subscription/switch.ts', { method: 'POST', body, cookies });
    if (answer.status === 200) expect(charges().map(({ amount }) => amount)).toEqual([12_000, due]);
    else expect([answer.status, charges().length]).toEqual([400, 1]);
  });
});

describe('what is another’s', () => {
  it('is neither seen nor touched', async () => {
    const [ada, eve] = [await reader(), await reader()];
    paid(await house.billing.saveShipping(ada.session, home));
    const { subscriptionId } = paid(await house.billing.subscribe(ada.session, yearly));
    const [customer] = [...house.stripe.ledger.store.all('customer')];
    const [method] = [...house.stripe.ledger.store.all('payment_method')].filter(
      (one) => one.customer === customer?.id,
    );
    const [invoice] = [...house.stripe.ledger.store.all('invoice')];
    const before = JSON.stringify(house.stripe.ledger.store.find('subscription', subscriptionId));
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
      // A part of a path must not lead elsewhere, and another kind of thing is no card.
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
    expect(JSON.stringify(house.stripe.ledger.store.find('subscription', subscriptionId))).toBe(before);
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
    expect(await house.billing.entitlements(eve.session.userId)).toEqual([]);
  });

  it('is not confirmed by a reader who has only begun to buy', async () => {
    const [ada, eve] = [await reader(), await reader()];
    const asks = { ...yearly, payment_method: 'pm_card_threeDSecure2Required' };
    const hers = paid(await house.billing.subscribe(ada.session, asks));
    paid(await house.billing.subscribe(eve.session, asks));
    house.stripe.finishChallenge(hers.clientSecret?.split('_secret_')[0] ?? '', true);
    const body = { subscriptionId: hers.subscriptionId };
    const path = 'blaize/payment/stripe/subscription/confirmation.ts';
    expect((await ask(path, { method: 'POST', body, cookies: eve.cookies })).status).toBe(404);
    expect(await house.billing.entitlements(eve.session.userId)).toEqual([]);
    expect((await ask(path, { method: 'POST', body, cookies: ada.cookies })).status).toBe(200);
  });

  it('is no attempt of one’s own', async () => {
    const [ada, eve] = [await reader(), await reader()];
    const attempt = randomUUID();
    const hers = paid(await house.billing.subscribe(ada.session, { ...yearly, attempt }));
    const own = paid(await house.billing.subscribe(eve.session, { ...yearly, attempt }));
    expect(own.subscriptionId).not.toBe(hers.subscriptionId);
    expect(own.grant_id).not.toBe(hers.grant_id);
    expect(charges()).toHaveLength(2);
  });
});

describe('guesses at coupons', () => {
  const few = { most: 7, seconds: 600 };
  const many = { most: 1000, seconds: 600 };
  const guess = (at: number, more: Partial<Asked> = {}) =>
    ask('api/v1/checkout/get-coupon.ts', { method: 'POST', body: { couponCode: `GUESS${at}` }, ...more });
  const hundred = (how: (at: number) => Promise<Answered>) =>
    Promise.all(Array.from({ length: 100 }, (_, at) => how(at)));
  const counted = (answers: readonly Answered[]) =>
    [404, 429].map((wanted) => answers.filter((answer) => answer.status === wanted).length);

  it.each([
    ['of an address', { address: few, email: many, overall: many }],
    ['of all readers', { address: many, email: many, overall: few }],
  ])('%s end at the limit, a hundred at once', async (of, coupon) => {
    await house.stop();
    await open({ ...defaultLimits, coupon });
    const answers = await hundred((at) => guess(at, of === 'of all readers' ? { address: `198.51.100.${at}` } : {}));
    expect(counted(answers)).toEqual([7, 93]);
    const late = answers.find((answer) => answer.status === 429)?.json;
    expect(late).toMatchObject({ retryAfter: expect.any(Number), amount_off: null, percent_off: null });
  });

  it('of a reader end at the limit, a hundred at once by every way, from ever new addresses', async () => {
    await house.stop();
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

  it('are bounded from the start', () => {
    const { address, email, overall } = defaultLimits.coupon;
    for (const limit of [address, email])
      expect((limit?.most ?? 1e9) / (limit?.seconds ?? 1)).toBeLessThanOrEqual(1 / 30);
    expect((overall?.most ?? 1e9) / (overall?.seconds ?? 1)).toBeLessThan(2);
  });
});

describe.each(webhooks)('a webhook at %s', (path) => {
  const sign = (payload: string, secret: string, at = house.accounts.clock.now) =>
    house.dashboard.webhooks.generateTestHeaderString({ payload, secret, timestamp: Math.floor(at / 1000) });
  const send = (raw: string, signature: string | null) =>
    ask(path, {
      method: 'POST',
      raw,
      headers: { origin: null, 'sec-fetch-site': null, 'stripe-signature': signature },
    });
  const seen = async () =>
    (await house.database.db.selectFrom('stripe_events').select('id').execute()).length +
    (await house.database.db.selectFrom('jobs').select('subject').where('queue', '=', 'stripe').execute()).length;

  it('is Stripe’s, or nothing', async () => {
    const { session } = await reader();
    const { subscriptionId } = paid(
      await house.billing.subscribe(session, { ...yearly, payment_method: 'pm_card_threeDSecure2Required' }),
    );
    const forged = JSON.stringify({
      id: 'evt_forged',
      object: 'event',
      type: 'invoice.paid',
      created: 1,
      livemode: false,
      data: {
        object: { id: subscriptionId, object: 'subscription', status: 'active', latest_invoice: { status: 'paid' } },
      },
    });
    const now = house.accounts.clock.now;
    const good = sign(forged, webhookSecret);
    const tries: readonly (readonly [string, string | null])[] = [
      [forged, null],
      [forged, ''],
      [forged, 't=1,v1=0'],
      [forged, good.replace(/v1=.*/, 'v1=')],
      [forged, good.replace('v1=', 'v0=')],
      [forged, sign(forged, 'whsec_of_another_account')],
      [forged, sign(forged, '')],
      [forged, sign(forged, webhookSecret, now - 301_000)],
      [`${forged} `, good],
      [forged.replace('"status":"active"', '"status":"trialing"'), good],
      [forged, `${good.split(',')[0]},v1=${'0'.repeat(64)}`],
      ['', sign('', webhookSecret)],
      ['[]', sign('[]', webhookSecret)],
      ['null', sign('null', webhookSecret)],
      ['{"id":{},"type":[]}', sign('{"id":{},"type":[]}', webhookSecret)],
    ];
    for (const [raw, signature] of tries) {
      const answer = await send(raw, signature);
      expect([answer.status, raw.slice(0, 20), signature?.slice(0, 30)]).toEqual([
        400,
        raw.slice(0, 20),
        signature?.slice(0, 30),
      ]);
    }
    expect(await seen()).toBe(0);
    // Signed or not, what it says is not believed: Stripe is asked.
    expect((await send(forged, good)).status).toBe(200);
    await house.billing.drain();
    expect(await house.billing.entitlements(session.userId)).toEqual([]);
  });

  it('that comes again is no news, and names nothing but what Stripe numbers', async () => {
    const { session } = await reader();
    paid(await house.billing.subscribe(session, yearly));
    await house.deliver();
    const before = await seen();
    const [event] = [...house.stripe.ledger.store.all('event')].filter(({ type }) => type === 'invoice.paid');
    const replayed = JSON.stringify(event);
    for (let time = 0; time < 3; time++) {
      const answer = await send(replayed, sign(replayed, webhookSecret));
      expect([answer.status, answer.json.message]).toEqual([200, 'Received before.']);
    }
    expect(await seen()).toBe(before);
    for (const id of [
      "sub_'; drop table subscriptions; --",
      'sub_../customers',
      'cus_x',
      { id: 'sub_x y' },
      ['sub_x'],
      `sub_${'x'.repeat(300)}`,
    ]) {
      const odd = JSON.stringify({
        id: `evt_${randomUUID()}`,
        object: 'event',
        type: 'customer.subscription.updated',
        data: { object: { id, object: 'subscription', customer: id, subscription: id } },
      });
      expect((await send(odd, sign(odd, webhookSecret))).status).toBe(200);
      await house.billing.drain();
    }
    const kept = await house.database.db.selectFrom('subscriptions').select('id').execute();
    expect(kept.every((row) => /^sub_\w+$/.test(row.id))).toBe(true);
    expect(kept).toHaveLength(1);
  });
});

describe('calls', () => {
  it.each([
    ['another site', { origin: 'https://other.example', 'sec-fetch-site': 'cross-site' }],
    ['another site, by an old browser', { origin: 'https://other.example', 'sec-fetch-site': null }],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['a sister domain', { origin: 'https://blog.paper.example', 'sec-fetch-site': 'same-site' }],
    ['the same host by http', { origin: 'http://paper.example', 'sec-fetch-site': 'cross-site' }],
    ['nowhere, with cookies', { origin: null, 'sec-fetch-site': null }],
  ])('from %s do nothing', async (_, headers) => {
    const { cookies } = await reader();
    const before = things();
    for (const { path, ...asked } of writing) {
      expect((await ask(path, { ...asked, headers, cookies, id: 'sub_x' })).status, path).toBe(403);
    }
    expect(things()).toBe(before);
    expect(await house.database.db.selectFrom('customers').select('user_id').execute()).toEqual([]);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    '',
  ])('as %j are refused', async (type) => {
    const { cookies } = await reader();
    const before = things();
    for (const { path, method, body } of writing) {
      if (!body) continue;
      const answer = await ask(path, { method, body, headers: { 'content-type': type }, cookies });
      expect(answer.status, path).toBe(415);
    }
    expect(things()).toBe(before);
  });

  it('take no session that has ended, or that never was', async () => {
    const [late, out] = [await reader(), await reader()];
    await house.accounts.accounts.logout(out.session, 'EVERYWHERE');
    const none = [
      out.cookies,
      undefined,
      '',
      'blaize_session=x',
      `blaize_session=${'a'.repeat(43)}`,
      late.cookies.replace(/(blaize_session=.)./, '$1_'),
    ];
    const before = things();
    for (const cookies of none) {
      for (const { path, ...asked } of guarded) {
        const answer = await ask(path, { ...asked, id: 'sub_x', ...(cookies !== undefined && { cookies }) });
        expect(answer.status, `${path} ${cookies}`).toBe(401);
      }
    }
    await house.pass(400 * day);
    for (const { path, ...asked } of guarded) {
      expect((await ask(path, { ...asked, id: 'sub_x', cookies: late.cookies })).status, path).toBe(401);
    }
    expect(things()).toBe(before);
  });

  it('that are too long, too deep or no JSON are refused before they are read', async () => {
    const { cookies } = await reader();
    const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    for (const { path, method, body } of writing) {
      if (!body) continue;
      const padded = JSON.stringify({ ...body, padding: 'x'.repeat(17_000) });
      const sent = async (raw: string) => (await ask(path, { method, raw, cookies })).status;
      expect([await sent(padded), await sent(deep(40)), await sent('{')], path).toEqual([413, 400, 400]);
    }
  });

  it('with fields of another kind are refused, and change no prototype', async () => {
    const { cookies } = await reader();
    const strange: readonly unknown[] = [
      null,
      true,
      1.5,
      -1,
      [],
      ['reader-yearly'],
      {},
      { $ne: null },
      '',
      'x'.repeat(2000),
      { toString: 'x' },
    ];
    for (const { path, method, body = {} } of writing) {
      for (const field of Object.keys(body)) {
        for (const value of strange) {
          const answer = await ask(path, { method, body: { ...body, [field]: value }, cookies, id: 'sub_x' });
          expect(answer.status, `${path} ${field} ${JSON.stringify(value)} ${answer.text}`).toBeLessThan(500);
          // A telephone and a reason may be left out.
          const empty = (value === null || value === '') && (field === 'phone' || field === 'reason');
          if (!empty) expect(answer.status, `${path} ${field} ${JSON.stringify(value)}`).not.toBe(200);
        }
      }
      for (const key of ['__proto__', 'constructor', 'prototype']) {
        const raw = `{${JSON.stringify(body).slice(1, -1)}${Object.keys(body).length > 0 ? ',' : ''}"${key}":{"polluted":true,"plan_id":"reader-monthly"}}`;
        expect((await ask(path, { method, raw, cookies, id: 'sub_x' })).status, path).toBeLessThan(500);
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      }
    }
    expect(charges().every(({ amount }) => amount === 11_000)).toBe(true);
  });
});

describe('secrets and people', () => {
  it('stand in no log, and in no answer that is not the reader’s own', async () => {
    const { cookies, session } = await reader();
    const answers: string[] = [];
    const post = async (path: string, body: unknown, more: Partial<Asked> = {}) => {
      const answer = await ask(path, { method: 'POST', body, cookies, ...more });
      answers.push(answer.text);
      return answer;
    };
    const trouble = async (fault: object, work: () => Promise<unknown>) => {
      house.stripe.faults.add(fault);
      await work();
      house.stripe.faults.clear();
    };
    const subscribe = 'blaize/payment/stripe/subscribe.ts';
    await trouble({ path: '/v1/customers', status: 500 }, () => post('api/v1/me/shipping.ts', home));
    await trouble({ path: '/v1/customers', method: 'POST', status: 0 }, () => post(subscribe, yearly));
    for (const card of ['chargeDeclined', 'visa_chargeDeclinedInsufficientFunds', 'threeDSecure2Required', 'nothing']) {
      await post(subscribe, { ...yearly, attempt: randomUUID(), payment_method: `pm_card_${card}` });
    }
    for (const when of ['before', 'after'] as const) {
      for (const path of ['/v1/subscriptions', '/v1/payment_intents', '/v1/invoices']) {
        await trouble({ path, status: 500, when }, () => post(subscribe, { ...yearly, plan_id: 'reader-monthly' }));
      }
    }
    await post(subscribe, { ...yearly, discount_code: 'ada@example.com' });
    await post(subscribe, yearly);
    await trouble({ path: '/v1/customers', status: 400 }, () =>
      post('api/v1/me/shipping.ts', { ...home, name: 'Ada King Lovelace' }),
    );
    await post('api/v1/me/payment-method.ts', { payment_method: 'pm_card_chargeCustomerFail' });
    await post('api/v1/me/payment-method.ts', { payment_method: 'pm_card_visa' });
    await post('zephr/payment/stripe/setupIntentSecret.ts', {});
    await post('api/v1/me/subscription/switch.ts', { plan_id: 'member-yearly', attempt: randomUUID() });
    await post('api/v1/me/subscription/cancel.ts', {
      reason: 'Ada Lovelace, ada@example.com, has moved to 280 Broadway',
    });
    await ask('api/v1/stripe/webhook.ts', {
      method: 'POST',
      raw: '{"customer_email":"ada@example.com"}',
      headers: { 'stripe-signature': 't=1,v1=ada@example.com' },
    });
    await trouble({ path: '/v1/subscriptions', status: 500, times: 9 }, () => house.deliver());
    await house.deliver();
    await house.billing.recover();
    await house.billing.compare();
    for (const path of [
      'api/v1/checkout/plans.ts',
      'blaize/payment/stripe/publicKey.ts',
      'api/v1/me/subscription/index.ts',
    ]) {
      answers.push((await ask(path, { method: 'GET', cookies })).text);
    }
    const log = logged.join('');
    expect(logged.length).toBeGreaterThan(3);
    const { secret, publishable } = house.stripe.keys;
    for (const hidden of [
      secret,
      webhookSecret,
      session.email,
      'ada@',
      'Lovelace',
      'Broadway',
      '10007',
      '12125550183',
      '_secret_',
      cookies,
    ]) {
      expect(
        log,
        `the log names ${hidden}: ${logged.find((line) => line.includes(hidden))?.slice(0, 600)}`,
      ).not.toContain(hidden);
    }
    const said = answers.join('\n');
    for (const hidden of [secret, webhookSecret, 'sk_', 'whsec_']) expect(said).not.toContain(hidden);
    expect(said).toContain(publishable);
    // The card's own words reach the reader, what is behind them does not.
    expect(said).not.toMatch(/client_secret|request_log_url|stack|node_modules|last_payment_error/);
  });

  it('stand in no error that is logged', () => {
    const lines: string[] = [];
    const log = createLog('debug', { write: (line: string) => void lines.push(line) });
    const error = new Stripe.errors.StripeInvalidRequestError({
      type: 'invalid_request_error',
      code: 'payment_intent_unexpected_state',
      param: 'ada@example.com',
      message: 'No such customer: "ada@example.com"',
      payment_intent: { id: 'pi_1', client_secret: 'pi_1_secret_2', receipt_email: 'ada@example.com' } as never,
      headers: { 'stripe-account': 'acct_1' },
      statusCode: 400,
    });
    log.error({ err: new Error('It failed', { cause: error }) }, 'A call failed');
    expect(lines.join('')).toMatch(/It failed: No such customer/);
    expect(lines.join('')).not.toMatch(/ada@|_secret_|acct_1/);
  });

  it('reach a browser in one key, which can only make cards', async () => {
    const { publishableKey } = (await ask('api/v1/checkout/plans.ts', { method: 'GET' })).json as {
      publishableKey: string;
    };
    expect(publishableKey).toMatch(/^pk_/);
    const told = (await ask('blaize/payment/stripe/publicKey.ts', { method: 'GET' })).json;
    expect(told).toBe(publishableKey);
    const { session } = await reader();
    paid(await house.billing.subscribe(session, yearly));
    for (const path of ['customers', 'subscriptions', 'charges', 'invoices', 'payment_intents', 'prices', 'events']) {
      const answer = await fetch(`http://stripe.test/v1/${path}`, {
        headers: { authorization: `Bearer ${publishableKey}` },
      });
      expect(answer.status, path).toBeGreaterThanOrEqual(401);
    }
  });
});
