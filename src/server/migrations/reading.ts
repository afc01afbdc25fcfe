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

/** How much articles are read. Nothing here identifies a reader. */
export const popularity: Migration = {
  name: '0007-popularity',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('popularity')
      .addColumn('article_id', 'bigint', (column) => column.primaryKey())
      .addColumn('heat', 'double precision', (column) => column.notNull())
      .addColumn('half_life', 'bigint', (column) => column.notNull())
      .addColumn('total', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('popularity_by_heat').on('popularity').column('heat').execute();
  },
};
