/**
 * Checkouts: what a reader's first purchase takes from the call to the grant, with the real SDK over HTTP, on SQLite and on a real
 * PostgreSQL, both with commits that wait for the disk. The sandbox's Stripe runs in its own process; its response time
 * (`x-sandbox-ms`) is printed separately, because the real Stripe's differs.
 */
import { subscribe as listen } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StripeAccess } from '../../sandbox/stripe/stripe.ts';
import type { Session } from '../../src/lib/accounts/service.ts';
import { createBilling } from '../../src/lib/billing/engine/billing.server.ts';
import { createHmacs } from '../../src/lib/crypto.server.ts';
import type { Database } from '../../src/lib/database.ts';
import { createLimiter } from '../../src/lib/http/limiter.server.ts';
import { defaultLimits } from '../../src/lib/http/limits.ts';
import { silent } from '../../src/lib/logging.ts';
import { openOutbox } from '../../src/lib/mail/outbox.server.ts';
import { publisherAt } from '../../src/lib/mail/publisher.ts';
import { openDatabase } from '../../src/server/database/open.ts';
import { startPostgres } from '../../tests/world/postgres.ts';
import { count, ms, percentile, printTable } from '../support/figures.ts';
import { start } from '../support/processes.ts';

const secret = 'a secret of the bench that is long enough';
const siteUrl = 'https://paper.example';
const rules = { graceDays: 3, renewalNoticeDays: 7 };
/** Purchases of each kind of run, the first of which warm up. */
const purchases = 200;
const warming = 40;

/** What Stripe was asked since {@link Wire.reset}. */
interface Wire {
  readonly calls: number;
  /** Milliseconds that Stripe took to answer, in total. */
  readonly answering: number;
  reset(): void;
}

function watchWire(): Wire {
  const wire = { calls: 0, answering: 0, reset: () => void Object.assign(wire, { calls: 0, answering: 0 }) };
  listen('http.client.response.finish', (message) => {
    const took = (message as { response: IncomingMessage }).response.headers['x-sandbox-ms'];
    if (took === undefined) return;
    wire.calls++;
    wire.answering += Number(took);
  });
  return wire;
}

async function readers(database: Database, from: number, many: number): Promise<readonly Session[]> {
  const at = new Date().toISOString();
  const sessions = Array.from({ length: many }, (_, place): Session => {
    const id = `buyer-${from + place}`;
    return { id, userId: id, trackingId: id, email: `${id}@example.com`, emailVerified: true };
  });
  await database.db
    .insertInto('users')
    .values(
      sessions.map(({ userId: id, email, trackingId }) => ({
        id,
        email,
        trackingId,
        name: '',
        emailVerified: 1,
        image: null,
        createdAt: at,
        updatedAt: at,
      })),
    )
    .execute();
  return sessions;
}

interface Measured {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly calls: number;
  readonly answering: number;
  /** Milliseconds of this process's processor time. */
  readonly processor: number;
}

async function measure(database: Database, access: StripeAccess, wire: Wire, callers: number): Promise<Measured> {
  const paper = publisherAt(siteUrl);
  const outbox = openOutbox({ database, transport: null, paper, secret, log: silent });
  const limiter = createLimiter(database, createHmacs(secret), defaultLimits, Date.now);
  const billing = await createBilling({ access, database, limiter, outbox, secret, siteUrl, rules, log: silent });
  await billing.refresh();
  const known = await database.db.selectFrom('users').select('id').execute();
  const buyers = await readers(database, known.length, warming + purchases);
  const times: number[] = [];
  const buy = async (session: Session): Promise<void> => {
    const began = performance.now();
    const bought = await billing.subscribe(session, {
      payment_method: 'pm_card_visa',
      product_id: 'sun-reader',
      plan_id: 'reader-yearly',
    });
    if (!bought.ok || bought.value.grant_id === null) throw new Error(`Not bought: ${JSON.stringify(bought)}`);
    times.push(performance.now() - began);
  };
  const all = async (those: Session[]): Promise<void> => {
    const one = async (): Promise<void> => {
      for (let next = those.pop(); next; next = those.pop()) await buy(next);
    };
    await Promise.all(Array.from({ length: callers }, one));
  };
  await all(buyers.slice(0, warming));
  times.length = 0;
  wire.reset();
  const used = process.cpuUsage();
  const began = performance.now();
  await all(buyers.slice(warming));
  const took = performance.now() - began;
  const { user, system } = process.cpuUsage(used);
  await billing.stop();
  return {
    perSecond: (purchases / took) * 1000,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    calls: wire.calls / purchases,
    answering: wire.answering / purchases,
    processor: (user + system) / 1000 / purchases,
  };
}

/** Prints its table. */
export async function benchPurchases(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-checkout-'));
  const cluster = await startPostgres();
  const wire = watchWire();
  const lines: string[][] = [
    ['A checkout', 'a second', 'ms', 'p99 ms', 'calls to Stripe', 'its answers ms', 'the rest ms', 'processor ms'],
  ];
  try {
    for (const engine of ['SQLite', 'PostgreSQL'] as const) {
      const databaseUrl = engine === 'SQLite' ? null : await cluster.database();
      const database = await openDatabase({ dataDir: join(folder, engine), databaseUrl, log: silent });
      for (const callers of [1, 16]) {
        // A new Stripe for each run, because the sandbox's Stripe searches all the objects that it has.
        const sandbox = start([join(import.meta.dirname, 'sandbox.ts')], {});
        const access = JSON.parse((await sandbox.waitForOutput(/^\{.*\}$/mu))[0]) as StripeAccess;
        const got = await measure(database, access, wire, callers);
        await sandbox.stop();
        await database.db.deleteFrom('subscriptions').execute();
        lines.push([
          `${engine}, ${callers === 1 ? 'one after the other' : `${callers} at once`}`,
          ...[count(Math.round(got.perSecond)), ms(got.p50), ms(got.p99), got.calls.toFixed(1), ms(got.answering)],
          // Concurrent callers wait for each other, so the remaining time wouldn't be our work.
          ...[callers === 1 ? ms(got.p50 - got.answering) : '', ms(got.processor)],
        ]);
      }
      await database.close();
    }
    printTable(lines);
  } finally {
    await cluster.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}
