import { sql } from 'kysely';
import { afterEach, expect, it, vi } from 'vitest';
import { onBothEngines } from '../../../tests/world/databases.ts';
import type { Database } from '../database.ts';
import { deleteOldRows } from './old-rows.ts';
import { createJobQueue, type JobQueue, leaseMs } from './queue.server.ts';

onBothEngines('the job queue', (engines) => {
  const queue = (database: Database, clock: { now: number }): JobQueue<'one' | 'two'> =>
    createJobQueue(database, 'comments', () => clock.now);

  /** A queue in a database of its own, and its clock. */
  async function open(now = 100) {
    const [database, clock] = [await engines.open(), { now }];
    return { database, clock, jobs: queue(database, clock) };
  }

  afterEach(() => {
    vi.useRealTimers();
  });

  it('uses the database’s clock, not a node’s', async () => {
    const database = await engines.open();
    const hour = 3_600_000;
    const real = Date.now();
    /** The queue of a node whose clock is ahead by this much; later calls run on this node. */
    function onNode(ahead: number): JobQueue<'one' | 'two'> {
      vi.useFakeTimers({ toFake: ['Date'], now: real + ahead });
      return createJobQueue(database, 'comments', Date.now);
    }
    const isNear = (time: number | null | undefined, expected: number) =>
      expect(Math.abs((time ?? 0) - expected)).toBeLessThan(60_000);
    for (const ahead of [hour, -hour]) {
      const first = onNode(ahead);
      await first.add(database.db, { kind: 'one', subject: 'now', expires: Date.now() + hour });
      await first.add(database.db, { kind: 'two', subject: 'later', due: Date.now() + hour / 2 });
      isNear((await first.waiting()).oldest, Date.now());
      const second = onNode(-ahead);
      const [job, ...others] = await second.claim(5);
      if (!job) throw new Error('nothing was claimed');
      expect([job.subject, others]).toEqual(['now', []]);
      isNear(job.expires, Date.now() + hour);
      const third = onNode(ahead);
      // Neither the lease nor the time of expiry has passed.
      expect(await third.claim(5)).toEqual([]);
      expect(await third.expire()).toEqual({});
      await third.release(job, Date.now());
      const [again] = await onNode(-ahead).claim(5);
      expect(again?.subject).toBe('now');
      if (again) expect(await third.end(again, 'done', null)).toBe(true);
      await deleteOldRows(onNode(-ahead).oldRows(hour / 2));
      expect(await database.db.selectFrom('jobs').select('id').execute()).toHaveLength(2);
      await database.db.deleteFrom('jobs').execute();
    }
  });

  it('adds a job in the caller’s transaction, and not if that is rolled back', async () => {
    const { database, jobs } = await open(1);
    await database.transaction((tx) => jobs.add(tx, { kind: 'one', subject: 'kept' }));
    const failed = database.transaction(async (tx) => {
      await jobs.add(tx, { kind: 'one', subject: 'lost' });
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    expect((await jobs.claim(5)).map(({ subject }) => subject)).toEqual(['kept']);
  });

  it('gives each due job to only one of several concurrent claims', async () => {
    const database = await engines.open();
    const clock = { now: 100 };
    const [first, second] = [queue(database, clock), queue(database, clock)];
    await first.add(database.db, { kind: 'one', subject: 'late', due: 90 });
    await first.add(database.db, { kind: 'one', subject: 'early', due: 80 });
    await first.add(database.db, { kind: 'two', subject: 'idle', due: 10, priority: 1 });
    await first.add(database.db, { kind: 'two', subject: 'tomorrow', due: 1000 });
    const claims = await Promise.all([first.claim(2), second.claim(2), first.claim(2)]);
    expect(
      claims
        .flat()
        .map(({ subject }) => subject)
        .toSorted(),
    ).toEqual(['early', 'idle', 'late']);
    expect(await first.claim(5)).toEqual([]);
    expect(await createJobQueue(database, 'mail', () => 2000).claim(5)).toEqual([]);
  });

  // SQLite has one writer, so no claim begins before another has ended.
  if (engines.engine === 'postgres')
    it('claims the next job at once while another claim has not committed', async () => {
      const { database, clock, jobs } = await open();
      for (const due of [70, 80]) await jobs.add(database.db, { kind: 'one', subject: `due at ${due}`, due });
      const claims = await database.transaction(async (tx) => {
        const first = await queue({ ...database, db: tx }, clock).claim(1);
        return [first, await jobs.claim(5)];
      });
      expect(claims.map((claimed) => claimed.map(({ subject }) => subject))).toEqual([['due at 70'], ['due at 80']]);
    });

  it('claims jobs by priority, then by due time, whatever order an index gives', async () => {
    const database = await engines.open();
    await sql`drop index jobs_due`.execute(database.db);
    const jobs = queue(database, { now: 100 });
    await jobs.add(database.db, { kind: 'two', subject: 'idle', due: 10, priority: 1 });
    await jobs.add(database.db, { kind: 'one', subject: 'urgent', due: 90 });
    await jobs.add(database.db, { kind: 'one', subject: 'longest', due: 80 });
    const subjects: string[] = [];
    for (let at = 0; at < 3; at++) subjects.push(...(await jobs.claim(1)).map(({ subject }) => subject));
    expect(subjects).toEqual(['longest', 'urgent', 'idle']);
  });

  it('gives the job of a dead process to another, after which the first cannot end it', async () => {
    const { database, clock, jobs } = await open();
    await jobs.add(database.db, { kind: 'one', subject: 'a' });
    const [dead] = await jobs.claim(1);
    clock.now += leaseMs - 1;
    expect(await jobs.claim(1)).toEqual([]);
    clock.now += 1;
    const [taken] = await jobs.claim(1);
    expect(taken).toMatchObject({ subject: 'a', tries: 2 });
    if (!dead || !taken) throw new Error('nothing was claimed');
    await jobs.complete(dead);
    expect(await jobs.end(dead, 'refused', null)).toBe(false);
    expect(await jobs.waiting()).toMatchObject({ count: 1 });
    await jobs.complete(taken);
    expect(await jobs.waiting()).toEqual({ count: 0, oldest: null, due: null });
  });

  it('does not wait for times set by a fast clock: for new jobs, released jobs and those of a dead process', async () => {
    const database = await engines.open();
    const right = 1_900_000_000_000;
    const clock = { now: right + 30 * 24 * 3_600_000 };
    const jobs = queue(database, clock);
    for (const subject of ['died', 'released']) await jobs.add(database.db, { kind: 'one', subject });
    const claimed = await jobs.claim(5);
    const released = claimed.find(({ subject }) => subject === 'released');
    if (claimed.length !== 2 || !released) throw new Error('not both were claimed');
    await jobs.release(released, clock.now + 60_000);
    await jobs.add(database.db, { kind: 'one', subject: 'new' });
    clock.now = right;
    await jobs.add(database.db, { kind: 'one', subject: 'patient', due: right + 3_600_000 });
    expect((await jobs.claim(5)).map(({ subject }) => subject).toSorted()).toEqual(['died', 'new', 'released']);
    expect(await jobs.claim(5)).toEqual([]);
  });

  it('runs a job again if it is added again while it runs', async () => {
    const { database, jobs } = await open();
    const add = () => jobs.add(database.db, { kind: 'one', subject: 'a', once: true });
    await add();
    await add();
    const [job] = await jobs.claim(5);
    if (!job) throw new Error('nothing was claimed');
    await add();
    expect(await jobs.claim(5)).toEqual([]);
    await jobs.complete(job);
    const [again] = await jobs.claim(5);
    expect(again).toMatchObject({ subject: 'a', tries: 1 });
    if (again) await jobs.complete(again);
    expect(await jobs.waiting()).toMatchObject({ count: 0 });
  });

  it('runs a job that is added again while it runs when the earliest of these calls asked for', async () => {
    const database = await engines.open();
    const clock = { now: 100 };
    const jobs = queue(database, clock);
    const add = (due?: number) =>
      jobs.add(database.db, { kind: 'one', subject: 'a', once: true, ...(due !== undefined && { due }) });
    const claim = async () => {
      const [job, ...others] = await jobs.claim(5);
      expect(others).toEqual([]);
      return job;
    };
    await add();
    const first = await claim();
    await add(900);
    await add(700);
    await add(800);
    if (first) await jobs.complete(first);
    expect(await jobs.waiting()).toMatchObject({ count: 1, due: 700 });
    expect(await claim()).toBeUndefined();
    clock.now = 700;
    const second = await claim();
    expect(second).toMatchObject({ subject: 'a', tries: 1 });
    await add(900);
    await add();
    if (second) await jobs.complete(second);
    const third = await claim();
    expect(third).toMatchObject({ tries: 1 });
    if (third) await jobs.complete(third);
    expect(await jobs.waiting()).toMatchObject({ count: 0 });
  });

  it('delays a waiting or running job for one that postpones it', async () => {
    const database = await engines.open();
    const clock = { now: 100 };
    const jobs = queue(database, clock);
    const add = (due: number) => jobs.add(database.db, { kind: 'one', subject: 'a', once: true, postpones: true, due });
    await add(200);
    await add(300);
    expect((await jobs.waiting()).due).toBe(300);
    clock.now = 300;
    const [job] = await jobs.claim(5);
    await add(400);
    await add(500);
    if (job) await jobs.complete(job);
    expect(await jobs.waiting()).toMatchObject({ count: 1, due: 500 });
  });

  it('retries a failed job that was added again with a later due time no earlier than that', async () => {
    const database = await engines.open();
    const clock = { now: 100 };
    const jobs = queue(database, clock);
    const add = (due: number) => jobs.add(database.db, { kind: 'one', subject: 'a', once: true, due });
    await add(100);
    for (const [asked, retried, due] of [
      [900, 200, 900],
      [950, 990, 990],
    ] as const) {
      const [job] = await jobs.claim(5);
      await add(asked);
      if (job) await jobs.release(job, retried);
      expect(await jobs.waiting()).toMatchObject({ count: 1, due });
      clock.now = due;
    }
    for (const job of await jobs.claim(5)) await jobs.complete(job);
    expect(await jobs.waiting()).toMatchObject({ count: 0 });
  });

  it('runs a job at the time that was asked for while its process died, and again if it is claimed before', async () => {
    const database = await engines.open();
    const clock = { now: 100 };
    const jobs = queue(database, clock);
    const add = (due?: number) =>
      jobs.add(database.db, { kind: 'one', subject: 'a', once: true, ...(due !== undefined && { due }) });
    await add();
    await jobs.claim(5);
    const later = clock.now + leaseMs + 5000;
    await add(later);
    clock.now += leaseMs;
    const [taken] = await jobs.claim(5);
    if (!taken) throw new Error('nothing was claimed');
    await jobs.complete(taken);
    expect(await jobs.waiting()).toMatchObject({ count: 1, due: later });
  });

  it('starts a refused job over with its new payload when it is added again', async () => {
    const { database, jobs } = await open(1);
    const again = { kind: 'one', subject: 'again', once: true } as const;
    await jobs.add(database.db, { ...again, payload: 'first' });
    for (const job of await jobs.claim(1)) await jobs.end(job, 'refused', null);
    expect(await jobs.claim(1)).toEqual([]);
    await jobs.add(database.db, { ...again, payload: 'second' });
    expect(await jobs.claim(1)).toMatchObject([{ subject: 'again', payload: 'second', tries: 1 }]);
  });

  it('keeps the earlier due time when a job is added again', async () => {
    const { database, jobs } = await open();
    const add = (due?: number) =>
      jobs.add(database.db, { kind: 'one', subject: 'a', once: true, ...(due !== undefined && { due }) });
    await add(500);
    await add(900);
    expect((await jobs.waiting()).due).toBe(500);
    await add();
    expect((await jobs.waiting()).due).toBe(100);
  });

  it('holds a released job until its time, and counts the try unless told not to', async () => {
    const { database, clock, jobs } = await open();
    await jobs.add(database.db, { kind: 'one', subject: 'a' });
    const claim = async () => (await jobs.claim(1))[0];
    const first = await claim();
    if (first) await jobs.release(first, 200);
    expect(await claim()).toBeUndefined();
    expect(await jobs.waiting()).toEqual({ count: 1, oldest: 100, due: 200 });
    clock.now = 50;
    await jobs.add(database.db, { kind: 'two', subject: 'a newsletter', priority: 2 });
    // Newsletters wait behind everything else, so their age means nothing.
    expect(await jobs.waiting()).toEqual({ count: 2, oldest: 100, due: 50 });
    await jobs.forget(database.db, 'a newsletter');
    clock.now = 200;
    const second = await claim();
    if (second) await jobs.release(second, 200, false);
    expect(await claim()).toMatchObject({ tries: 2 });
  });

  it('expires late jobs that are not being worked on, and deletes the subject of ended jobs', async () => {
    const { database, clock, jobs } = await open();
    await jobs.add(database.db, { kind: 'one', subject: 'claimed', payload: 'words', expires: 150 });
    const [claimed] = await jobs.claim(1);
    await jobs.add(database.db, { kind: 'two', subject: 'waiting', payload: 'words', expires: 150 });
    clock.now = 150;
    expect(await jobs.expire()).toEqual({ two: 1 });
    if (claimed) expect(await jobs.end(claimed, 'done', 'why')).toBe(true);
    const rows = await database.db.selectFrom('jobs').selectAll().orderBy('kind').execute();
    expect(rows.map(({ subject, payload, outcome, detail }) => [subject, payload, outcome, detail])).toEqual([
      [null, null, 'done', 'why'],
      [null, null, 'expired', null],
    ]);
    clock.now = 151;
    await deleteOldRows(jobs.oldRows(0));
    expect(await database.db.selectFrom('jobs').selectAll().execute()).toEqual([]);
  });

  it('counts, expires, prunes and deletes only its own jobs, not another queue’s', async () => {
    const { database, clock, jobs } = await open();
    const other = createJobQueue<'one'>(database, 'mail', () => clock.now);
    await jobs.add(database.db, { kind: 'one', subject: 'a' });
    for (const subject of ['a', 'b', 'c']) await other.add(database.db, { kind: 'one', subject, expires: 150 });
    expect([(await jobs.waiting()).count, (await other.waiting()).count]).toEqual([1, 3]);
    const [ended] = await other.claim(1);
    if (ended) await other.end(ended, 'sent', null);
    clock.now = 200;
    expect(await jobs.expire()).toEqual({});
    await deleteOldRows(jobs.oldRows(0));
    await jobs.forget(database.db, 'a');
    await jobs.forget(database.db, 'b');
    expect((await jobs.waiting()).count).toBe(0);
    expect(await database.db.selectFrom('jobs').select('outcome').orderBy('outcome').execute()).toHaveLength(3);
    expect(await other.expire()).toEqual({ one: 2 });
  });
});
