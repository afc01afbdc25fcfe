/** The sandbox's Stripe keeps everything that it has acknowledged, whenever it is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Stripe from 'stripe';
import { afterEach, expect, it } from 'vitest';
import { openState } from '../../sandbox/stripe/state.ts';

const rounds = 3;
const program = path.join(import.meta.dirname, '../../sandbox/stripe/stripe.ts');
const data = fs.mkdtempSync(path.join(os.tmpdir(), 'stripe-'));
const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  fs.rmSync(data, { recursive: true, force: true });
});

/** A new process on the folder, and an SDK client for it. */
async function start(): Promise<{ child: ChildProcess; stripe: Stripe }> {
  const script = `
    import { startStripe } from ${JSON.stringify(program)};
    const { access } = await startStripe({ folder: ${JSON.stringify(data)} });
    console.log(JSON.stringify(access));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.add(child);
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (text: Buffer) => resolve(text.toString()));
    child.once('exit', () => reject(new Error('It ended before it was ready.')));
  });
  const { apiUrl, secretKey } = JSON.parse(line) as { apiUrl: string; secretKey: string };
  const { hostname, port } = new URL(apiUrl);
  return { child, stripe: new Stripe(secretKey, { host: hostname, port, protocol: 'http', maxNetworkRetries: 0 }) };
}

it('when the Stripe sandbox is killed, it keeps every purchase that it answered, with a paid invoice', async () => {
  const answered: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { child, stripe } = await start();
    const { id: customer } = await stripe.customers.create({});
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer });
    const dead = new Promise((resolve) => child.once('exit', resolve));
    const enough = answered.length + 3 + round * 2;
    for (;;) {
      const made = await stripe.subscriptions
        .create({ customer, items: [{ price: 'price_reader_monthly' }], default_payment_method: card.id })
        .catch(() => null);
      if (!made) break;
      answered.push(made.id);
      // During the next request.
      if (answered.length === enough) setTimeout(() => child.kill('SIGKILL'), round * 3);
    }
    await dead;
  }
  const state = openState({ file: path.join(data, 'stripe.sqlite') });
  try {
    const there = [...state.account.store.all('subscription')];
    expect(answered.length).toBeGreaterThanOrEqual(rounds * 3);
    expect(answered.filter((id) => !there.some((one) => one.id === id))).toEqual([]);
    for (const subscription of there) {
      const invoice = state.account.store.find('invoice', subscription.latest_invoice ?? '');
      expect([subscription.status, invoice?.status, invoice?.amount_paid]).toEqual(['active', 'paid', 1200]);
    }
  } finally {
    state.close();
  }
});
