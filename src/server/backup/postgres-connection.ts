/** A database connection for operators' commands, and the check that no site uses the accounts. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { migrationLock } from '../database/migrate.ts';
import { asUnavailable } from '../database/postgres.ts';
import { clusterTables } from '../migrations/cluster.ts';
import { InUse, quoted } from './sqlite-file.ts';

/** Runs `work` on one connection without time limits. @throws Error with a sentence for the operator when it can't connect */
export async function withPostgres<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: 'broadsheet-command',
  });
  // A broken connection also fails the query.
  client.on('error', () => {});
  try {
    await client.connect().catch((error: unknown) => {
      throw asUnavailable(error);
    });
    // The connection also waits for programs, inside and outside of transactions; PostgreSQL may be configured to end such idle
    // connections.
    await client.query(
      'set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set idle_session_timeout = 0',
    );
    return await work(client);
  } catch (error) {
    // Errors of files and programs also have codes, with other meanings.
    throw error instanceof pg.DatabaseError ? asUnavailable(error) : error;
  } finally {
    await client.end();
  }
}

/** Runs `work` in a transaction. @param mode of the transaction, such as its isolation */
export async function inTransaction<T>(client: pg.Client, work: () => Promise<T>, mode = ''): Promise<T> {
  await client.query(`begin ${mode}`);
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // A broken connection has ended the transaction already.
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Major version of the server, such as 16. */
export async function serverMajor(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ version: string }>(`select current_setting('server_version_num') as version`);
  return Math.floor(Number(rows[0]?.version) / 10_000);
}

export async function currentSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string | null }>('select current_schema() as name');
  const name = rows[0]?.name;
  if (!name) throw new Error('The user of DATABASE_URL has no schema in its search_path: see DATABASE_URL.');
  return name;
}

/** Names of the tables in the site's schema, sorted. */
export async function postgresTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ tablename: string }>(
    'select tablename from pg_tables where schemaname = current_schema() order by tablename',
  );
  return rows.map(({ tablename }) => tablename);
}

/** The number of rows of each table, without those of the cluster. */
export async function countPostgresRows(client: pg.Client): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await postgresTables(client)) {
    if (clusterTables.includes(table)) continue;
    const { rows } = await client.query<{ n: string }>(`select count(*) as n from ${quoted(table)}`);
    counts[table] = Number(rows[0]?.n);
  }
  return counts;
}

const ofPooler =
  ' If all of them are stopped, a pooler still has their connections: stop it, or run RECONNECT on the console of PgBouncer.';

/**
 * Checks that no process of the site is connected. Each process has at least its listening connection.
 *
 * @param timeoutMs a process that has just ended may be listed for a moment
 * @throws InUse
 */
export async function requireNoSite(client: pg.Client, timeoutMs = 1500): Promise<void> {
  for (const until = performance.now() + timeoutMs; ; await wait(50)) {
    const { rows } = await client.query<{ n: string }>(
      `select count(*) as n from pg_stat_activity where datname = current_database() and application_name = 'broadsheet'`,
    );
    if (Number(rows[0]?.n) === 0) return;
    if (performance.now() > until) throw new InUse('The PostgreSQL database of DATABASE_URL', ofPooler);
  }
}

/** Makes a site that starts now wait until this connection ends: its migrations need the same lock. */
export async function blockStarts(client: pg.Client): Promise<void> {
  await client.query(`set lock_timeout = '30s'`);
  await client.query('select pg_advisory_lock($1)', [migrationLock]);
  await client.query('set lock_timeout = 0');
}
