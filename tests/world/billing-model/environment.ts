/** The environment of a sequence: two processes of the site on one database, Stripe, two readers and their decisions. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type Stripe from 'stripe';
import type { Charge, Event } from '../../../sandbox/stripe/core/model.ts';
import { openState, type StripeState } from '../../../sandbox/stripe/state.ts';
import type { Session } from '../../../src/lib/accounts/service.ts';
import { createBilling, type RunningBilling } from '../../../src/lib/billing/engine/billing.server.ts';
import type { Database } from '../../../src/lib/database.ts';
import { defaultLimits } from '../../../src/lib/http/limits.ts';
import { silent } from '../../../src/lib/logging.ts';
import { noOutbox } from '../accounts.ts';
import { limiterOf } from '../limiter.ts';
import type { Action } from './steps.ts';
import { databaseOfProcess, type Failures, type Fault, ProcessLife, stripeClient } from './wire.ts';

const secret = 'a secret of the tests that is long enough';
const webhookSecret = 'whsec_of_the_tests_that_is_long_enough';
export const rules = { graceDays: 3, renewalNoticeDays: 7 };
const began = Date.UTC(2026, 10, 20, 12);

export interface Process {
  readonly life: ProcessLife;
  readonly billing: RunningBilling;
}

/** A reader's decision: one number, which every retry carries. */
export interface Decision {
  readonly kind: 'subscribe' | 'switch';
  /** `null`: the page sent no number. */
  readonly attempt: string | null;
  readonly plan: string;
  readonly coupon: string | null;
}

export interface Reader {
  readonly session: Session;
  readonly address: string;
  readonly decisions: Decision[];
  /** The newest payment method of each card. */
  readonly methods: Map<string, string>;
  /** The bank's open challenge. */
  challenge: { readonly intent: string; readonly subscription: string } | null;
  subscription: string | null;
}

export interface Environment {
  readonly stripe: StripeState;
  /** A separate client, such as a browser's or that of an operator in the dashboard. */
  readonly outside: Stripe;
  readonly clock: { now: number };
  readonly events: Event[];
  readonly readers: readonly Reader[];
  process(number: 0 | 1): Promise<Process>;
  /** Ends both processes. */
  restart(): void;
  /** Sends one event to a process; `false`: the process didn't accept it, and Stripe sends it again. */
  send(event: Event, to: Process): Promise<boolean>;
  wait(minutes: number): void;
  charges(): readonly Charge[];
}

/** Plays sequences one after another on one database. */
export interface Environments {
  open(): Promise<Environment>;
  readonly database: Database;
}

const tables = [
  ...(['customers', 'purchases', 'subscriptions', 'stripe_events', 'jobs'] as const),
  ...(['billing_notices', 'billing_notes', 'users'] as const),
];

export async function prepareEnvironments(database: Database): Promise<Environments> {
  // A test needs no protection against power loss.
  if (database.engine === 'sqlite') await sql`PRAGMA synchronous = OFF`.execute(database.db);
  const clock = { now: began };
  const stripe = openState({ systemTime: () => clock.now });
  const events: Event[] = [];
  stripe.onEvents((newEvents) => void events.push(...newEvents));
  const failures: Failures = new Map();
  const outside = stripeClient(stripe, new ProcessLife(), new Map());
  const access = {
    secretKey: stripe.keys.secret,
    publishableKey: stripe.keys.publishable,
    webhookSecret,
    apiUrl: 'http://stripe.test',
    scriptUrl: 'http://stripe.test/stripe.js',
  };
  // Limits have tests of their own; a thousand sequences share these counters.
  const many = { most: 1_000_000, seconds: 60 };
  const without = { address: many, email: many, overall: many };
  const limits = {
    ...defaultLimits,
    coupon: without,
    card: without,
    quote: without,
    setup: without,
    subscribe: without,
  };
  let count = 0;

  async function begin(): Promise<Process> {
    const life = new ProcessLife();
    const billing = await createBilling({
      access,
      outbox: noOutbox,
      secret,
      siteUrl: 'https://paper.example',
      rules,
      log: silent,
      limiter: limiterOf(databaseOfProcess(database, life), limits, () => clock.now),
      database: databaseOfProcess(database, life),
      now: () => clock.now,
      stripe: stripeClient(stripe, life, failures),
    });
    return { life, billing };
  }

  async function reader(): Promise<Reader> {
    const number = ++count;
    const id = `reader-${number}`;
    const email = `${id}@example.com`;
    const at = new Date(began).toISOString();
    await database.db
      .insertInto('users')
      .values({
        id,
        email,
        name: '',
        emailVerified: 1,
        image: null,
        createdAt: at,
        updatedAt: at,
        trackingId: randomUUID(),
      })
      .execute();
    return {
      session: { id, userId: id, trackingId: id, email, emailVerified: true },
      address: '203.0.113.7',
      decisions: [],
      methods: new Map(),
      challenge: null,
      subscription: null,
    };
  }

  return {
    database,
    async open() {
      clock.now = began;
      stripe.reset();
      failures.clear();
      for (const table of tables) await database.db.deleteFrom(table).execute();
      const processes: (Process | null)[] = [await begin(), null];
      await processes[0]?.billing.refresh();
      const readers = [await reader(), await reader()];
      events.length = 0;
      return {
        stripe,
        outside,
        clock,
        events,
        readers,
        async process(number) {
          const running = processes[number];
          if (running && !running.life.ended) return running;
          const made = await begin();
          processes[number] = made;
          return made;
        },
        restart: () => void processes.fill(null),
        async send(event, { billing }) {
          const payload = JSON.stringify(event);
          const timestamp = Math.floor(clock.now / 1000);
          const header = outside.webhooks.generateTestHeaderString({ payload, secret: webhookSecret, timestamp });
          try {
            return (await billing.webhook(Buffer.from(payload), header)).status === 200;
          } catch {
            return false;
          }
        },
        wait(minutes) {
          clock.now += minutes * 60_000;
          stripe.advanceTo(Math.floor(clock.now / 1000));
        },
        charges: () => [...stripe.account.store.all('charge')].filter(({ status }) => status === 'succeeded'),
      };
    },
  };
}

/** The number of a decision; a retry has the number of the previous one. */
export function decide(
  { decisions }: Reader,
  action: Extract<Action, { do: 'subscribe' | 'switch' }>,
): Decision & { readonly fresh: boolean } {
  const last = decisions.at(-1);
  const coupon = action.do === 'subscribe' ? action.coupon : null;
  if (action.attempt === 'same' && last?.kind === action.do && last.attempt !== null) return { ...last, fresh: false };
  const attempt = action.attempt === 'none' ? null : randomUUID();
  const made: Decision = { kind: action.do, attempt, plan: action.plan, coupon };
  decisions.push(made);
  return { ...made, fresh: true };
}

export type { Fault };
