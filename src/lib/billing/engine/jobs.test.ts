/** The worker of billing's jobs. */
import { setTimeout } from 'node:timers/promises';
import Stripe from 'stripe';
import { expect, it, onTestFinished, vi } from 'vitest';
import { billingFixture, storePurchase } from '../../../../tests/world/billing.ts';
import { prepare } from '../../../../tests/world/databases.ts';
import { createJobQueue } from '../../jobs/queue.server.ts';
import { silent } from '../../logging.ts';
import type { BillingDependencies, BillingJobKind } from './dependencies.ts';
import { createWorker } from './jobs.server.ts';
import { apiVersion } from './stripe.server.ts';

const engines = prepare('sqlite');

it('a billing job that is due in five minutes does not make the worker look every half second', async () => {
  const database = await engines.open(await engines.migratedPlace());
  const jobs = createJobQueue<BillingJobKind>(database, 'stripe', Date.now);
  const claim = vi.fn(jobs.claim);
  const dependencies = { database, jobs: { ...jobs, claim }, log: silent, now: Date.now };
  const worker = createWorker(dependencies as unknown as BillingDependencies, []);
  await jobs.add(database.db, { kind: 'refused-card', subject: 'pi_1', due: Date.now() + 300_000 });
  worker.start();
  await setTimeout(1500);
  await worker.stop();
  expect(claim).toHaveBeenCalledTimes(1);
});

it('the billing job worker stops after the running jobs and leaves the others queued', async () => {
  const database = await engines.open(await engines.migratedPlace());
  const jobs = createJobQueue<BillingJobKind>(database, 'stripe', Date.now);
  const begun = Promise.withResolvers<void>();
  const stopping = Promise.withResolvers<void>();
  let ended = 0;
  const catalog = {
    async refresh() {
      begun.resolve();
      await stopping.promise;
      ended++;
    },
  };
  const dependencies = { database, jobs, catalog, log: silent, now: Date.now } as unknown as BillingDependencies;
  const worker = createWorker(dependencies, []);
  for (let at = 0; at < 50; at++) await jobs.add(database.db, { kind: 'catalogue', subject: `${at}` });
  worker.start();
  await begun.promise;
  const stopped = worker.stop();
  stopping.resolve();
  await stopped;
  expect(ended).toBeLessThan(10);
  // The other jobs wait for the next process.
  expect((await jobs.waiting()).count).toBe(50 - ended);
});

it('the recovery of open purchases ends after the current one when billing stops', async () => {
  const site = await billingFixture(await engines.open());
  onTestFinished(() => site.stop());
  const updated = site.accounts.clock.now - 5 * 60_000;
  for (const subscription of ['sub_1', 'sub_2', 'sub_3']) {
    const { userId } = await site.readers.join(`${subscription}@example.com`);
    await storePurchase(site, userId, { subscription, updated });
  }
  const fetched: string[] = [];
  const httpClient = Stripe.createFetchHttpClient(async (input, init) => {
    const { pathname } = new URL(String(input));
    if (pathname.startsWith('/v1/subscriptions/')) {
      fetched.push(pathname);
      void billing.stop();
    }
    return site.fetch(input, init);
  });
  const options = { apiVersion, host: 'stripe.test', protocol: 'http', httpClient } as const;
  const billing = await site.another({ stripe: new Stripe(site.stripe.keys.secret, options) });
  billing.start();
  await vi.waitFor(() => expect(fetched).toHaveLength(1));
  await billing.stop();
  expect(fetched).toHaveLength(1);
});

it('a long background task does not keep jobs waiting, nor a long job the background tasks', async () => {
  const database = await engines.open(await engines.migratedPlace());
  const jobs = createJobQueue<BillingJobKind>(database, 'stripe', Date.now);
  const finish = Promise.withResolvers<void>();
  const begun: string[] = [];
  const run = async (what: string): Promise<void> => {
    begun.push(what);
    await finish.promise;
  };
  const catalog = { refresh: () => run('a job') };
  const dependencies = { database, jobs, catalog, log: silent, now: Date.now } as unknown as BillingDependencies;
  const start = async (what: string) => {
    const worker = createWorker(dependencies, [{ name: what, everyMs: 60_000, run: () => run(`${what} task`) }]);
    onTestFinished(worker.stop);
    onTestFinished(() => finish.resolve());
    worker.start();
    await vi.waitFor(() => expect(begun).toContain(`${what} task`));
    return worker;
  };
  const first = await start('first');
  await jobs.add(database.db, { kind: 'catalogue', subject: 'one' });
  first.nudge();
  await vi.waitFor(() => expect(begun).toContain('a job'));

  for (const subject of ['1', '2', '3', '4']) await jobs.add(database.db, { kind: 'catalogue', subject });
  await start('second');
});

it('a long background task does not keep the others waiting', async () => {
  const database = await engines.open(await engines.migratedPlace());
  const jobs = createJobQueue<BillingJobKind>(database, 'stripe', Date.now);
  const dependencies = { database, jobs, log: silent, now: Date.now } as unknown as BillingDependencies;
  const finish = Promise.withResolvers<void>();
  const other = vi.fn(async () => {});
  const worker = createWorker(dependencies, [
    { name: 'long', everyMs: 60_000, run: () => finish.promise },
    { name: 'other', everyMs: 20, run: other },
  ]);
  worker.start();
  await vi.waitFor(() => expect(other.mock.calls.length).toBeGreaterThan(2));
  finish.resolve();
  await worker.stop();
});
