import type { Kysely } from 'kysely';
import type { Migration } from '../database/migrate.ts';

/** Browsers of operators, so that signing out ends a session in every process. */
export const operatorSessions: Migration = {
  name: '0011-operator-sessions',
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('operator_sessions')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('expires', 'bigint', (column) => column.notNull())
      .execute();
  },
};
