/** Migrations of headline tests. */
import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

/** Readings by headline, and how tests ended. Nothing here identifies a reader. */
export const headlineTests: Migration = {
  name: '0019-headline-tests',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('headline_readings')
      .addColumn('test', 'text', (column) => column.notNull())
      .addColumn('headline', 'integer', (column) => column.notNull())
      .addColumn('readings', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('headline_readings_key', ['test', 'headline'])
      .execute();
    await db.schema
      .createTable('headline_ends')
      .addColumn('test', 'text', (column) => column.primaryKey())
      .addColumn('headline', 'integer')
      .addColumn('readings', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
