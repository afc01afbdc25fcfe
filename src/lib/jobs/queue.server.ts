/**
 * Durable job queue in the accounts' database. A job is added in the caller's transaction and claimed with a lease, so that two
 * processes never work on the same one; a job whose process died is due again when the lease ends. A failed job is retried. A job that is
 * ended (`end`, `expire`) stays with its outcome, without subject and payload, until it is pruned; a completed one is deleted.
 */
import { randomUUID } from 'node:crypto';
import { type ExpressionBuilder, type InsertObject, sql, type Updateable } from 'kysely';
import type { AccountsTransaction, Database, Queries } from '../database.ts';
import { inSpan } from '../tracing.ts';
import { type QueueClock, queueClock } from './clock.ts';
import type { OldRows } from './old-rows.ts';
import type { JobsTable, JobsTables, QueueName } from './tables.ts';

type Db = Queries | AccountsTransaction;

export interface NewJob<Kind extends string> {
  readonly kind: Kind;
  readonly subject: string;
  readonly payload?: string;
  /** 0 goes first, and is the default. */
  readonly priority?: number;
  /** Not before, epoch milliseconds, within {@link longestWaitMs}; at once by default. */
  readonly due?: number;
  /** Epoch milliseconds after which it is dropped; never by default. */
  readonly expires?: number;
  /** One job for each kind and subject, however often it is added; the earliest `due` counts. */
  readonly once?: boolean;
  /** With `once`: this `due` counts, not an earlier one: the job must not run while what caused it is under way. */
  readonly postpones?: boolean;
}

/** A job that this process has claimed, until it reports the result or the lease ends. */
export interface Job<Kind extends string> {
  readonly id: string;
  readonly kind: Kind;
  readonly subject: string;
  readonly payload: string | null;
  readonly claim: string;
  /** Number of attempts, including this one. */
  readonly tries: number;
  readonly causes: number;
  readonly expires: number | null;
}

export interface Waiting {
  readonly count: number;
  /** Epoch milliseconds of the oldest job of the first priority; `null` when none waits. The others may wait for long on purpose. */
  readonly oldest: number | null;
  /** Epoch milliseconds of the next due time; `null` when no job waits. */
  readonly due: number | null;
}

export interface JobQueue<Kind extends string> {
  /** Adds a job, which exists only if the caller's transaction commits. */
  add(db: Db, job: NewJob<Kind>): Promise<void>;
  /** Claims the due jobs that are first by priority, and then the longest waiting ones; those of one claim are in no certain order. */
  claim(most: number): Promise<readonly Job<Kind>[]>;
  /** Releases a job until `due`, or longer if it was added again with a later `due`. @param counted whether this attempt counts */
  release(job: Job<Kind>, due: number, counted?: boolean): Promise<void>;
  /** Deletes a job that is done. A job that was added again while it ran is due when that asked for. */
  complete(job: Job<Kind>): Promise<void>;
  /** Ends a job and stores its outcome without subject and payload. @returns `false` when another process has claimed it */
  end(job: Job<Kind>, outcome: string, detail: string | null): Promise<boolean>;
  /** Ends expired jobs that no process works on. @returns the number of each kind */
  expire(): Promise<Readonly<Record<string, number>>>;
  /** Jobs that ended more than `keptMs` ago. */
  oldRows(keptMs: number): OldRows;
  /** Deletes the jobs of a subject. */
  forget(db: Db, subject: string): Promise<void>;
  waiting(): Promise<Waiting>;
}

/** Runs a job's work as a span of this name in traces. */
export const inJobSpan = <T>(name: string, { kind, tries }: Job<string>, work: () => Promise<T>): Promise<T> =>
  inSpan(name, { 'broadsheet.job.kind': kind, 'broadsheet.job.tries': tries }, work);

/** Milliseconds after which a claimed job may be claimed by another process; longer than any job may take. */
export const leaseMs = 120_000;
/** Milliseconds that no job waits. One that is due later was written by a clock that was ahead and has been set back; it is due now. */
const longestWaitMs = 2 * 3_600_000;

/** What a job that has ended loses. */
const withoutContent: Updateable<JobsTable> = { payload: null, subject: null, claim: null };

/** The jobs of one queue. All times in arguments and results are of this node's clock. @param now epoch milliseconds */
export function createJobQueue<Kind extends string>(
  database: Database,
  queue: QueueName,
  now: () => number,
): JobQueue<Kind> {
  const { db, engine } = database;
  const clock = queueClock(engine, now);
  const claimed = ({ id, claim }: Job<Kind>) => db.updateTable('jobs').where('id', '=', id).where('claim', '=', claim);

  return {
    add: (transaction, job) => addJob(transaction, queue, job, clock()),
    claim: (most) => claimJobs<Kind>(database, queue, most, clock()),
    async release(job, due, counted = true) {
      await claimed(job)
        .set((is) => ({
          due: is
            .case()
            .when('next_due', '>', clock().at(due))
            .then(is.ref('next_due').$notNull())
            .else(clock().at(due))
            .end(),
          next_due: null,
          claim: null,
          tries: counted ? job.tries : job.tries - 1,
        }))
        .execute();
    },
    async complete(job) {
      const { numDeletedRows } = await db
        .deleteFrom('jobs')
        .where('id', '=', job.id)
        .where('claim', '=', job.claim)
        .where('causes', '=', job.causes)
        .where('next_due', 'is', null)
        .executeTakeFirst();
      if (numDeletedRows > 0n) return;
      await claimed(job)
        .set((is) => ({ claim: null, due: is.fn.coalesce('next_due', clock().present), next_due: null, tries: 0 }))
        .execute();
    },
    async end(job, outcome, detail) {
      const { numUpdatedRows } = await claimed(job)
        .set({ ...withoutContent, ended: clock().present, outcome, detail })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async expire() {
      const { present } = clock();
      const rows = await db
        .updateTable('jobs')
        .set({ ...withoutContent, ended: present, outcome: 'expired' })
        .where('queue', '=', queue)
        .where('ended', 'is', null)
        .where('expires', '<=', present)
        // A claimed job is due only when its lease has ended.
        .where((is) => is.or([is('claim', 'is', null), is('due', '<=', present)]))
        .returning('kind')
        .execute();
      const counts: Record<string, number> = {};
      for (const { kind } of rows) counts[kind] = (counts[kind] ?? 0) + 1;
      return counts;
    },
    oldRows: (keptMs) => [
      (most) =>
        db
          .deleteFrom('jobs')
          .where('id', 'in', (from) =>
            from
              .selectFrom('jobs')
              .select('id')
              .where('queue', '=', queue)
              .where('ended', '<', clock().at(now() - keptMs))
              .limit(most),
          )
          .executeTakeFirstOrThrow(),
    ],
    async forget(transaction, subject) {
      await transaction.deleteFrom('jobs').where('queue', '=', queue).where('subject', '=', subject).execute();
    },
    waiting: () => countWaiting(db, queue, clock()),
  };
}

async function addJob<Kind extends string>(
  db: Db,
  queue: QueueName,
  job: NewJob<Kind>,
  { present, at }: QueueClock,
): Promise<void> {
  const { kind, subject, payload = null, priority = 0, once = false, postpones = false } = job;
  const due = job.due === undefined ? present : at(job.due);
  const expires = job.expires === undefined ? null : at(job.expires);
  const row: InsertObject<JobsTables, 'jobs'> = {
    id: once ? `${queue}:${kind}:${subject}` : randomUUID(),
    queue,
    kind,
    subject,
    payload,
    priority,
    created: present,
    due,
    expires,
    claim: null,
    tries: 0,
    causes: 1,
    ended: null,
    outcome: null,
    detail: null,
  };
  await db
    .insertInto('jobs')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((is) => ({
        causes: is('jobs.causes', '+', 1),
        tries: 0,
        // A job that had ended starts again.
        subject,
        payload,
        expires,
        ended: null,
        outcome: null,
        detail: null,
        // A claimed job keeps its lease and runs again afterward. Only a job that postpones delays one that is waiting.
        due: is
          .case()
          .when('jobs.claim', 'is not', null)
          .then(is.ref('jobs.due'))
          .when(is.and([is.lit(!postpones), is('jobs.ended', 'is', null), is('jobs.due', '<', due)]))
          .then(is.ref('jobs.due'))
          .else(due)
          .end(),
        next_due: is
          .case()
          .when('jobs.claim', 'is', null)
          .then(null)
          .when(is.and([is.lit(!postpones), is('jobs.next_due', '<', due)]))
          .then(is.ref('jobs.next_due'))
          .else(due)
          .end(),
      })),
    )
    .execute();
}

async function claimJobs<Kind extends string>(
  { db, engine }: Database,
  queue: QueueName,
  most: number,
  { present, toLocal }: QueueClock,
): Promise<readonly Job<Kind>[]> {
  const claim = randomUUID();
  const latest = sql<number>`${present} + cast(${longestWaitMs} as bigint)`;
  const isDue = (is: ExpressionBuilder<JobsTables, 'jobs'>) =>
    is.or([is('due', '<=', present), is('due', '>', latest)]);
  const rows = await db
    // A subquery in `update` may run more than once in PostgreSQL and lock more rows than its limit; a CTE runs once.
    .with('picked', (from) =>
      from
        .selectFrom('jobs')
        .select('id')
        .where('queue', '=', queue)
        .where('ended', 'is', null)
        .where(isDue)
        .orderBy('priority')
        .orderBy('due')
        .limit(most)
        // Rows that another process is claiming are skipped.
        .$if(engine === 'postgres', (rows) => rows.forUpdate().skipLocked()),
    )
    .updateTable('jobs')
    .set((is) => ({ claim, due: sql`${present} + cast(${leaseMs} as bigint)`, tries: is('tries', '+', 1) }))
    .where('id', 'in', (from) => from.selectFrom('picked').select('id'))
    // Checked again: another process may have claimed one since the selection.
    .where('ended', 'is', null)
    .where(isDue)
    .returning(['id', 'kind', 'subject', 'payload', 'tries', 'causes', 'expires', present.as('present')])
    .execute();
  return rows.map(({ kind, subject, tries, causes, expires, present: then, ...row }) => ({
    ...row,
    claim,
    kind: kind as Kind,
    // Only a job that has ended has no subject.
    subject: subject ?? '',
    tries: Number(tries),
    causes: Number(causes),
    expires: expires === null ? null : toLocal(expires, then),
  }));
}

async function countWaiting(db: Db, queue: QueueName, { present, toLocal }: QueueClock): Promise<Waiting> {
  const row = await db
    .selectFrom('jobs')
    .select(({ fn }) => [
      fn.countAll<number | string>().as('count'),
      fn.min('created').filterWhere('priority', '=', 0).as('oldest'),
      fn.min('due').as('due'),
      present.as('present'),
    ])
    .where('queue', '=', queue)
    .where('ended', 'is', null)
    .executeTakeFirstOrThrow();
  const time = (value: unknown) => (value === null || value === undefined ? null : toLocal(value, row.present));
  return { count: Number(row.count), oldest: time(row.oldest), due: time(row.due) };
}
