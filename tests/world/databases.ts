/** Runs a suite on both engines: SQLite in a temporary folder, and a real PostgreSQL. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { Database, Engine } from '../../src/lib/database.ts';
import { silent } from '../../src/lib/logging.ts';
import { type DatabaseOptions, openDatabase } from '../../src/server/database/open.ts';
import { openPool } from '../../src/server/database/postgres.ts';
import { type Cluster, startPostgres } from './postgres.ts';
import { type SharedPostgres, sharedPostgres, sharedSqliteFile } from './shared-databases.ts';

/** Where a database is: an empty folder, and for PostgreSQL an empty database. */
export type Place = Pick<DatabaseOptions, 'dataDir' | 'databaseUrl'>;

export interface Engines {
  readonly engine: Engine;
  /** A new place without tables; it is removed after the test. */
  place(): Promise<Place>;
  /** A place with empty tables; the tests of a suite use the same PostgreSQL database, one after another. */
  migratedPlace(): Promise<Place>;
  /** Opens a new database, or that of a place; it is closed after the test. */
  open(options?: Partial<DatabaseOptions>): Promise<Database>;
  /** The PostgreSQL of this suite alone. @throws Error without `ownServer`, and on SQLite */
  cluster(): Cluster;
}

interface PrepareOptions {
  /** A separate PostgreSQL for this suite, which the suite may stop and start. */
  readonly ownServer?: boolean;
}

/** @param suite called once for each engine */
export function onBothEngines(name: string, suite: (engines: Engines) => void): void {
  describe.each(['sqlite', 'postgres'] as const)(`${name} on %s`, (engine) => suite(prepare(engine)));
}

/** The same for a suite that stops and starts its PostgreSQL. */
export function onBothEnginesAlone(name: string, suite: (engines: Engines) => void): void {
  describe.each(['sqlite', 'postgres'] as const)(`${name} on %s`, (engine) =>
    suite(prepare(engine, { ownServer: true })),
  );
}

/** A database that the tests of a suite use one after another. */
interface Reused {
  readonly address: string;
  /** Connections that stay open from test to test. */
  readonly pool: pg.Pool;
  /** Waits for what the last test has started, and empties every table except that of the migrations. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

/** @param address of a migrated database */
async function openReused(address: string): Promise<Reused> {
  const pool = openPool(address, { log: silent, timeoutMs: 60_000 });
  const cleaner = await openCleaner(address);
  return {
    address,
    pool,
    async empty() {
      while (pool.idleCount < pool.totalCount || pool.waitingCount > 0) await setImmediate();
      await cleaner.empty();
    },
    async close() {
      await cleaner.end();
      await pool.end();
    },
  };
}

/** Empties tables, far faster than `truncate`, which creates new files for each of them. */
async function openCleaner(address: string): Promise<{ empty(): Promise<void>; end(): Promise<void> }> {
  const client = new pg.Client(address);
  await client.connect();
  // Without foreign key checks the order of the tables doesn't matter.
  await client.query('set session_replication_role = replica');
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' and tablename <> 'migrations'`,
  );
  // A named statement, which PostgreSQL parses once.
  const deletes = rows.map(({ name }, index) => `d${index} as (delete from ${name})`);
  const statement = { name: 'empty', text: `with ${deletes.join(', ')} select` };
  return {
    empty: async () => void (await client.query(statement)),
    end: () => client.end(),
  };
}

/** For suites of one engine; call it inside `describe`. */
export function prepare(engine: Engine, { ownServer = false }: PrepareOptions = {}): Engines {
  let cluster: Cluster | null = null;
  let postgres: SharedPostgres | null = null;
  /** Most tests of a suite share one database, emptied before each; if the server may stop, no connection to it stays open. */
  let reused: Reused | null = null;
  let reusedAlone: string | null = null;
  const folders: string[] = [];
  const opened: Database[] = [];
  if (engine === 'postgres') {
    beforeAll(async () => {
      if (ownServer) cluster = await startPostgres();
      else postgres = await sharedPostgres();
    });
    afterAll(async () => {
      await reused?.close();
      await cluster?.remove();
      await postgres?.removeDatabases();
    });
  }
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  async function place(): Promise<Place> {
    const dataDir = mkdtempSync(join(tmpdir(), 'accounts-'));
    folders.push(dataDir);
    const databaseUrl = (await cluster?.database()) ?? (await postgres?.database('without tables')) ?? null;
    return { dataDir, databaseUrl };
  }

  async function migratedPlace(): Promise<Place & Pick<DatabaseOptions, 'pool'>> {
    if (engine === 'sqlite') {
      const where = await place();
      copyFileSync(await sharedSqliteFile(), join(where.dataDir, 'accounts.sqlite'));
      return where;
    }
    if (cluster) {
      if (reusedAlone !== null) {
        const cleaner = await openCleaner(reusedAlone);
        await cleaner.empty();
        await cleaner.end();
      }
      reusedAlone ??= await cluster.database();
      return { dataDir: '', databaseUrl: reusedAlone };
    }
    if (!postgres) throw new Error('Databases are there when the tests of a suite have begun.');
    if (reused) await reused.empty();
    reused ??= await openReused(await postgres.database('migrated'));
    return { dataDir: '', databaseUrl: reused.address, pool: reused.pool };
  }

  return {
    engine,
    place,
    migratedPlace,
    async open(options = {}) {
      let where: Partial<DatabaseOptions> = {};
      if (options.dataDir === undefined) where = options.migrations ? await place() : await migratedPlace();
      const database = await openDatabase({
        // A test waits as long as necessary: the machine's load must not decide.
        log: silent,
        dataDir: '',
        databaseUrl: null,
        timeoutMs: 60_000,
        durable: false,
        ...where,
        ...options,
      });
      opened.push(database);
      return database;
    },
    cluster() {
      if (!cluster) throw new Error('This suite has no PostgreSQL of its own.');
      return cluster;
    },
  };
}
