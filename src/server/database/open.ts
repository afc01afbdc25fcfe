/** Opens the accounts database and migrates it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { type AccountsDatabase, type Database, DatabaseUnavailable } from '../../lib/database.ts';
import { withTimeLimit } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import { migrations as all } from '../migrations/all.ts';
import { type Migration, migrate } from './migrate.ts';
import { asUnavailable, closeConnections, openPool, postgresKysely, type Watch } from './postgres.ts';
import { insideTransaction, openSqlite, type SqliteOptions, sqliteKysely } from './sqlite.ts';

export interface DatabaseOptions extends SqliteOptions {
  /** Folder of `accounts.sqlite`. */
  readonly dataDir: string;
  /** Address of a PostgreSQL; `null`: SQLite. */
  readonly databaseUrl: string | null;
  /** Most connections to PostgreSQL, see `PoolOptions`. */
  readonly connections?: number;
  readonly log: Logger;
  /** Whether a database of an earlier version is migrated (default), see `ComposeOptions`. */
  readonly upgrades?: boolean;
  /** For tests. */
  readonly migrations?: readonly Migration[];
  /** For tests: connections to a PostgreSQL that is migrated; `close` leaves them open. */
  readonly pool?: pg.Pool;
}

/** Milliseconds for the connections to end in order. */
const closeMs = 2000;
/** Milliseconds between two attempts to reach an unavailable PostgreSQL. */
const askAgainMs = 1000;

/**
 * A file that can't be opened stops the start. An unavailable PostgreSQL doesn't: pages are served without it, queries throw {@link
 * DatabaseUnavailable}, and the migrations run when it is available.
 *
 * @throws Error with a sentence for the operator
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.databaseUrl === null ? openOnSqlite(options) : openOnPostgres(options, options.databaseUrl);
}

async function openOnSqlite(options: DatabaseOptions): Promise<Database> {
  mkdirSync(options.dataDir, { recursive: true });
  const file = openSqlite(join(options.dataDir, 'accounts.sqlite'), options);
  let problem: string | null = null;
  const onDisk = (now: string | null): void => {
    if (now !== null) options.log.error({ problem: now }, 'The accounts database cannot be written');
    else options.log.info({ problem }, 'The accounts database can be written again');
    problem = now;
  };
  const db = sqliteKysely<AccountsDatabase>(file, { ...options, onDisk });
  try {
    const { migrations = all, upgrades } = options;
    const ran = await migrate(sqliteKysely<unknown>(file, options), 'sqlite', migrations, Date.now(), upgrades);
    if (ran.length > 0) options.log.info({ migrations: ran }, 'The accounts database was migrated');
  } catch (error) {
    file.close();
    throw error;
  }
  return {
    engine: 'sqlite',
    db,
    transaction: (work) => insideTransaction(() => db.transaction().execute(work)),
    problem: () => problem,
    // Queries of a file end quickly, so nothing has to be aborted.
    abortQueriesAfter: () => {},
    close: async () => {
      await db.destroy();
      if (file.isOpen) file.close();
    },
  };
}

async function openOnPostgres(options: DatabaseOptions, url: string): Promise<Database> {
  const { log, timeoutMs, connections } = options;
  const pool = options.pool ?? openPool(url, { log, timeoutMs, connections });
  const availability = createAvailability(options, url);
  let closed = false;
  let isAborted = false;
  let aborting: NodeJS.Timeout | undefined;
  try {
    if (!options.pool) await availability.migrate();
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) {
      await pool.end();
      throw error;
    }
  }
  const timer = setInterval(() => void availability.whenAvailable().catch(() => {}), askAgainMs);
  timer.unref();
  const waitUntilAvailable = (): Promise<void> =>
    closed || isAborted
      ? Promise.reject(new DatabaseUnavailable('The database is closed.'))
      : availability.whenAvailable();
  const db = postgresKysely<AccountsDatabase>(pool, { ...availability, whenAvailable: waitUntilAvailable });
  return {
    engine: 'postgres',
    db,
    transaction: (work) => retryDeadlocks(() => db.transaction().execute(work)),
    problem: availability.problem,
    abortQueriesAfter(ms) {
      clearTimeout(aborting);
      aborting = setTimeout(() => {
        log.warn({}, "PostgreSQL didn't answer in time; its queries are aborted");
        isAborted = true;
        closeConnections(pool);
      }, ms).unref();
    },
    close: async () => {
      clearTimeout(aborting);
      if (closed) return;
      closed = true;
      clearInterval(timer);
      if (!options.pool) await withTimeLimit(closeMs, pool.end(), () => closeConnections(pool));
    },
  };
}

interface Availability extends Watch {
  /** Runs the migrations. @throws DatabaseUnavailable, NewerDatabase */
  migrate(): Promise<void>;
  /** Why the database can't be used at present; `null` when it can. */
  problem(): string | null;
}

/** Whether PostgreSQL is available and migrated. While it isn't, queries try the migrations again, once a second at most. */
function createAvailability(
  { log, timeoutMs, migrations = all, upgrades, pool: migrated }: DatabaseOptions,
  url: string,
): Availability {
  let ready = migrated !== undefined;
  let problem: string | null = null;
  let migrating: Promise<void> | null = null;
  let triedAt = Number.NEGATIVE_INFINITY;

  async function runMigrations(): Promise<void> {
    triedAt = performance.now();
    const pool = openPool(url, { log, timeoutMs, patient: true });
    try {
      const ran = await migrate(postgresKysely<unknown>(pool), 'postgres', migrations, Date.now(), upgrades);
      ready = true;
      if (problem !== null) log.info({}, 'PostgreSQL is available again');
      problem = null;
      if (ran.length > 0) log.info({ migrations: ran }, 'The accounts database was migrated');
    } catch (error) {
      const known = asUnavailable(error);
      const sentence = known instanceof Error ? known.message : String(known);
      if (sentence !== problem) log.error({ err: known }, 'The accounts database cannot be used yet');
      problem = sentence;
      throw known;
    } finally {
      await pool.end();
    }
  }

  return {
    migrate: runMigrations,
    problem: () => problem,
    async whenAvailable() {
      if (ready) return;
      if (!migrating && performance.now() - triedAt < askAgainMs)
        throw new DatabaseUnavailable(problem ?? 'Not ready yet.');
      migrating ??= runMigrations().finally(() => {
        migrating = null;
      });
      try {
        await migrating;
      } catch (error) {
        if (error instanceof DatabaseUnavailable) throw error;
        throw new DatabaseUnavailable((error as Error).message, { cause: error });
      }
    },
    report(now) {
      if (now !== problem)
        log[now === null ? 'info' : 'error']({ problem: now ?? problem }, now ?? 'PostgreSQL is available again');
      problem = now;
    },
  };
}

/** PostgreSQL aborts one of two transactions in a deadlock, which then runs again. */
async function retryDeadlocks<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      if (attempt >= 4 || (code !== '40P01' && code !== '40001')) throw error;
      await wait(Math.random() * 20 * attempt);
    }
  }
}
