/** Migrations of breaking news. */
import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

/** The notifications of alerts: one row for each, so that none is sent twice. */
export const alerts: Migration = {
  name: '0016-alerts',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('alert_pushes')
      .addColumn('alert', 'text', (column) => column.primaryKey())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('detail', 'text', (column) => column.notNull())
      .addColumn('created', 'bigint', (column) => column.notNull())
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addColumn('due', 'bigint', (column) => column.notNull())
      .execute();
  },
};
