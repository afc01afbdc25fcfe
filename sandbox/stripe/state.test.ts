import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setupServer } from 'msw/node';
import Stripe from 'stripe';
import { afterEach, describe, expect, it } from 'vitest';
import { stripeHandlers } from './handlers.ts';
import { openState } from './state.ts';
import { itemOf, newYear, openFixture } from './testing.ts';

const folders: string[] = [];
const folder = (): string => {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'stripe-'));
  folders.push(made);
  return made;
};
afterEach(() => {
  for (const made of folders.splice(0)) fs.rmSync(made, { recursive: true, force: true });
});

describe('the sandbox’s Stripe handlers', () => {
  it('answer the SDK at Stripe’s own address without a server', async () => {
    const state = openState({ systemTime: () => newYear * 1000 });
    const server = setupServer(...stripeHandlers(state));
    server.listen({ onUnhandledFrame: 'error' });
    try {
      const stripe = new Stripe(state.keys.secret, { httpClient: Stripe.createFetchHttpClient() });
      const { id } = await stripe.customers.create({});
      const made = await stripe.subscriptions.create({ customer: id, items: [{ price: 'price_reader_monthly' }] });
      expect(made.status).toBe('incomplete');
      expect((await stripe.invoices.list({ customer: id })).data).toHaveLength(1);
    } finally {
      server.close();
      state.close();
    }
  });
});

describe('the sandbox’s Stripe data', () => {
  it('survives a restart, including the clock and the idempotency keys', async () => {
    const data = folder();
    const first = await openFixture({ folder: data });
    const { id } = await first.createPayingCustomer();
    const made = await first.subscribe(id, 'price_reader_monthly');
    const once = await first.stripe.customers.create({}, { idempotencyKey: 'once' });
    first.state.advance(40 * 86_400);
    await first.stop();
    const second = await openFixture({ folder: data });
    expect(second.state.now()).toBe(newYear + 40 * 86_400);
    expect(itemOf(await second.stripe.subscriptions.retrieve(made.id)).current_period_start).toBe(
      Date.UTC(2026, 1, 1) / 1000,
    );
    expect((await second.stripe.customers.create({}, { idempotencyKey: 'once' })).id).toBe(once.id);
    expect((await second.stripe.prices.list({ limit: 100 })).data).toHaveLength(6);
    await second.stop();
  });
});
