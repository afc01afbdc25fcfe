import { type Kysely, sql } from 'kysely';
import type { Migration } from '../database/migrate.ts';

/** The outbox of the mail. */
export const mail: Migration = {
  name: '0002-mail',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('mail_outbox')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('recipient', 'text')
      .addColumn('payload', 'text')
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('expires', 'bigint', (column) => column.notNull())
      .addColumn('due', 'bigint', (column) => column.notNull())
      .addColumn('claim', 'text')
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addColumn('ended', 'bigint')
      .addColumn('outcome', 'text')
      .addColumn('detail', 'text')
      .execute();
    // What waits is little, what has ended is much.
    await sql`create index mail_waiting on mail_outbox (due) where ended is null`.execute(db);
    await sql`create index mail_ended on mail_outbox (ended) where ended is not null`.execute(db);
    await sql`create index mail_to on mail_outbox (recipient) where recipient is not null`.execute(db);
  },
};
