import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

/** The meter of registered readers, and the articles that subscribers give away. */
export const access: Migration = {
  name: '0004-access',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('article_reads')
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('article_id', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('article_reads_key', ['user_id', 'article_id'])
      .execute();
    await db.schema
      .createTable('gifts')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('token', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('article_id', 'bigint', (column) => column.notNull())
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('expires', 'bigint', (column) => column.notNull())
      .addColumn('readers', 'integer', (column) => column.notNull())
      .addColumn('most', 'integer', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('gifts_of_user').on('gifts').columns(['user_id', 'created']).execute();
  },
};
