import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

/** Why readers leave, what they were offered, and what came of it. */
export const cancellations: Migration = {
  name: '0005-cancellations',
  async up(db: Kysely<unknown>): Promise<void> {
    // No reference to users: the counts outlive the reader, who is taken out of them.
    await db.schema
      .createTable('cancellations')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text')
      .addColumn('subscription', 'text', (column) => column.notNull())
      .addColumn('plan', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('words', 'text')
      .addColumn('offer', 'text')
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('updated', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('cancellations_of_user').on('cancellations').columns(['user_id', 'created']).execute();
    await db.schema.createIndex('cancellations_by_time').on('cancellations').column('created').execute();
  },
};
