/** Runs a suite on both engines: SQLite in a temporary folder, and a real PostgreSQL. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, vi } from 'vitest';
import type { Database, Engine } from '../../src/lib/database.ts';
import { silent } from '../../src/lib/logging.ts';
import { type DatabaseOptions, openDatabase } from '../../src/server/database/open.ts';
import { type Cluster, runSql, startPostgres } from './postgres.ts';
import { type SharedPostgres, sharedPostgres, sharedSqliteFile } from './shared-databases.ts';

/** Where a database is: an empty folder, and for PostgreSQL an empty database. */
export type Place = Pick<DatabaseOptions, 'dataDir' | 'databaseUrl'>;

export interface Engines {
  readonly engine: Engine;
  /** A new place without tables; it is removed after the test. */
  place(): Promise<Place>;
  /** A place with the tables, and nothing in them; the tests of a suite have the same PostgreSQL database, one after the other. */
  migratedPlace(): Promise<Place>;
  /** Opens a new database, or that of a place; closed after the test. */
  open(options?: Partial<DatabaseOptions>): Promise<Database>;
  /** The PostgreSQL of this suite alone. @throws Error without `ownServer`, and on SQLite */
  cluster(): Cluster;
}

interface PrepareOptions {
  /** A PostgreSQL for this suite alone, which it may stop and start. */
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

/** Empties every table and keeps the migrations; far quicker than `truncate`, which makes new files for each table. */
const emptyTables = `do $$ declare each record; begin
  set local session_replication_role = replica;
  for each in select tablename from pg_tables where schemaname = 'public' and tablename <> 'migrations' loop
    execute format('delete from %I', each.tablename);
  end loop;
end $$`;

/** For suites of one engine; call it inside `describe`. */
export function prepare(engine: Engine, { ownServer = false }: PrepareOptions = {}): Engines {
  // A busy machine is no failure.
  vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
  let cluster: Cluster | null = null;
  let postgres: SharedPostgres | null = null;
  /** Most tests of a suite share one database, emptied before each. */
  let reused: string | null = null;
  const folders: string[] = [];
  const opened: Database[] = [];
  if (engine === 'postgres') {
    beforeAll(async () => {
      if (ownServer) cluster = await startPostgres();
      else postgres = await sharedPostgres();
    }, 120_000);
    afterAll(async () => {
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

  async function migratedPlace(): Promise<Place> {
    if (engine === 'sqlite') {
      const where = await place();
      copyFileSync(await sharedSqliteFile(), join(where.dataDir, 'accounts.sqlite'));
      return where;
    }
    if (reused !== null) await runSql(emptyTables, reused);
    reused ??= (await cluster?.database()) ?? (await postgres?.database('migrated')) ?? null;
    return { dataDir: '', databaseUrl: reused };
  }

  return {
    engine,
    place,
    migratedPlace,
    async open(options = {}) {
      let where: Partial<Place> = {};
      if (options.dataDir === undefined) where = options.migrations ? await place() : await migratedPlace();
      const database = await openDatabase({
        // A test waits as long as it takes: how busy the machine is must not decide.
        log: silent,
        dataDir: '',
        databaseUrl: null,
        patienceMs: 60_000,
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
