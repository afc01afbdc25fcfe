import { expect, it } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { createJobQueue } from '../../lib/jobs/queue.server.ts';
import { migrations } from './all.ts';

onBothEngines('the migration of mail and comment tasks to the job queue', (engines) => {
  it('keeps queued messages and tasks, and the outcome of messages that ended', async () => {
    const place = await engines.place();
    const before = migrations.slice(
      0,
      migrations.findIndex(({ name }) => name === '0012-jobs'),
    );
    const old = await engines.open({ ...place, migrations: before });
    const message = {
      created: 5,
      expires: 900,
      due: 7,
      tries: 2,
      claim: null,
      ended: null,
      outcome: null,
      detail: null,
    };
    const rows = [
      { ...message, id: 'a', kind: 'code', recipient: 'ada@example.com', payload: 'sealed' },
      { ...message, id: 'b', kind: 'newsletter', recipient: 'ben@example.com', payload: 'sealed too', claim: 'x' },
      {
        ...message,
        id: 'c',
        kind: 'link',
        recipient: null,
        payload: null,
        ended: 8,
        outcome: 'refused',
        detail: '550',
      },
    ];
    const task = { id: 'report:31', kind: 'report', subject: '31', stamp: 's', due: 9, tries: 3 };
    // These tables are gone from the types, as from the database.
    const tables = old.db as unknown as {
      insertInto(table: string): { values(rows: unknown): { execute(): Promise<unknown> } };
    };
    await tables.insertInto('mail_outbox').values(rows).execute();
    await tables.insertInto('comment_tasks').values(task).execute();
    await old.close();

    const { db } = await engines.open(place);
    const jobs = await db.selectFrom('jobs').selectAll().orderBy('id').execute();
    const numbers = ({ created, expires, due, tries, causes, priority, ended, ...job }: (typeof jobs)[number]) => ({
      ...job,
      numbers: [created, expires, due, tries, causes, priority, ended].map((value) =>
        value === null ? null : Number(value),
      ),
    });
    const open = { next_due: null, claim: null, outcome: null, detail: null };
    expect(jobs.map(numbers)).toEqual([
      {
        ...open,
        id: 'a',
        queue: 'mail',
        kind: 'code',
        subject: 'ada@example.com',
        payload: 'sealed',
        numbers: [5, 900, 7, 2, 1, 0, null],
      },
      {
        ...open,
        id: 'b',
        queue: 'mail',
        kind: 'newsletter',
        subject: 'ben@example.com',
        payload: 'sealed too',
        claim: 'x',
        numbers: [5, 900, 7, 2, 1, 1, null],
      },
      {
        id: 'c',
        next_due: null,
        queue: 'mail',
        kind: 'link',
        subject: null,
        payload: null,
        claim: null,
        outcome: 'refused',
        detail: '550',
        numbers: [5, 900, 7, 2, 1, 0, 8],
      },
      {
        ...open,
        id: 'comments:report:31',
        queue: 'comments',
        kind: 'report',
        subject: '31',
        payload: null,
        numbers: [9, null, 9, 3, 1, 0, null],
      },
    ]);
  });
});

onBothEngines('the migration of Stripe jobs to the job queue', (engines) => {
  it('keeps the waiting jobs and how often each was tried', async () => {
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
    // A job that is added now is the same job as the moved one.
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
