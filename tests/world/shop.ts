/**
 * A separate site with its own Stripe, so that a test that moves Stripe's clock doesn't renew another test's subscription. The edition is a
 * copy of the world's, and its mailbox is the world's.
 */
import type { BrowserContext } from '@playwright/test';
import { expect } from '@playwright/test';
import { type RunningStripe, startStripe } from '../../sandbox/stripe/stripe.ts';
import type { Environment } from '../../scripts/settings.ts';
import { freePort } from '../../scripts/setup/ports.mjs';
import { controlStripe } from './checkout.ts';
import { type OwnSite, startOwnSite } from './own-site.ts';
import { newEmail, signInAt } from './sign-in.ts';

export interface Shop extends OwnSite {
  readonly stripe: RunningStripe;
  /** Moves Stripe's clock. */
  pass(time: { readonly days: number }): Promise<void>;
}

/** @param settings further ones, as in `.env` */
export async function openShop(settings: Environment = {}): Promise<Shop> {
  const port = await freePort();
  const stripe = await startStripe({ siteUrl: `http://127.0.0.1:${port}` });
  const { access } = stripe;
  const own = await startOwnSite(
    {
      STRIPE_SECRET_KEY: access.secretKey,
      STRIPE_PUBLISHABLE_KEY: access.publishableKey,
      STRIPE_WEBHOOK_SECRET: access.webhookSecret,
      STRIPE_API_URL: access.apiUrl,
      STRIPE_JS_URL: access.scriptUrl,
      ...settings,
    },
    port,
  );
  return {
    ...own,
    stripe,
    pass: async (time) => void (await controlStripe('clock', time, access.apiUrl)),
    async stop() {
      await own.stop();
      await stripe.stop();
    },
  };
}

/** Makes an account on a shop's site and signs the context in to it. @returns its address */
export async function enterAt({ site, dataDir }: Shop, context: BrowserContext): Promise<string> {
  const email = newEmail();
  await signInAt(context, email, site, dataDir);
  return email;
}

/** As {@link enterAt}, and subscribes by the calls of spec section 7. */
export async function subscribeAt(shop: Shop, context: BrowserContext, plan: string): Promise<string> {
  const email = await enterAt(shop, context);
  const product_id = plan.startsWith('reader') ? 'sun-reader' : 'sun-member';
  const bought = await context.request.post('/blaize/payment/stripe/subscribe', {
    headers: { origin: shop.site },
    data: { payment_method: 'pm_card_visa', product_id, plan_id: plan },
  });
  expect(bought.status(), await bought.text()).toBe(200);
  return email;
}
