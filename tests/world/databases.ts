/** Runs a suite on both engines: SQLite in a temporary folder, and a real PostgreSQL. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
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
  let cluster: Cluster | null = null;
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

  return {
    engine,
    place,
    async open(options = {}) {
      const where = options.dataDir === undefined ? await place() : {};
      const database = await openDatabase({
        ...{ log: silent, dataDir: '', databaseUrl: null },
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
