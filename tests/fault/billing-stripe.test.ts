/**
 * Stripe fails at every call of a purchase: it answers 500 before or after it has executed the call, breaks the connection, answers with
 * garbage, or never. The response asks the reader to try again, and a second try buys once.
 */
import { randomUUID } from 'node:crypto';
import Stripe from 'stripe';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { apiVersion } from '../../src/lib/billing/engine/stripe.server.ts';
import { type BillingFixture, billingFixture, day, paid } from '../world/billing.ts';
import { prepare } from '../world/databases.ts';

const yearly = { payment_method: 'pm_card_visa', product_id: 'sun-reader', plan_id: 'reader-yearly' };

/** Every call that a purchase makes. */
const calls = [
  ...[['GET', '/v1/customers'] as const, ['POST', '/v1/customers'] as const, ['GET', '/v1/subscriptions'] as const],
  ...[['POST', '/v1/invoices/create_preview'] as const, ['POST', '/v1/subscriptions'] as const],
  ...[['GET', '/v1/subscriptions/'] as const, ['GET', '/v1/payment_intents/'] as const],
  ...[['POST', '/v1/payment_intents/'] as const, ['GET', '/v1/invoices'] as const, ['GET', '/v1/charges'] as const],
];
const failures = [
  ['answers 500 before it executes the call', { status: 500, when: 'before' }],
  ['answers 500 after it executes the call', { status: 500, when: 'after' }],
  ['breaks the connection before it executes the call', { status: 0, when: 'before' }],
  ['breaks the connection after it executes the call', { status: 0, when: 'after' }],
  ['executes the call after the caller has stopped waiting', { delay: 2500, when: 'before' }],
  ['executes the call but never answers', { hang: true, when: 'after' }],
  ['answers 429', { status: 429, when: 'before' }],
] as const;

describe('Stripe', () => {
  const engines = prepare('sqlite');
  let fixture: BillingFixture;
  afterEach(() => fixture?.stop());

  async function begin(): Promise<void> {
    fixture = await billingFixture(await engines.open());
  }
  /** A client with short timeouts. */
  const impatient = () =>
    fixture.another({
      stripe: new Stripe(fixture.stripe.keys.secret, {
        apiVersion,
        host: 'stripe.test',
        protocol: 'http',
        maxNetworkRetries: 0,
        timeout: 1500,
        // Node's own client measures the silence of a socket, and a request without a socket has none.
        httpClient: Stripe.createFetchHttpClient(fixture.fetch),
      }),
    });

  it.each(failures)('%s, at any call of a purchase: the retry buys once', async (_, fault) => {
    await begin();
    const billing = await impatient();
    let sold = 0;
    for (const [method, path] of calls) {
      const where = `${method} ${path}`;
      const session = await fixture.readers.join(`reader-${sold}@example.com`);
      const body = { ...yearly, expected: 12_000, attempt: randomUUID() };
      fixture.stripe.faults.add({ method, path, ...fault });
      const first = await billing.subscribe(session, body);
      if (!first.ok)
        expect([first.status, first.error.message], where).toEqual([503, 'Something went wrong. Please try again.']);
      expect(fixture.stripe.faults.list(), `The fault was met: ${where}`).toEqual([]);
      fixture.stripe.faults.clear();
      // While Stripe is working on the first request, it answers 409, and so does the site.
      await vi.waitFor(
        async () => {
          const next = await fixture.billing.subscribe(session, body);
          expect(next, where).toMatchObject({ ok: true, value: { grant_id: expect.any(String) } });
        },
        { interval: 200 },
      );
      const charges = (await fixture.dashboard.charges.list({ limit: 100 })).data.filter(({ paid: was }) => was);
      const subscriptions = (await fixture.dashboard.subscriptions.list({ status: 'all', limit: 100 })).data;
      expect([charges.length, subscriptions.length], where).toEqual([++sold, sold]);
      expect(await billing.entitlements(session.userId), where).toHaveLength(1);
    }
    const customers = (await fixture.dashboard.customers.list({ limit: 100 })).data;
    expect(customers).toHaveLength(sold);
  });

  it.each([
    ['incomplete JSON', 200, '{"id": "sub_1", "obj'],
    ['a proxy’s HTML error page', 502, '<html><body>Bad gateway</body></html>'],
    ['an empty body', 200, ''],
  ])('answers with %s after executing any call of a purchase: the retry buys once', async (_, status, body) => {
    await begin();
    let broken: readonly [method: string, path: string] | null = null;
    let met = false;
    const billing = await fixture.another({
      stripe: new Stripe(fixture.stripe.keys.secret, {
        apiVersion,
        host: 'stripe.test',
        protocol: 'http',
        maxNetworkRetries: 0,
        httpClient: Stripe.createFetchHttpClient(async (input: string | URL | Request, init?: RequestInit) => {
          const response = await fixture.fetch(input, init);
          const { pathname } = new URL(input instanceof Request ? input.url : input);
          const isBroken = broken && init?.method === broken[0] && pathname.startsWith(broken[1]);
          met ||= Boolean(isBroken);
          return isBroken ? new Response(body, { status }) : response;
        }),
      }),
    });
    let sold = 0;
    for (const [method, path] of calls) {
      const where = `${method} ${path}`;
      const session = await fixture.readers.join(`reader-${sold}@example.com`);
      const purchase = { ...yearly, expected: 12_000, attempt: randomUUID() };
      broken = [method, path];
      met = false;
      const first = await billing.subscribe(session, purchase);
      if (!first.ok)
        expect([first.status, first.error.message], where).toEqual([503, 'Something went wrong. Please try again.']);
      expect(met, where).toBe(true);
      broken = null;
      await vi.waitFor(
        async () =>
          expect(await billing.subscribe(session, purchase), where).toMatchObject({
            ok: true,
            value: { grant_id: expect.any(String) },
          }),
        { interval: 200 },
      );
      const charges = (await fixture.dashboard.charges.list({ limit: 100 })).data.filter(({ paid: was }) => was);
      const subscriptions = (await fixture.dashboard.subscriptions.list({ status: 'all', limit: 100 })).data;
      expect([charges.length, subscriptions.length], where).toEqual([++sold, sold]);
    }
  });

  it('is down: readers keep their access and see prices, and purchases and changes answer 503', async () => {
    await begin();
    const { billing, readers, stripe } = fixture;
    const [ada, eve] = [await readers.join('ada@example.com'), await readers.join('eve@example.com')];
    paid(await billing.subscribe(ada, yearly));
    stripe.faults.add({ status: 500, times: 10_000 });
    expect(await billing.entitlements(ada.userId)).toHaveLength(1);
    expect(await billing.subscription(ada)).toMatchObject({ planId: 'reader-yearly' });
    expect(billing.prices()).toHaveLength(6);
    for (const refused of [
      await billing.subscribe(eve, yearly),
      await billing.quote(null, { planId: 'reader-yearly' }),
      await billing.coupon('TENOFF', null, { session: null, clientAddress: '203.0.113.1' }),
      await billing.cancel(ada, null),
      await billing.switchPlan(ada, { planId: 'member-yearly' }),
      await billing.setupIntent(ada),
    ]) {
      expect(refused).toMatchObject({ ok: false, status: 503, error: { retryAfter: 5 } });
    }
    await billing.personalData.erase(ada, null);
    await billing.drain();
    stripe.faults.clear();
    // The call that failed then is made later.
    await fixture.pass(10 * 60);
    await billing.drain();
    const left = (await fixture.dashboard.subscriptions.list({ status: 'all' })).data;
    expect(left.map(({ status }) => status)).toEqual(['canceled']);
  });

  it('gets purchases from two processes at once: the reader has one subscription and one charge', async () => {
    await begin();
    const [one, two] = await Promise.all([fixture.another(), fixture.another()]);
    for (let round = 0; round < 8; round++) {
      const session = await fixture.readers.join(`reader-${round}@example.com`);
      const body = { ...yearly, expected: 12_000 };
      const attempt = randomUUID();
      const same = round % 2 === 0;
      await Promise.all([
        one?.subscribe(session, { ...body, attempt }),
        two?.subscribe(session, { ...body, attempt: same ? attempt : randomUUID() }),
      ]);
      // A reader who was told to wait tries again.
      await vi.waitFor(async () => {
        await one?.subscribe(session, { ...body, attempt });
        expect(await fixture.billing.entitlements(session.userId)).toHaveLength(1);
      });
      expect((await fixture.dashboard.charges.list({ limit: 100 })).data.filter(({ paid: was }) => was)).toHaveLength(
        round + 1,
      );
      const running = (await fixture.dashboard.subscriptions.list({ limit: 100 })).data;
      expect(running.filter(({ status }) => status === 'active')).toHaveLength(round + 1);
    }
  });

  it('would charge more than the button showed: nothing is charged, and the response names the amount', async () => {
    await begin();
    const { billing, readers, dashboard } = fixture;
    const session = await readers.join('ada@example.com');
    const refused = await billing.subscribe(session, { ...yearly, expected: 9900 });
    expect(refused).toMatchObject({ ok: false, status: 409, error: { due: 12_000, code: 'amount_changed' } });
    expect((await dashboard.charges.list()).data).toEqual([]);
    expect((await dashboard.subscriptions.list({ status: 'all' })).data).toEqual([]);
  });

  it('gets no subscription for a plan that isn’t sold or doesn’t belong to the product', async () => {
    await begin();
    const { billing, readers, dashboard } = fixture;
    const session = await readers.join('ada@example.com');
    for (const change of [
      { plan_id: 'price_reader_yearly' },
      { plan_id: 'nothing' },
      { product_id: 'sun-member' },
      { product_id: 'sun-reader', plan_id: 'member-yearly' },
      { plan_id: '__proto__' },
    ]) {
      expect(await billing.subscribe(session, { ...yearly, ...change }), JSON.stringify(change)).toMatchObject({
        status: 400,
      });
    }
    const print = { ...yearly, product_id: 'sun-member', plan_id: 'member-print-yearly' };
    expect(await billing.subscribe(session, print)).toMatchObject({ status: 400, error: { code: 'shipping' } });
    await dashboard.prices.update('price_reader_yearly', { active: false });
    await fixture.deliver();
    expect(await billing.subscribe(session, yearly)).toMatchObject({ status: 400 });
    expect((await dashboard.subscriptions.list({ status: 'all' })).data).toEqual([]);
  });

  it('waits for a bank confirmation that doesn’t come: only another plan, bought later, is charged', async () => {
    await begin();
    const { billing, readers, stripe, dashboard } = fixture;
    const session = await readers.join('ada@example.com');
    const asked = paid(
      await billing.subscribe(session, { ...yearly, payment_method: 'pm_card_threeDSecure2Required' }),
    );
    const other = paid(await billing.subscribe(session, { ...yearly, plan_id: 'reader-monthly' }));
    expect(other.grant_id).not.toBeNull();
    // The first tab's challenge is answered only now.
    const intent = asked.clientSecret?.split('_secret_')[0] ?? '';
    expect(() => stripe.finishChallenge(intent, true)).toThrow('canceled');
    expect(await billing.confirm(session, asked.subscriptionId)).toMatchObject({ ok: false });
    const charges = (await dashboard.charges.list()).data.filter(({ paid: was }) => was);
    expect(charges.map(({ amount }) => amount)).toEqual([1200]);
  });

  it('never gets the bank’s confirmation: the purchase is given up without a charge', async () => {
    await begin();
    const { billing, readers, dashboard, database } = fixture;
    const session = await readers.join('ada@example.com');
    paid(await billing.subscribe(session, { ...yearly, payment_method: 'pm_card_threeDSecure2Required' }));
    await fixture.pass(50 * 60);
    await billing.recover();
    await fixture.pass(2 * day);
    await fixture.deliver();
    const [purchase] = await database.db.selectFrom('purchases').selectAll().execute();
    expect(purchase?.state).toBe('given up');
    expect((await dashboard.charges.list()).data.filter(({ paid: was }) => was)).toEqual([]);
    expect(await billing.entitlements(session.userId)).toEqual([]);
    expect(fixture.mail).toEqual([]);
  });
});
