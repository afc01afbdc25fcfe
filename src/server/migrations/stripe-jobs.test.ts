import { expect, it } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { createJobQueue } from '../../lib/jobs/queue.server.ts';
import { migrations } from './all.ts';

onBothEngines('the move of Stripe’s jobs into the job queue', (engines) => {
  it('keeps what waits, with its tries', async () => {
    const place = await engines.place();
    const before = migrations.slice(
      0,
      migrations.findIndex(({ name }) => name === '0013-stripe-jobs'),
    );
    const old = await engines.open({ ...place, migrations: before });
    const row = { causes: 2, due: 7, tries: 3, claim: null };
    // The table is gone from the types, as from the database.
    const tables = old.db as unknown as {
      insertInto(table: string): { values(rows: unknown): { execute(): Promise<unknown> } };
    };
    await tables
      .insertInto('stripe_questions')
      .values([
        { ...row, subject: 'catalogue' },
        { ...row, subject: 'subscription:sub_1' },
        { ...row, subject: 'announced-amount:sub_2', due: 900 },
        { ...row, subject: 'forget:cus_1' },
        { ...row, subject: 'unship:cus_2' },
        { ...row, subject: 'refused:seti_1', claim: 'x', due: 600 },
      ])
      .execute();
    await old.close();

    const database = await engines.open(place);
    const jobs = createJobQueue<string>(database, 'stripe', () => 500);
    // What is added now is the same job as the one that was moved.
    await jobs.add(database.db, { kind: 'subscription', subject: 'sub_1', once: true });
    expect((await jobs.waiting()).count).toBe(6);
    const due = (await jobs.claim(9)).map(({ kind, subject, causes }) => `${kind} ${subject} ${causes}`).toSorted();
    expect(due).toEqual([
      'catalogue all 2',
      'erase-customer cus_1 2',
      'erase-shipping cus_2 2',
      'subscription sub_1 3',
    ]);
    const later = (await createJobQueue<string>(database, 'stripe', () => 1000).claim(9)).map(
      ({ kind, subject, tries }) => `${kind} ${subject} ${tries}`,
    );
    expect(later.toSorted()).toEqual(['announced-amount sub_2 4', 'refused-card seti_1 4']);
  });
});
