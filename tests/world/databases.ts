/** Runs a suite on both engines: SQLite in a temporary folder, and a real PostgreSQL. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, vi } from 'vitest';
import type { Database, Engine } from '../../src/lib/database.ts';
import { silent } from '../../src/lib/logging.ts';
import { type DatabaseOptions, openDatabase } from '../../src/server/database/open.ts';
import { type Cluster, startPostgres } from './postgres.ts';

/** Where a database is: an empty folder, and for PostgreSQL an empty database. */
export type Place = Pick<DatabaseOptions, 'dataDir' | 'databaseUrl'>;

export interface Engines {
  readonly engine: Engine;
  /** A new, empty place; it is removed after the test. */
  place(): Promise<Place>;
  /** Opens a new database, or that of a place; closed after the test. */
  open(options?: Partial<DatabaseOptions>): Promise<Database>;
  /** The PostgreSQL. @throws Error on SQLite */
  cluster(): Cluster;
}

/** @param suite called once for each engine */
export function onBothEngines(name: string, suite: (engines: Engines) => void): void {
  describe.each(['sqlite', 'postgres'] as const)(`${name} on %s`, (engine) => suite(prepare(engine)));
}

/** For suites of one engine; call it inside `describe`. */
export function prepare(engine: Engine): Engines {
  // A busy machine is no failure.
  vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
  let cluster: Cluster | null = null;
  /** Databases are dear in PostgreSQL: most tests share one, emptied. */
  let shared: string | null = null;
  const folders: string[] = [];
  const opened: Database[] = [];
  if (engine === 'postgres') {
    beforeAll(async () => {
      cluster = await startPostgres();
    }, 60_000);
    afterAll(() => cluster?.remove());
  }
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  async function place(): Promise<Place> {
    const dataDir = mkdtempSync(join(tmpdir(), 'accounts-'));
    folders.push(dataDir);
    return { dataDir, databaseUrl: cluster ? await cluster.database() : null };
  }

  async function emptied(running: Cluster): Promise<Place> {
    if (shared === null) {
      shared = await running.database();
    } else {
      const tables = "select string_agg(quote_ident(tablename), ', ') from pg_tables where schemaname = 'public'";
      await running.run(
        `do $$ begin execute 'truncate ' || (${tables} and tablename <> 'migrations') || ' cascade'; end $$`,
        shared,
      );
    }
    return { dataDir: '', databaseUrl: shared };
  }

  return {
    engine,
    place,
    async open(options = {}) {
      const here = options.dataDir === undefined && !options.migrations;
      const where = options.dataDir !== undefined ? {} : cluster && here ? await emptied(cluster) : await place();
      const database = await openDatabase({
        // A test waits as long as it takes: how busy the machine is must not decide.
        log: silent,
        dataDir: '',
        databaseUrl: null,
        patienceMs: 60_000,
        ...where,
        ...options,
      });
      opened.push(database);
      return database;
    },
    cluster() {
      if (!cluster) throw new Error('SQLite has no cluster.');
      return cluster;
    },
  };
}
