import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { day, type Fixture, openFixture } from './testing.ts';

interface Got {
  readonly event: Stripe.Event;
  readonly raw: string;
  readonly signature: string;
}

let fixture: Fixture;
let site: Server;
let got: Got[];
/** Statuses of the next answers; 0 breaks the connection, as a site does that is down. */
let answers: number[];
beforeEach(async () => {
  got = [];
  answers = [];
  site = createServer(async (request, response) => {
    let raw = '';
    for await (const part of request) raw += part;
    const signature = String(request.headers['stripe-signature']);
    if (request.url === '/api/v1/stripe/webhook') got.push({ event: JSON.parse(raw) as Stripe.Event, raw, signature });
    const answer = answers.shift() ?? 200;
    if (answer === 0) response.destroy();
    else response.writeHead(answer).end();
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  fixture = await openFixture({
    siteUrl: `http://127.0.0.1:${(site.address() as AddressInfo).port}`,
    systemTime: Date.now,
  });
});
afterEach(async () => {
  await fixture.stop();
  site.closeAllConnections();
  site.close();
});

const types = () => got.map(({ event }) => event.type);
const settled = () => fixture.control('POST webhooks/settled');

describe('webhooks', () => {
  it('carry a signature that the SDK accepts only with the right secret', async () => {
    const { id } = await fixture.stripe.customers.create({ email: 'a@example.com' });
    await settled();
    const [{ raw, signature } = { raw: '', signature: '' }] = got;
    const event = fixture.stripe.webhooks.constructEvent(raw, signature, fixture.access.webhookSecret);
    expect(event).toMatchObject({ type: 'customer.created', data: { object: { id, email: 'a@example.com' } } });
    expect(() => fixture.stripe.webhooks.constructEvent(raw, signature, 'whsec_other')).toThrow(/signature/);
    expect(() => fixture.stripe.webhooks.constructEvent(`${raw} `, signature, fixture.access.webhookSecret)).toThrow();
    expect(await fixture.stripe.events.retrieve(event.id)).toMatchObject({ id: event.id, pending_webhooks: 0 });
  });

  it('report a purchase and a renewal in order, with the attributes that changed', async () => {
    const { id } = await fixture.createPayingCustomer();
    await fixture.subscribe(id, 'price_reader_monthly');
    await settled();
    const bought = types();
    for (const type of [
      'invoice.finalized',
      'payment_intent.succeeded',
      'invoice.paid',
      'customer.subscription.created',
    ]) {
      expect(bought).toContain(type);
    }
    const inOrder = async () => {
      const { data } = await fixture.stripe.events.list({ limit: 100 });
      const sent = got.map(({ event }) => event.id);
      return [
        sent,
        data
          .map((event) => event.id)
          .reverse()
          .slice(-sent.length),
      ];
    };
    const [sent, made] = await inOrder();
    expect(sent).toEqual(made);
    got = [];
    fixture.state.advance(32 * day);
    await settled();
    const [later, madeLater] = await inOrder();
    expect(later).toEqual(madeLater);
    expect(types()).toContain('invoice.paid');
    const update = got.find(
      ({ event }) =>
        event.type === 'customer.subscription.updated' && 'items' in (event.data.previous_attributes ?? {}),
    );
    expect(update?.event.data.previous_attributes).toHaveProperty('latest_invoice');
  });

  it('are sent again when the site answers with an error or is down', async () => {
    answers = [500, 0];
    await fixture.stripe.customers.create({});
    await expect.poll(() => got.length, { interval: 50 }).toBe(3);
    await settled();
    expect(new Set(got.map(({ event }) => event.id)).size).toBe(1);
    const { deliveries } = await fixture.control('GET webhooks');
    expect(deliveries?.[0]).toMatchObject({
      delivery: { state: 'delivered', attempts: [{ status: 500 }, { status: null }, { status: 200 }] },
    });
  });

  it('can be turned off, and sent again later', async () => {
    await fixture.control('PUT webhooks', { mode: 'off' });
    const { id } = await fixture.stripe.customers.create({});
    await settled();
    expect(got).toEqual([]);
    await fixture.control('PUT webhooks', { mode: 'on' });
    await fixture.control('POST webhooks/resend');
    await settled();
    expect(got.map(({ event }) => (event.data.object as { id: string }).id)).toEqual([id]);
  });

  it('are still sent after a reset that deleted waiting events', async () => {
    await fixture.control('PUT webhooks', { delay: 60_000 });
    await fixture.stripe.customers.create({});
    expect(await fixture.control('GET webhooks')).toMatchObject({ waiting: 1 });
    await fixture.control('POST reset');
    expect(await fixture.control('GET webhooks')).toMatchObject({ waiting: 0 });
    const { id } = await fixture.stripe.customers.create({});
    expect(await settled()).toEqual({ settled: true });
    expect(got.map(({ event }) => (event.data.object as { id: string }).id)).toEqual([id]);
  });

  it('go to an endpoint that the account still lists after a reset', async () => {
    const before = await fixture.stripe.webhookEndpoints.list();
    expect(before.data).toHaveLength(1);
    await fixture.control('POST reset');
    expect((await fixture.stripe.webhookEndpoints.list()).data).toEqual([
      { ...before.data[0], created: expect.any(Number) },
    ]);
  });

  it('can be sent twice, late and out of order', async () => {
    await fixture.control('PUT webhooks', { copies: 2, delay: 60_000, shuffle: 60_000 });
    for (let index = 0; index < 12; index += 1) await fixture.stripe.customers.create({ name: `N${index}` });
    const { waiting } = await fixture.control('GET webhooks');
    expect([waiting, got.length]).toEqual([12, 0]);
    await fixture.control('POST webhooks/flush');
    const names = got.map(({ event }) => (event.data.object as Stripe.Customer).name);
    expect(names).toHaveLength(24);
    expect(new Set(names).size).toBe(12);
    const order = [...new Set(names)];
    expect(order).not.toEqual([...order].sort((one, other) => Number(one?.slice(1)) - Number(other?.slice(1))));
  });
});
