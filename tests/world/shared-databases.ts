/**
 * Databases that all test files of a run share: one PostgreSQL with a migrated template, and one migrated SQLite file to copy. The
 * process that starts the run creates each of them at the first request, so that a run without databases doesn't wait.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silent } from '../../src/lib/logging.ts';
import { openDatabase } from '../../src/server/database/open.ts';
import { type Cluster, runSql, startPostgres } from './postgres.ts';

/** Environment variable with the address at which this run's databases are requested. */
const databasesVariable = 'BROADSHEET_TEST_DATABASES';
const template = 'migrated';

/** Provides databases to this process and its children. @returns a function that removes all of them */
export async function offerDatabases(): Promise<() => Promise<void>> {
  if (process.env[databasesVariable]) return async () => {};
  const folder = mkdtempSync(join(tmpdir(), 'shared-databases-'));
  let cluster: Promise<Cluster> | undefined;
  let file: Promise<string> | undefined;
  const answers: Record<string, () => Promise<string>> = {
    '/postgres': async () => {
      cluster ??= startShared();
      return (await cluster).address('');
    },
    '/sqlite': () => {
      file ??= migratedFile(folder);
      return file;
    },
  };
  const server = createServer((request, response) => {
    // Otherwise a worker may use an idle connection at the moment when it is closed.
    response.setHeader('connection', 'close');
    answers[request.url ?? '']?.().then(
      (answer) => response.end(answer),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.env[databasesVariable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    delete process.env[databasesVariable];
    server.closeAllConnections();
    server.close();
    await (await cluster)?.remove();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Global set-up of vitest's projects that need databases. */
export default offerDatabases;

async function startShared(): Promise<Cluster> {
  const cluster = await startPostgres({ connections: 300 });
  await cluster.run(`create database ${template}`);
  const database = await openDatabase({ dataDir: '', databaseUrl: cluster.address(template), log: silent });
  await database.close();
  return cluster;
}

async function migratedFile(folder: string): Promise<string> {
  const database = await openDatabase({ dataDir: folder, databaseUrl: null, log: silent });
  await database.close();
  return join(folder, 'accounts.sqlite');
}

async function ask(path: string): Promise<string> {
  const response = await fetch(`${process.env[databasesVariable]}${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

/** A migrated and otherwise empty SQLite file, to be copied. @returns its path */
export const sharedSqliteFile = (): Promise<string> => ask('/sqlite');

export interface SharedPostgres {
  /** Makes an empty database, with or without the tables. @returns its address */
  database(kind: 'migrated' | 'without tables'): Promise<string>;
  /** Removes the databases that were made here. */
  removeDatabases(): Promise<void>;
}

export async function sharedPostgres(): Promise<SharedPostgres> {
  const server = await ask('/postgres');
  const made: string[] = [];
  return {
    async database(kind) {
      const name = `test_${randomUUID().replaceAll('-', '')}`;
      // Copying files is faster than the default, which writes them through the log.
      const from = kind === 'migrated' ? ` template ${template} strategy file_copy` : '';
      await runSql(`create database ${name}${from}`, `${server}postgres`);
      made.push(name);
      return `${server}${name}`;
    },
    async removeDatabases() {
      for (const name of made.splice(0)) await runSql(`drop database ${name} with (force)`, `${server}postgres`);
    },
  };
}
