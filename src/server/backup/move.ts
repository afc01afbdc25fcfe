/** `npm run move-to-postgres`: copies the accounts from SQLite to PostgreSQL. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type pg from 'pg';
import { silent } from '../../lib/logging.ts';
import { type Migration, migrate, refuseNewer } from '../database/migrate.ts';
import { openPool, postgresKysely } from '../database/postgres.ts';
import { migrations as all } from '../migrations/all.ts';
import { columnsOf, hashSource, type MovedTable, nextBatch, skippedTables, tablesInOrder } from './move-source.ts';
import {
  beginMove,
  emptyTarget,
  finishMove,
  hashTarget,
  readMove,
  readProgress,
  setSequences,
  targetColumns,
  writeBatch,
} from './move-target.ts';
import { blockStarts, countPostgresRows, inTransaction, requireNoSite, withPostgres } from './postgres-connection.ts';
import type { TableHash } from './row-hash.ts';
import { accountsFile, findDamage, migrationsOf, openExclusively } from './sqlite-file.ts';

export interface MoveOptions {
  /** Folder of `accounts.sqlite`. */
  readonly dataDir: string;
  readonly databaseUrl: string;
  /** Deletes what an unfinished move of other rows has written, and begins again. */
  readonly startOver?: boolean;
  /** Rows in one transaction; 2000 unless given. */
  readonly batchSize?: number;
  readonly onProgress?: (table: string, rows: number) => void;
  /** For tests. */
  readonly migrations?: readonly Migration[];
}

export interface Moved {
  /** Rows of each moved table. */
  readonly tables: Readonly<Record<string, number>>;
  /** Whether an earlier run had finished, so that this one changed nothing. */
  readonly already: boolean;
}

/**
 * Moves the accounts. After a run was killed, the next one continues from there.
 *
 * @throws InUse while a site uses either database, or Error with a sentence for the operator
 */
export async function moveToPostgres(options: MoveOptions): Promise<Moved> {
  const { dataDir, databaseUrl, migrations = all } = options;
  const file = join(dataDir, accountsFile);
  if (!existsSync(file)) throw new Error(`There is no ${file} to move: see DATA_DIR.`);
  const source = openExclusively(file);
  try {
    refuseOtherVersion(source, migrations);
    const damage = findDamage(source);
    if (damage) throw new Error(`${file} is damaged: ${damage}. Restore a backup first.`);
    await withPostgres(databaseUrl, (client) => requireNoSite(client));
    await migrateTarget(databaseUrl, migrations);
    return await withPostgres(databaseUrl, async (client) => {
      await blockStarts(client);
      await requireNoSite(client);
      return move(source, client, options);
    });
  } finally {
    source.close();
  }
}

function refuseOtherVersion(source: DatabaseSync, migrations: readonly Migration[]): void {
  const done = migrationsOf(source);
  refuseNewer(done, migrations);
  if (migrations.some(({ name }) => !done.includes(name))) {
    throw new Error(
      'The SQLite accounts are from an older version: start this version once without DATABASE_URL, stop it, then move.',
    );
  }
}

async function migrateTarget(databaseUrl: string, migrations: readonly Migration[]): Promise<void> {
  const pool = openPool(databaseUrl, { log: silent, patient: true });
  try {
    await migrate(postgresKysely<unknown>(pool), 'postgres', migrations, Date.now());
  } finally {
    await pool.end();
  }
}

async function move(source: DatabaseSync, client: pg.Client, options: MoveOptions): Promise<Moved> {
  const { batchSize = 2000, onProgress, startOver = false } = options;
  const tables = await tablesToMove(source, client);
  const hashes = new Map(tables.map((table) => [table.name, hashSource(source, table)]));
  const counts = Object.fromEntries([...hashes].map(([table, { rows }]) => [table, rows]));
  if (await beginOrContinue(client, tables, hashes, startOver)) return { tables: counts, already: true };
  for (const table of tables) {
    let { last, rows, done } = await readProgress(client, table);
    while (!done) {
      const batch = nextBatch(source, table, last, batchSize);
      await writeBatch(client, table, batch);
      done = batch === null;
      last = batch?.last ?? last;
      rows += batch?.rows.length ?? 0;
      onProgress?.(table.name, rows);
    }
  }
  await inTransaction(
    client,
    async () => {
      for (const table of tables) refuseDifference(table.name, hashes.get(table.name), await hashTarget(client, table));
      await setSequences(client, tables);
      await finishMove(client, Date.now());
    },
    'isolation level repeatable read',
  );
  return { tables: counts, already: false };
}

/** The tables to move, with the columns of the target. @throws Error when the two schemas differ */
async function tablesToMove(source: DatabaseSync, client: pg.Client): Promise<MovedTable[]> {
  const tables: MovedTable[] = [];
  for (const name of tablesInOrder(source)) {
    const columns = await targetColumns(client, name);
    const [here, there] = [columnsOf(source, name).toSorted(), columns.map((column) => column.name).toSorted()];
    if (here.join() !== there.join()) {
      throw new Error(`The table ${name} has other columns in PostgreSQL (${there.join(', ') || 'no such table'}).`);
    }
    tables.push({ name, columns });
  }
  return tables;
}

/**
 * Starts a move, or continues an earlier move of the same rows.
 *
 * @returns whether it is finished already
 * @throws Error when the target has other rows
 */
async function beginOrContinue(
  client: pg.Client,
  tables: readonly MovedTable[],
  hashes: ReadonlyMap<string, TableHash>,
  startOver: boolean,
): Promise<boolean> {
  const origin = createHash('sha256')
    .update(JSON.stringify([...hashes]))
    .digest('hex');
  const begun = await readMove(client);
  if (begun?.origin === origin) return begun.finished !== null;
  if (begun?.finished != null) {
    throw new Error('Other accounts were moved into this database already: give an empty one as DATABASE_URL.');
  }
  if (begun && !startOver) {
    throw new Error(
      'The SQLite accounts have changed since this move began. ' +
        'Run "npm run move-to-postgres -- --start-over": it deletes the rows that were moved and begins again.',
    );
  }
  if (begun) await emptyTarget(client, tables);
  const counts = await countPostgresRows(client);
  const filled = Object.keys(counts).filter((table) => (counts[table] ?? 0) > 0 && !(table in skippedTables));
  if (filled.length > 0) {
    throw new Error(
      `The database of DATABASE_URL already has rows (${filled.join(', ')}): create an empty database and give that.`,
    );
  }
  await beginMove(client, origin);
  return false;
}

function refuseDifference(table: string, here: TableHash | undefined, there: TableHash): void {
  if (here?.rows === there.rows && here.hash === there.hash) return;
  throw new Error(
    `The rows of ${table} differ after the move (${here?.rows} in SQLite, ${there.rows} in PostgreSQL). ` +
      'Create an empty database, give that as DATABASE_URL, and move again.',
  );
}
