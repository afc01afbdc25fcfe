/**
 * A site of its own with a Stripe of its own, for tests that move Stripe's clock: nobody else's subscription is renewed by it. The
 * edition is a copy of the world's, and its mailbox is the world's.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type BrowserContext, expect } from '@playwright/test';
import { type RunningStripe, startStripe } from '../../sandbox/stripe/stripe.ts';
import { sandboxEnvironment } from '../../scripts/sandbox.ts';
import { freePort } from '../../scripts/setup/ports.mjs';
import { startSite, waitForEdition } from '../../scripts/site.ts';
import { ask } from './checkout.ts';
import { codeTo, newEmail, newestLetter } from './readers.ts';
import { siteData, testSandbox } from './world.ts';

export interface Shop {
  readonly site: string;
  readonly stripe: RunningStripe;
  /** Moves Stripe's clock. */
  pass(time: { readonly days: number } | { readonly to: 'next-renewal' }): Promise<void>;
  stop(): Promise<void>;
}

/** @param settings further ones, as in `.env` */
export async function openShop(settings: Readonly<Record<string, string>> = {}): Promise<Shop> {
  const port = await freePort();
  const site = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'shop-'));
  const stripe = await startStripe({ siteUrl: site });
  const store = new DatabaseSync(join(siteData, 'content.sqlite'), { readOnly: true });
  store.exec(`VACUUM INTO '${join(folder, 'content.sqlite')}'`);
  store.close();
  const running = startSite(
    {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: folder,
      TRUSTED_PROXIES: '1',
      ...sandboxEnvironment({ ...testSandbox(), stripe: stripe.access }, {}),
      ...settings,
    },
    join(folder, 'site.log'),
  );
  await running.listening;
  const problem = await waitForEdition(site, () => {}, { patienceMs: 60_000, complete: true });
  if (problem) throw new Error(`The shop has no edition: ${problem}.`);
  return {
    site,
    stripe,
    pass: async (time) => void (await ask('clock', time, stripe.access.apiUrl)),
    async stop() {
      await running.stop();
      await stripe.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Makes an account on a shop's site; the context is signed in then. @returns its address */
export async function enterAt({ site }: Pick<Shop, 'site'>, { request }: BrowserContext): Promise<string> {
  const email = newEmail();
  const identifiers = { email_address: email };
  const after = await newestLetter(email);
  const headers = { origin: site };
  const common = { identifiers, action: 'register', method: 'email', redirect: '/' };
  const delivery = { method: 'email', destination: email, action: 'register', redirect: '/' };
  await request.post('/blaize/two-factor-authentication', { headers, data: { ...common, delivery } });
  const { text: code } = await codeTo(email, after);
  const entered = await request.post('/blaize/register', {
    headers,
    data: { attributes: {}, identifiers, validators: { code } },
  });
  expect(entered.status(), await entered.text()).toBe(200);
  return email;
}

/** As {@link enterAt}, and subscribes by the calls of spec section 7. */
export async function subscribeAt(shop: Pick<Shop, 'site'>, context: BrowserContext, plan: string): Promise<string> {
  const email = await enterAt(shop, context);
  const headers = { origin: shop.site };
  const product_id = plan.startsWith('reader') ? 'sun-reader' : 'sun-member';
  const bought = await context.request.post('/blaize/payment/stripe/subscribe', {
    headers,
    data: { payment_method: 'pm_card_visa', product_id, plan_id: plan },
  });
  expect(bought.status(), await bought.text()).toBe(200);
  return email;
}
