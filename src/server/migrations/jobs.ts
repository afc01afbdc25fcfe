/** Migrations of the job queue. */
import { type Kysely, sql } from 'kysely';
import type { Engine } from '../../lib/database.ts';
import type { Migration } from '../database/migrate.ts';

/** One job queue instead of the outbox of the mail and the tasks of the comments; their waiting rows move to it. */
export const jobs: Migration = {
  name: '0012-jobs',
  async up(db: Kysely<unknown>, engine: Engine): Promise<void> {
    // Without the lock, a row that another process commits between the copy and the removal would be lost.
    if (engine === 'postgres') await sql`lock table mail_outbox, comment_tasks in access exclusive mode`.execute(db);
    await db.schema
      .createTable('jobs')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('queue', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('subject', 'text')
      .addColumn('payload', 'text')
      .addColumn('priority', 'integer', (column) => column.notNull())
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('due', 'bigint', (column) => column.notNull())
      .addColumn('expires', 'bigint')
      .addColumn('claim', 'text')
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addColumn('causes', 'integer', (column) => column.notNull())
      .addColumn('ended', 'bigint')
      .addColumn('outcome', 'text')
      .addColumn('detail', 'text')
      .execute();
    // Partial, because few rows wait and many are done.
    await sql`create index jobs_due on jobs (queue, priority, due) where ended is null`.execute(db);
    await sql`create index jobs_ended on jobs (queue, ended) where ended is not null`.execute(db);
    await sql`create index jobs_subject on jobs (subject) where subject is not null`.execute(db);
    await sql`
      insert into jobs (id, queue, kind, subject, payload, priority, created, due, expires, claim, tries, causes, ended, outcome, detail)
      select id, 'mail', kind, recipient, payload, case when kind = 'newsletter' then 1 else 0 end, created, due, expires, claim,
        tries, 1, ended, outcome, detail
      from mail_outbox`.execute(db);
    await sql`
      insert into jobs (id, queue, kind, subject, priority, created, due, tries, causes)
      select 'comments:' || id, 'comments', kind, subject, 0, due, due, tries, 1 from comment_tasks`.execute(db);
    await db.schema.dropTable('mail_outbox').execute();
    await db.schema.dropTable('comment_tasks').execute();
  },
};

/** Moves Stripe's jobs into the job queue with their state. */
export const stripeJobs: Migration = {
  name: '0013-stripe-jobs',
  async up(db: Kysely<unknown>, engine: Engine): Promise<void> {
    // Without the lock, a row that another process commits between the copy and the removal would be lost.
    if (engine === 'postgres') await sql`lock table stripe_questions in access exclusive mode`.execute(db);
    const separator = engine === 'postgres' ? sql`position(':' in subject)` : sql`instr(subject, ':')`;
    // The subject was `subscription:sub_1`; `catalogue` had no colon.
    await sql`
      insert into jobs (id, queue, kind, subject, priority, created, due, claim, tries, causes)
      select 'stripe:' || kind || ':' || subject, 'stripe', kind, subject, 0, due, due, claim, tries, causes
      from (
        select
          case substr(subject, 1, ${separator} - 1)
            when 'forget' then 'erase-customer'
            when 'unship' then 'erase-shipping'
            when 'refused' then 'refused-card'
            else substr(subject, 1, ${separator} - 1)
          end as kind,
          substr(subject, ${separator} + 1) as subject,
          due, claim, tries, causes
        from stripe_questions where subject like '%:%'
        union all
        select 'catalogue', 'all', due, claim, tries, causes from stripe_questions where subject = 'catalogue'
      ) as moved`.execute(db);
    await db.schema.dropTable('stripe_questions').execute();
  },
};

/** When a job runs again that was added while it ran. */
export const jobsAddedAgain: Migration = {
  name: '0022-jobs-added-again',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable('jobs').addColumn('next_due', 'bigint').execute();
  },
};
