/**
 * The billing service over a fresh database, and the sandbox's Stripe in this process: the real SDK calls it, and its events arrive
 * as signed webhooks when a test delivers them.
 */
import { randomUUID } from 'node:crypto';
import Stripe from 'stripe';
import { stripeFetch } from '../../sandbox/stripe/handlers.ts';
import { openState, type StripeState } from '../../sandbox/stripe/state.ts';
import type { Session } from '../../src/lib/accounts/service.ts';
import {
  type BillingOptions,
  createBilling,
  type RunningBilling,
} from '../../src/lib/billing/engine/billing.server.ts';
import type { Purchase } from '../../src/lib/billing/engine/purchases.server.ts';
import { apiVersion } from '../../src/lib/billing/engine/stripe.server.ts';
import type { Shipping } from '../../src/lib/billing/schema.ts';
import type { Billed } from '../../src/lib/billing/service.ts';
import type { Database } from '../../src/lib/database.ts';
import type { Limits } from '../../src/lib/http/limits.ts';
import { silent } from '../../src/lib/logging.ts';
import type { Message } from '../../src/lib/mail/model.ts';
import { elsewhere, type Fixture, fixture, openMailbox, secret, siteUrl } from './accounts.ts';
import { limiterOf } from './limiter.ts';

export const webhookSecret = 'whsec_of_the_tests_that_is_long_enough';
export const rules = { graceDays: 3, renewalNoticeDays: 7 };

/** As the sandbox sends it. */
export interface SandboxEvent {
  readonly id: string;
  readonly type: string;
}

/** A request of the SDK, as it went over the wire. */
export interface StripeRequest {
  readonly method: string;
  readonly path: string;
  /** Field names as in Stripe's forms, such as `items[0][price]`. */
  readonly form: Readonly<Record<string, string>>;
}

export interface BillingFixture {
  readonly billing: RunningBilling;
  readonly stripe: StripeState;
  /** A separate client, such as that of an operator in the dashboard. */
  readonly dashboard: Stripe;
  readonly database: Database;
  readonly accounts: Fixture;
  readonly mail: Message[];
  /** Calls this Stripe, as its clients do. */
  readonly fetch: typeof fetch;
  /** Writing requests to Stripe, oldest first. */
  readonly requests: StripeRequest[];
  readonly readers: { join(email: string): Promise<Session> };
  /** Stripe's events that haven't been delivered. */
  readonly events: SandboxEvent[];
  /** Delivers the waiting events, or the given ones, signed as Stripe does; then runs billing's jobs. */
  deliver(events?: readonly SandboxEvent[]): Promise<void>;
  /** Sends one event, signed at a time in Unix seconds. */
  send(event: SandboxEvent, at?: number): Promise<number>;
  /** Moves both clocks. */
  pass(seconds: number): Promise<void>;
  /** Another process on the same database. */
  another(options?: Partial<BillingOptions>): Promise<RunningBilling>;
  stop(): Promise<void>;
}

export async function billingFixture(
  database: Database,
  { limits, ...options }: Partial<BillingOptions> & { limits?: Limits } = {},
): Promise<BillingFixture> {
  const accounts = await fixture(database);
  const { clock } = accounts;
  const stripe = openState({ systemTime: () => clock.now });
  const requests: StripeRequest[] = [];
  const fetch = stripeFetch(stripe, (method, path, body) => {
    if (method === 'POST') requests.push({ method, path, form: Object.fromEntries(new URLSearchParams(body)) });
  });
  const events: SandboxEvent[] = [];
  stripe.onEvents((told) => void events.push(...(told as readonly SandboxEvent[])));
  const { mail, outbox } = openMailbox();
  const access = {
    secretKey: stripe.keys.secret,
    publishableKey: stripe.keys.publishable,
    webhookSecret,
    apiUrl: 'http://stripe.test',
    scriptUrl: 'http://stripe.test/stripe.js',
  };
  const client = () =>
    new Stripe(access.secretKey, {
      apiVersion,
      host: 'stripe.test',
      protocol: 'http',
      maxNetworkRetries: 0,
      timeout: 30_000,
      httpClient: Stripe.createFetchHttpClient(fetch),
    });
  const another = (more: Partial<BillingOptions> = {}) =>
    createBilling({
      access,
      database,
      limiter: limiterOf(database, limits, () => clock.now),
      outbox,
      secret,
      siteUrl,
      rules,
      log: silent,
      now: () => clock.now,
      stripe: client(),
      ...options,
      ...more,
    });
  const billing = await another();
  await billing.refresh();

  const dashboard = client();
  let joined = 0;
  const send: BillingFixture['send'] = async (event, at = Math.floor(clock.now / 1000)) => {
    const payload = JSON.stringify(event);
    const header = dashboard.webhooks.generateTestHeaderString({ payload, secret: webhookSecret, timestamp: at });
    return (await billing.webhook(Buffer.from(payload), header)).status;
  };

  return {
    billing,
    stripe,
    dashboard,
    database,
    accounts,
    mail,
    events,
    requests,
    fetch,
    another,
    send,
    // Each from a different network, because many of them join in a row.
    readers: { join: async (email) => (await accounts.join(email, elsewhere(++joined))).session },
    async deliver(those = events.splice(0)) {
      for (const event of those) await send(event);
      await billing.drain();
    },
    async pass(seconds) {
      clock.pass(seconds);
      stripe.advanceTo(Math.floor(clock.now / 1000));
    },
    async stop() {
      await billing.stop();
      stripe.close();
    },
  };
}

/** The value of a result. @throws Error with the refusal */
export function paid<T>(result: Billed<T>): T {
  if (result.ok) return result.value;
  throw new Error(`${result.status} ${JSON.stringify(result.error)}`);
}

export const home: Shipping = {
  name: 'Ada Lovelace',
  address: { line1: '280 Broadway', city: 'New York', state: 'NY', postal_code: '10007', country: 'US' },
  phone: '12125550183',
};

export const day = 24 * 60 * 60;

/** Stores a purchase of the present moment as another process, or an interrupted call, would have left it. @returns its id */
export async function storePurchase(
  { accounts, database }: BillingFixture,
  userId: string,
  purchase: Partial<Purchase> = {},
): Promise<string> {
  const at = accounts.clock.now;
  const row: Purchase = {
    id: randomUUID(),
    user_id: userId,
    kind: 'subscribe',
    plan: 'reader-monthly',
    price: 'price_reader_monthly',
    attempt: null,
    state: 'open',
    round: 1,
    coupon: null,
    payment_method: 'pm_card_visa',
    subscription: null,
    before: null,
    created: at,
    updated: at,
    ...purchase,
  };
  await database.db.insertInto('purchases').values(row).execute();
  return row.id;
}
