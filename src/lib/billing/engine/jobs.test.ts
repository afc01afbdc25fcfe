/** The worker of billing's jobs. */
import { setTimeout } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { prepare } from '../../../../tests/world/databases.ts';
import { createJobQueue } from '../../jobs/queue.server.ts';
import { silent } from '../../logging.ts';
import type { BillingDependencies, BillingJobKind } from './dependencies.ts';
import { createWorker } from './jobs.server.ts';

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
