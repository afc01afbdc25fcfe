import { expect, it } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import { migrations } from './all.ts';

onBothEngines('the move of mail and comment tasks into the job queue', (engines) => {
  it('keeps what is queued, and what became of messages', async () => {
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
    const open = { claim: null, outcome: null, detail: null };
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
