/** The accounts database as a file: its tables, its integrity, and a lock that no process of the site can share. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export const accountsFile = 'accounts.sqlite';

/** Another process uses the database; the message is for the operator. */
export class InUse extends Error {
  /** @param hint another possible cause, with its remedy */
  constructor(what: string, hint = '') {
    super(
      `${what} is in use. Stop the site and every command that uses it (press, newsletter, support, backup), then run this again.${hint}`,
    );
    this.name = 'InUse';
  }
}

/** A name of a table or column in SQL; the same in both engines. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Names of all tables, sorted. */
export function tablesOf(database: DatabaseSync): string[] {
  const rows = database.prepare(
    `select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name`,
  );
  return rows.all().map(({ name }) => String(name));
}

/** The number of rows of each table. */
export function countRows(database: DatabaseSync): Record<string, number> {
  return Object.fromEntries(
    tablesOf(database).map((table) => {
      const row = database.prepare(`select count(*) as n from ${quoted(table)}`).get();
      return [table, Number(row?.n)];
    }),
  );
}

/** Names of the migrations that have run, sorted; none in a file that the site has never opened. */
export function migrationsOf(database: DatabaseSync): string[] {
  if (!tablesOf(database).includes('migrations')) return [];
  return database
    .prepare('select name from migrations order by name')
    .all()
    .map(({ name }) => String(name));
}

/** Runs SQLite's own checks. @returns the first problem, or `null` */
export function findDamage(database: DatabaseSync): string | null {
  const integrity = String(database.prepare('pragma integrity_check(1)').get()?.integrity_check);
  if (integrity !== 'ok') return integrity;
  const orphan = database.prepare('pragma foreign_key_check').get();
  return orphan ? `a row of ${orphan.table} refers to a row of ${orphan.parent} that doesn't exist` : null;
}

/**
 * Opens the file exclusively: fails while another process has it open, and prevents others from opening it until it is closed. The
 * write-ahead log is merged into the file.
 *
 * @throws InUse, or SQLite's error when the file is damaged
 */
export function openExclusively(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 1000, enableForeignKeyConstraints: true });
  try {
    database.exec('pragma locking_mode = exclusive');
    // SQLite refuses this while another connection is open, even an idle one.
    database.exec('pragma journal_mode = delete');
    database.exec('begin exclusive');
    return database;
  } catch (error) {
    database.close();
    if (isBusy(error)) throw new InUse(file);
    throw error;
  }
}

const busyCodes: ReadonlySet<number> = new Set([5, 6]);
const isBusy = (error: unknown): boolean => busyCodes.has(((error as { errcode?: number }).errcode ?? 0) & 0xff);

/**
 * Locks a data folder. It fails if a process of the site has the content store open, or the accounts unless they are in PostgreSQL. A
 * damaged file can't be locked and is skipped.
 *
 * @returns a function that releases the lock
 * @throws InUse
 */
export function lockDataDir(dataDir: string): () => void {
  const held: DatabaseSync[] = [];
  const release = () => {
    for (const database of held.splice(0)) database.close();
  };
  for (const name of [accountsFile, 'content.sqlite']) {
    const file = join(dataDir, name);
    if (!existsSync(file)) continue;
    try {
      held.push(openExclusively(file));
    } catch (error) {
      if (!(error instanceof InUse)) continue;
      release();
      throw error;
    }
  }
  return release;
}
