/** Migrates a database to the current schema, forward only, with a lock against two processes that start together. */
import { type Kysely, sql } from 'kysely';
import type { Engine } from '../../lib/database.ts';
import { StartFirst } from '../../lib/start-first.server.ts';

export interface Migration {
  /** `0001-what`; never changed after it was shipped. */
  readonly name: string;
  /** Runs inside a transaction; `engine` tells the two databases apart. */
  up(db: Kysely<unknown>, engine: Engine): Promise<void>;
}

/** A newer version of the site has migrated the database. */
class NewerDatabase extends Error {
  constructor(unknown: readonly string[]) {
    super(
      `The accounts database is from a newer version of the site (it has ${unknown.join(', ')}): ` +
        'start that version, or restore the backup from before the update.',
    );
    this.name = 'NewerDatabase';
  }
}

/** @param done names of the migrations that have run @throws NewerDatabase when this version doesn't know all of them */
export function refuseNewer(done: Iterable<string>, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = [...done].filter((name) => !known.has(name)).toSorted();
  if (unknown.length > 0) throw new NewerDatabase(unknown);
}

/** Number of PostgreSQL's advisory lock: any number, the same in every process of the site. */
export const migrationLock = 7_260_413_589;

/**
 * Runs the migrations that are due, all in one transaction: after an error the database is as before.
 *
 * @param db on SQLite its transactions must begin with IMMEDIATE, which serves as the lock there
 * @param now epoch milliseconds
 * @param upgrades `false`: only an empty database is migrated
 * @returns names of the migrations that ran
 * @throws NewerDatabase, StartFirst
 */
export async function migrate(
  db: Kysely<unknown>,
  engine: Engine,
  migrations: readonly Migration[],
  now: number,
  upgrades = true,
): Promise<readonly string[]> {
  return db.transaction().execute(async (tx) => {
    if (engine === 'postgres') {
      await sql`set local statement_timeout = 0`.execute(tx);
      await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(tx);
    }
    await sql`create table if not exists migrations (name text primary key, at bigint not null)`.execute(tx);
    const rows = await sql<{ name: string }>`select name from migrations`.execute(tx);
    const done = new Set(rows.rows.map((row) => row.name));
    refuseNewer(done, migrations);
    const due = migrations.filter(({ name }) => !done.has(name));
    if (!upgrades && done.size > 0 && due.length > 0) {
      throw new StartFirst('The accounts database is of an earlier version of the site');
    }
    const ran: string[] = [];
    for (const migration of due) {
      await migration.up(tx, engine);
      await sql`insert into migrations (name, at) values (${migration.name}, ${now})`.execute(tx);
      ran.push(migration.name);
    }
    return ran;
  });
}
