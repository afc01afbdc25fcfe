import { type Kysely, sql } from 'kysely';
import type { Engine } from '../../lib/database.ts';
import type { Migration } from '../database/migrate.ts';

/** Moves Stripe's jobs into the job queue; what waits there goes on here. */
export const stripeJobs: Migration = {
  name: '0013-stripe-jobs',
  async up(db: Kysely<unknown>, engine: Engine): Promise<void> {
    // Without it a row that another process commits between the copy and the removal would be lost.
    if (engine === 'postgres') await sql`lock table stripe_questions in access exclusive mode`.execute(db);
    const separator = engine === 'postgres' ? sql`position(':' in subject)` : sql`instr(subject, ':')`;
    // `subscription:sub_1` was the subject; `catalogue` had no colon.
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
