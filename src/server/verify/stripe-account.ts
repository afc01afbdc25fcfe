/**
 * Checks what a Stripe account needs for sales: plans, webhook endpoint, domain, script. It changes only the domain. It also opens the
 * test shop for the purchase checks: the site's billing code, with its own database and one of Stripe's test clocks.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type Stripe from 'stripe';
import type { Session } from '../../lib/accounts/service.ts';
import { createBilling, type RunningBilling } from '../../lib/billing/engine/billing.server.ts';
import { plansOf } from '../../lib/billing/engine/catalog.server.ts';
import { apiVersion } from '../../lib/billing/engine/stripe.server.ts';
import { registerDomain } from '../../lib/billing/engine/wallets.server.ts';
import type { Price } from '../../lib/billing/schema.ts';
import { createHmacs } from '../../lib/crypto.server.ts';
import type { Database } from '../../lib/database.ts';
import { createLimiter } from '../../lib/http/limiter.server.ts';
import { defaultLimits } from '../../lib/http/limits.ts';
import type { Logger } from '../../lib/logging.ts';
import { openOutbox } from '../../lib/mail/outbox.server.ts';
import { publisherAt } from '../../lib/mail/publisher.ts';
import { publication } from '../../publication.ts';
import type { StripeSettings } from '../config/accounts.ts';
import { openDatabase } from '../database/open.ts';
import { type Check, CheckFailure, checkOf, request } from './checks.ts';

/** Events without which billing would learn of changes too late, or never; docs/operations.md, "Payments", names these and others. */
export const neededEvents = [
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.updated',
  'customer.discount.created',
  'customer.discount.updated',
  'customer.discount.deleted',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.upcoming',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.closed',
  'payment_intent.succeeded',
  'setup_intent.succeeded',
  // Cards that are refused in the browser, which are reported only by these events (card-attempts.server.ts).
  'payment_intent.payment_failed',
  'setup_intent.setup_failed',
];

export interface StripeAccountOptions {
  readonly stripe: Stripe | null;
  readonly missing: string | null;
  readonly siteUrl: string;
  readonly scriptUrl: string;
  /** `zephrPlanId` of the plans that the site's pages name. */
  readonly plans: readonly string[];
}

/** Each step is a separate check, so a failure doesn't skip the others. */
export function stripeAccountCheck({ stripe, missing, siteUrl, scriptUrl, plans }: StripeAccountOptions): Check[] {
  const check = (asks: string, run: (stripe: Stripe) => Promise<string>): Check =>
    checkOf('stripe', stripe, missing ?? '', [[asks, run]]);
  return [
    check('GET /v1/prices: the plans that pages name', (connected) => catalog(connected, plans)),
    check('GET /v1/product_catalog/trial_offers: the promotions', promotions),
    check('GET /v1/webhook_endpoints', (connected) => endpoint(connected, siteUrl)),
    check("the site's domain, for wallets", (connected) => domain(connected, siteUrl)),
    check('GET Stripe.js', () => script(scriptUrl)),
  ];
}

const { standard } = publication.billing.currencies;

async function catalog(stripe: Stripe, plans: readonly string[]): Promise<string> {
  const found = new Set<string>();
  const elsewhere = new Set<string>();
  const sold = stripe.prices.list({ active: true, limit: 100, expand: ['data.product'] });
  for await (const { currency, metadata, product } of sold) {
    const isSold = typeof product !== 'string' && !product.deleted && product.metadata.zephr_product_id;
    if (!isSold || !metadata.zephrPlanId) continue;
    found.add(metadata.zephrPlanId);
    if (currency !== standard) elsewhere.add(`${metadata.zephrPlanId} in ${currency}`);
  }
  const lacking = plans.filter((plan) => !found.has(plan));
  if (elsewhere.size > 0) {
    throw new CheckFailure(
      `${[...elsewhere].join(', ')}, and the standard currency is ${standard}`,
      'make these prices in the standard currency, or change billing.currencies.standard in src/publication.ts',
    );
  }
  if (lacking.length === 0) return `${found.size} plans, including all that the pages name`;
  throw new CheckFailure(
    `${found.size} plans; ${lacking.join(', ')} missing`,
    'give each price in Stripe the metadata zephrPlanId, and its product zephr_product_id: docs/operations.md, "Payments"',
  );
}

async function promotions(stripe: Stripe): Promise<string> {
  const [prices, offers]: [Stripe.Price[], Stripe.ProductCatalog.TrialOffer[]] = [[], []];
  const asked = { active: true, limit: 100, expand: ['data.product', 'data.currency_options'] };
  for await (const price of stripe.prices.list(asked)) prices.push(price);
  for await (const offer of stripe.productCatalog.trialOffers.list({ limit: 100 })) offers.push(offer);
  const { sold, unsold } = plansOf(prices, offers);
  const [first] = unsold;
  if (first) {
    const remedy =
      'make its Trial Offer with npm run stripe:offer, or archive its price: docs/operations.md, "Payments"';
    throw new CheckFailure(`${first.plan} is not sold: ${first.why}`, remedy);
  }
  const plans = sold.filter(({ promotion }) => promotion !== null).map(({ zephrPlanId }) => zephrPlanId);
  return plans.length > 0 ? plans.join(', ') : 'none; npm run stripe:offer makes one';
}

async function endpoint(stripe: Stripe, siteUrl: string): Promise<string> {
  const wanted = `${siteUrl}/api/v1/stripe/webhook`;
  const remedy = `in Stripe under Developers, Webhooks, send events of the version ${apiVersion} to ${wanted}, and copy its signing secret to STRIPE_WEBHOOK_SECRET`;
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 });
  const found = data.find(({ url }) => url === wanted);
  if (!found) throw new CheckFailure(`none of ${data.length} endpoints is ${wanted}`, remedy);
  if (found.status !== 'enabled')
    throw new CheckFailure(`the endpoint is ${found.status}`, 'enable it in Stripe under Developers, Webhooks');
  if (found.api_version !== null && found.api_version !== apiVersion)
    throw new CheckFailure(`it sends events of the version ${found.api_version}`, remedy);
  const lacking = found.enabled_events.includes('*')
    ? []
    : neededEvents.filter((event) => !(found.enabled_events as readonly string[]).includes(event));
  if (lacking.length > 0)
    throw new CheckFailure(`it does not send ${lacking.join(', ')}`, 'add these events to the endpoint');
  return 'enabled, with the events that billing needs';
}

/** Registers the domain if it isn't yet: without it, Stripe.js shows no wallet's button. */
async function domain(stripe: Stripe, siteUrl: string): Promise<string> {
  if (!siteUrl.startsWith('https:')) return 'not registered: wallets need a public https:// address in SITE_URL';
  const { domain: name, active, problems, registered } = await registerDomain(stripe, siteUrl);
  if (problems.length > 0) {
    const remedy = `make sure that Stripe can reach https://${name}/, and see Settings, Payment method domains, in Stripe`;
    throw new CheckFailure(problems.join('; '), remedy);
  }
  return `${name} ${registered ? 'is now registered' : 'is registered'} for ${active.join(', ')}`;
}

async function script(url: string): Promise<string> {
  const reply = await request(url, 'STRIPE_JS_URL');
  const type = reply.headers.get('content-type') ?? 'no media type';
  if (reply.status === 200 && type.includes('javascript')) return `${Math.ceil(reply.text.length / 1024)} kB of script`;
  throw new CheckFailure(
    `status ${reply.status}, ${type}`,
    "leave STRIPE_JS_URL out, so that Stripe's own address is used",
  );
}

const dayMs = 86_400_000;
/** Longest time that Stripe may take for a month of a subscription. */
const clockTimeoutMs = 180_000;

export interface Shop {
  readonly billing: RunningBilling;
  readonly session: Session;
  readonly customer: string;
  readonly stripe: Stripe;
  /** Plans for sale, the cheapest tier first within an interval. */
  prices(): readonly Price[];
  /** Advances Stripe's clock and billing's clock by a number of days, and fetches the result. */
  advance(days: number): Promise<void>;
  /** Fetches the customer's subscriptions from Stripe, as after a webhook. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface ShopOptions {
  readonly stripe: Stripe;
  readonly settings: StripeSettings;
  readonly siteUrl: string;
  readonly log: Logger;
}

/**
 * Opens a shop with one customer on a test clock that starts now. If that fails, nothing is left at Stripe.
 *
 * @param name of the check; the clock has it, so that leftovers can be found
 */
export async function openShop(options: ShopOptions, name: string): Promise<Shop> {
  const { stripe, log } = options;
  const folder = mkdtempSync(join(tmpdir(), 'broadsheet-verify-'));
  const made = new AsyncDisposableStack();
  made.defer(() => rmSync(folder, { recursive: true, force: true }));
  try {
    const database = await openDatabase({ dataDir: folder, databaseUrl: null, log });
    made.defer(() => database.close());
    const clock = await stripe.testHelpers.testClocks.create({
      frozen_time: Math.floor(Date.now() / 1000),
      name: `broadsheet verify: ${name}`,
    });
    // Deleting the test clock also deletes its customers and subscriptions.
    made.defer(async () => void (await stripe.testHelpers.testClocks.del(clock.id)));
    return await openOnClock(options, database, clock, () => made.disposeAsync());
  } catch (error) {
    await made.disposeAsync();
    throw error;
  }
}

async function openOnClock(
  { stripe, settings, siteUrl, log }: ShopOptions,
  database: Database,
  clock: Stripe.TestHelpers.TestClock,
  close: () => Promise<void>,
): Promise<Shop> {
  const secret = randomUUID() + randomUUID();
  let clockSeconds = clock.frozen_time;
  let sinceMs = 0;
  const now = (): number => clockSeconds * 1000 + sinceMs;
  const email = `verify-${randomUUID()}@example.com`;
  const session = await addReader(database, email);
  const { id: customer } = await stripe.customers.create({
    email,
    test_clock: clock.id,
    metadata: { user: session.userId },
  });
  await database.db
    .insertInto('customers')
    .values({ user_id: session.userId, customer, shipping: null, shipping_sent: 0, updated: now() })
    .execute();
  const outbox = openOutbox({ database, transport: null, secret, log, paper: publisherAt(siteUrl) });
  const billing = await createBilling({
    access: settings,
    database,
    limiter: createLimiter(database, createHmacs(secret), defaultLimits, now, log),
    outbox,
    secret,
    siteUrl,
    rules: publication.billing,
    log,
    stripe,
    now,
  });
  await billing.refresh();

  const refresh = async (): Promise<void> => {
    // A reader's own call fetches from Stripe once a minute at most.
    sinceMs += 61_000;
    await billing.repair(session);
    await billing.drain();
  };
  return {
    billing,
    session,
    customer,
    stripe,
    prices: () => billing.prices(),
    refresh,
    async advance(days) {
      // A renewal's invoice is a draft for an hour before Stripe finalizes and charges it.
      for (const seconds of [days * (dayMs / 1000), 2 * 3600]) {
        clockSeconds += seconds;
        await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: clockSeconds });
        await untilReady(stripe, clock.id);
      }
      sinceMs = 0;
      await refresh();
    },
    async close() {
      await billing.stop();
      await close();
    },
  };
}

async function untilReady(stripe: Stripe, clock: string): Promise<void> {
  const until = performance.now() + clockTimeoutMs;
  for (let pauseMs = 50; ; pauseMs = Math.min(2000, pauseMs * 2)) {
    const { status } = await stripe.testHelpers.testClocks.retrieve(clock);
    if (status === 'ready') return;
    if (status === 'internal_failure') throw new CheckFailure('the test clock failed at Stripe', 'run verify again');
    if (performance.now() > until)
      throw new CheckFailure('the test clock is not ready after three minutes', 'run verify again later');
    await wait(pauseMs);
  }
}

async function addReader(database: Database, email: string): Promise<Session> {
  const at = new Date().toISOString();
  const userId = randomUUID();
  const trackingId = randomUUID();
  await database.db
    .insertInto('users')
    .values({ id: userId, name: '', email, emailVerified: 1, image: null, createdAt: at, updatedAt: at, trackingId })
    .execute();
  return { id: randomUUID(), userId, trackingId, email, emailVerified: true };
}
