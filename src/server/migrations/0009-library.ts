import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

/** What readers keep for later, and what they have read. */
export const library: Migration = {
  name: '0009-library',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ['saved_articles', 'reading_history']) {
      await db.schema
        .createTable(table)
        .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
        .addColumn('article_id', 'bigint', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint(`${table}_key`, ['user_id', 'article_id'])
        .execute();
    }
    await db.schema.createIndex('reading_history_by_time').on('reading_history').column('at').execute();
    await db.schema
      .createTable('history_refusals')
      .addColumn('user_id', 'text', (column) => column.primaryKey().references('users.id').onDelete('cascade'))
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
