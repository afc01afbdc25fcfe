/**
 * Billing as the site runs it, on a database of its own and on a test clock of Stripe's: what the checks buy is bought by the product's
 * own code, and time passes when they say so.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type Stripe from 'stripe';
import type { Session } from '../../lib/accounts/service.ts';
import { createBilling, type RunningBilling } from '../../lib/billing/engine/billing.server.ts';
import type { Price } from '../../lib/billing/wire.ts';
import type { Database } from '../../lib/database.ts';
import type { Logger } from '../../lib/logging.ts';
import { openOutbox } from '../../lib/mail/outbox.server.ts';
import { publication } from '../../publication.ts';
import type { StripeSettings } from '../config/billing.ts';
import { openDatabase } from '../database/open.ts';
import { Trouble } from './checks.ts';

const dayMs = 86_400_000;
/** Stripe takes a while to do what a month of a subscription brings. */
const clockPatienceMs = 180_000;

export interface Shop {
  readonly billing: RunningBilling;
  readonly session: Session;
  readonly customer: string;
  readonly stripe: Stripe;
  /** Plans as they are sold, cheapest tier first within an interval. */
  prices(): readonly Price[];
  /** Lets days pass at Stripe and for billing, and takes over what has come of it. */
  pass(days: number): Promise<void>;
  /** Takes over Stripe's state of the customer's subscriptions, as a webhook would cause it. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** What a shop needs besides the settings of Stripe. */
export interface ShopOptions {
  readonly stripe: Stripe;
  readonly settings: StripeSettings;
  readonly siteUrl: string;
  readonly log: Logger;
}

/**
 * Opens a shop with one customer on a test clock that begins now.
 *
 * @param name of what is tried; the clock carries it, so that leftovers can be found
 */
export async function openShop(options: ShopOptions, name: string): Promise<Shop> {
  const { stripe, settings, siteUrl, log } = options;
  const folder = mkdtempSync(join(tmpdir(), 'broadsheet-verify-'));
  const database = await openDatabase({ dataDir: folder, databaseUrl: null, log });
  const secret = randomUUID() + randomUUID();
  let clockSeconds = Math.floor(Date.now() / 1000);
  let sinceMs = 0;
  const now = (): number => clockSeconds * 1000 + sinceMs;
  const clock = await stripe.testHelpers.testClocks.create({
    frozen_time: clockSeconds,
    name: `broadsheet verify: ${name}`,
  });
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
  const outbox = openOutbox({
    database,
    transport: null,
    secret,
    log,
    paper: {
      name: publication.name,
      motto: '',
      language: publication.language,
      timeZone: publication.timeZone,
      siteUrl,
      contact: publication.contact.email,
    },
  });
  const billing = await createBilling({
    access: settings,
    database,
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
    // A reader's own call asks Stripe once a minute at most.
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
    async pass(days) {
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
      await database.close();
      rmSync(folder, { recursive: true, force: true });
      // Its customers and their subscriptions go with it.
      await stripe.testHelpers.testClocks.del(clock.id);
    },
  };
}

async function untilReady(stripe: Stripe, clock: string): Promise<void> {
  const until = performance.now() + clockPatienceMs;
  for (let pauseMs = 50; ; pauseMs = Math.min(2000, pauseMs * 2)) {
    const { status } = await stripe.testHelpers.testClocks.retrieve(clock);
    if (status === 'ready') return;
    if (status === 'internal_failure') throw new Trouble('the test clock failed at Stripe', 'run verify again');
    if (performance.now() > until)
      throw new Trouble('the test clock is not ready after three minutes', 'run verify again later');
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
  return { id: randomUUID(), userId, trackingId, email, emailVerified: true, createdAt: Date.now() };
}
