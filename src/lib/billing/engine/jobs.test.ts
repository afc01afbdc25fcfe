/** The worker of billing's jobs. */
import { expect, it } from 'vitest';
import { prepare } from '../../../../tests/world/databases.ts';
import { createJobQueue } from '../../jobs/queue.server.ts';
import { silent } from '../../logging.ts';
import type { BillingDependencies, BillingJobKind } from './dependencies.ts';
import { createWorker } from './jobs.server.ts';

const engines = prepare('sqlite');

it('the billing job worker stops after the running jobs and leaves the others queued', async () => {
  const database = await engines.open(await engines.migratedPlace());
  const jobs = createJobQueue<BillingJobKind>(database, 'stripe', Date.now);
  const dependencies = { database, jobs, log: silent, now: Date.now } as unknown as BillingDependencies;
  const begun = Promise.withResolvers<void>();
  const ended: string[] = [];
  const worker = createWorker(dependencies, [], async (intent) => {
    begun.resolve();
    await stopping.promise;
    ended.push(intent);
  });
  const stopping = Promise.withResolvers<void>();
  for (let at = 0; at < 50; at++) await jobs.add(database.db, { kind: 'refused-card', subject: `pi_${at}` });
  worker.start();
  await begun.promise;
  const stopped = worker.stop();
  stopping.resolve();
  await stopped;
  expect(ended.length).toBeLessThan(10);
  // The other jobs wait for the next process.
  expect((await jobs.waiting()).count).toBe(50 - ended.length);
});
