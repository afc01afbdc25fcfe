import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

/** How much articles are read. Nothing here says by whom. */
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
