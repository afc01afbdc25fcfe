/**
 * A site of its own with a Stripe of its own, for tests that move Stripe's clock: nobody else's subscription is renewed by it. It
 * has no WordPress; mail goes to the world's mailbox.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningStripe, startStripe } from '../../sandbox/stripe/stripe.ts';
import { sandboxEnvironment } from '../../scripts/sandbox.ts';
import { freePort } from '../../scripts/setup/ports.mjs';
import { startSite } from '../../scripts/site.ts';
import { ask } from './checkout.ts';
import { testSandbox } from './world.ts';

export interface Shop {
  readonly site: string;
  readonly stripe: RunningStripe;
  /** Moves Stripe's clock. */
  pass(time: { readonly days: number } | { readonly to: 'next-renewal' }): Promise<void>;
  stop(): Promise<void>;
}

export async function openShop(): Promise<Shop> {
  const port = await freePort();
  const site = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'shop-'));
  const stripe = await startStripe({ siteUrl: site });
  const {
    WORDPRESS_URL: _,
    WORDPRESS_USER: __,
    WORDPRESS_APP_PASSWORD: ___,
    NEWSROOM_SECRET: ____,
    ...settings
  } = sandboxEnvironment({ ...testSandbox(), stripe: stripe.access }, {});
  const running = startSite(
    {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', HOST: '127.0.0.1' },
      ...{ PORT: String(port), DATA_DIR: folder, TRUSTED_PROXIES: '1' },
      ...settings,
    },
    join(folder, 'site.log'),
  );
  await running.listening;
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
