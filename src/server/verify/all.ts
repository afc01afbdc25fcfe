/** All checks of `npm run verify`, created from the settings. */
import { graphVersion } from '../../lib/accounts/social-providers.server.ts';
import { openStripe } from '../../lib/billing/engine/stripe.server.ts';
import type { Logger } from '../../lib/logging.ts';
import { offerOf } from '../../lib/plans/model.ts';
import { publication } from '../../publication.ts';
import type { Config } from '../config/config.ts';
import { facebookCheck, googleCheck, mailCheck, verifierCheck, zephrCheck } from './accounts.ts';
import type { Check } from './checks.ts';
import { stripeAccountCheck } from './stripe-account.ts';
import { stripeSalesChecks } from './stripe-sales.ts';
import { bucketCheck, cdnCheck, pushCheck, searchCheck, tagsCheck, tickerCheck } from './vendors.ts';
import { wordpressCheck } from './wordpress.ts';

export interface VerifyOptions {
  readonly config: Config;
  /** Version of the newsroom plugin in this release. */
  readonly pluginVersion: string;
  /** Recipient of a test message; `null`: none is sent. */
  readonly mailTo: string | null;
  readonly log: Logger;
}

/** The checks in the order in which they run: the basics first, Stripe's sales, which take minutes, last. */
export function allChecks({ config, pluginVersion, mailTo, log }: VerifyOptions): Check[] {
  const { siteUrl, stripe: settings } = config;
  const missing = stripeMissing(settings?.secretKey);
  const stripe = settings && missing === null ? openStripe(settings, throughFetch) : null;
  const plans = offerOf([]).plans.map(({ id }) => id);
  return [
    wordpressCheck(config.wordpress, siteUrl, pluginVersion),
    mailCheck(config.mail, mailTo),
    googleCheck(config.accounts.google, `${siteUrl}/blaize/oauth/google/callback`),
    facebookCheck(config.accounts.facebook, graphVersion),
    searchCheck(config.algolia, log),
    cdnCheck(config.cdn, siteUrl, log),
    bucketCheck(config.assetsBucket),
    verifierCheck(config.emailVerifier, publication.contact.email),
    tickerCheck(
      config.ticker,
      publication.ticker.symbols.map(({ symbol }) => symbol),
    ),
    pushCheck(config.push),
    zephrCheck(config.zephrUrl),
    ...tagsCheck(config.thirdParties, config.consentPlatform, config.retention?.scriptUrl),
    ...stripeAccountCheck({ stripe, missing, siteUrl, scriptUrl: settings?.scriptUrl ?? '', plans }),
    ...stripeSalesChecks(stripe && settings ? { stripe, settings, siteUrl, log } : null, missing),
  ];
}

/** The global `fetch` at the time of the call, so that a recorder sees these requests, too. */
const throughFetch: typeof fetch = (input, init) => globalThis.fetch(input, init);

/** Live mode refuses test cards, and a check may not cost money. */
function stripeMissing(secretKey: string | undefined): string | null {
  if (secretKey === undefined) return 'set STRIPE_SECRET_KEY, STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET';
  if (/^[sr]k_test_/.test(secretKey)) return null;
  return 'STRIPE_SECRET_KEY is a live key; run this with both test keys of the same account (STRIPE_SECRET_KEY=sk_test_… STRIPE_PUBLISHABLE_KEY=pk_test_…)';
}
