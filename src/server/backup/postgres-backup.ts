/** Dumps the accounts of PostgreSQL into a backup, and back, with PostgreSQL's own programs. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type pg from 'pg';
import { clusterTables } from '../migrations/cluster.ts';
import { finishFolder } from './backup-folder.ts';
import { DamagedBackup, describeFile, findMissingRows, type Manifest, verifiedManifest } from './manifest.ts';
import {
  blockStarts,
  countPostgresRows,
  currentSchema,
  inTransaction,
  postgresTables,
  requireNoSite,
  serverMajor,
  withPostgres,
} from './postgres-connection.ts';
import { findTools, type PostgresTools } from './postgres-tools.ts';
import { quoted } from './sqlite-file.ts';

const dumpFile = 'accounts.dump';

export interface PostgresOptions {
  readonly databaseUrl: string;
  /** Folders of programs, as in the environment variable PATH. */
  readonly path: string;
}

/**
 * Dumps the site's schema at one moment, while the site is writing.
 *
 * @param folder an empty folder for the files
 * @throws Error with a sentence for the operator
 */
export async function dumpPostgres(folder: string, now: number, options: PostgresOptions): Promise<Manifest> {
  const { databaseUrl, path } = options;
  return withPostgres(databaseUrl, async (client) => {
    const tools = await findTools(await serverMajor(client), path);
    const file = join(folder, dumpFile);
    // The counts and the dump use the same snapshot.
    await client.query('begin isolation level repeatable read read only');
    const { rows } = await client.query<{ id: string }>('select pg_export_snapshot() as id');
    const schema = await currentSchema(client);
    const tables = await countPostgresRows(client);
    const migrations = await migrationsIn(client, tables);
    const what = ['--format=custom', '--no-owner', '--no-privileges', `--schema=${quoted(schema)}`];
    const without = clusterTables.map((table) => `--exclude-table-data=${quoted(schema)}.${table}`);
    await tools.run('pg_dump', [...what, ...without, `--snapshot=${rows[0]?.id}`, `--file=${file}`], databaseUrl);
    await client.query('commit');
    await readWhole(tools, file);
    const made = new Date(now).toISOString();
    const files = [await describeFile(file)];
    const manifest: Manifest = { format: 1, made, engine: 'postgres', schema, migrations, tables, files };
    finishFolder(folder, manifest);
    return manifest;
  });
}

async function migrationsIn(client: pg.Client, tables: Readonly<Record<string, number>>): Promise<string[]> {
  if (!('migrations' in tables)) throw new Error('The database of DATABASE_URL has no accounts: see DATABASE_URL.');
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name');
  return rows.map(({ name }) => name);
}

/** Makes pg_restore read the whole dump, including every compressed block. @throws DamagedBackup */
async function readWhole(tools: PostgresTools, file: string): Promise<void> {
  try {
    await tools.run('pg_restore', ['--file=/dev/null', file]);
  } catch (error) {
    throw new DamagedBackup(`${file} is damaged: ${(error as Error).message}`, { cause: error });
  }
}

const load = (tools: PostgresTools, from: string, { schema }: Manifest, url: string): Promise<void> => {
  const how = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges'];
  return tools.run('pg_restore', [...how, `--schema=${schema}`, join(from, dumpFile)], url);
};

async function refuseDifference(client: pg.Client, from: string, manifest: Manifest): Promise<void> {
  const missing = findMissingRows(manifest, await countPostgresRows(client));
  if (missing) throw new DamagedBackup(`${join(from, dumpFile)}: ${missing}`);
}

/**
 * Restores a backup into a new database on the same server, compares it, and drops it.
 *
 * @throws DamagedBackup, or Error with a sentence for the operator
 */
export async function checkPostgresBackup(from: string, { databaseUrl, path }: PostgresOptions): Promise<Manifest> {
  const manifest = await verifiedManifest(from);
  return withPostgres(databaseUrl, async (client) => {
    const tools = await findTools(await serverMajor(client), path);
    const name = `restore_check_${randomUUID().replaceAll('-', '')}`;
    await client.query(`create database ${name}`).catch((error: unknown) => {
      const sentence = 'The check needs its own database: allow it with "alter user … createdb".';
      throw (error as { code?: string }).code === '42501' ? new Error(sentence, { cause: error }) : error;
    });
    try {
      const url = new URL(databaseUrl);
      url.pathname = `/${name}`;
      await withPostgres(url.href, async (copy) => {
        await copy.query(`create schema if not exists ${quoted(manifest.schema ?? 'public')}`);
        await load(tools, from, manifest, url.href);
        await refuseDifference(copy, from, manifest);
      });
    } finally {
      await client.query(`drop database if exists ${name} with (force)`);
    }
    return manifest;
  });
}

/**
 * Replaces the site's tables with those of a backup. The earlier tables are moved to a separate schema.
 *
 * @returns the manifest, and the schema with the earlier tables; `null` when there were none
 * @throws InUse while a site is connected, DamagedBackup, or Error with a sentence for the operator
 */
export async function restorePostgres(
  from: string,
  now: number,
  { databaseUrl, path }: PostgresOptions,
): Promise<{ manifest: Manifest; aside: string | null }> {
  const manifest = await verifiedManifest(from);
  return withPostgres(databaseUrl, async (client) => {
    const tools = await findTools(await serverMajor(client), path);
    const schema = await currentSchema(client);
    if (schema !== manifest.schema) {
      throw new Error(
        `The backup is of the schema ${manifest.schema}, but DATABASE_URL uses ${schema}: set search_path.`,
      );
    }
    await readWhole(tools, join(from, dumpFile));
    await requireNoSite(client);
    await blockStarts(client);
    await requireNoSite(client, 0);
    const aside = `before_restore_${new Date(now).toISOString().replaceAll(/\D/g, '').slice(0, 14)}`;
    const tables = await postgresTables(client);
    if (tables.length > 0) await moveTables(client, tables, { from: schema, to: aside });
    try {
      await load(tools, from, manifest, databaseUrl);
      await refuseDifference(client, from, manifest);
    } catch (error) {
      await putBack(client, schema, aside, tables);
      throw error;
    }
    return { manifest, aside: tables.length > 0 ? aside : null };
  });
}

/** Moves tables with their indexes, sequences and rows to another schema, in one transaction. */
async function moveTables(
  client: pg.Client,
  tables: readonly string[],
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await inTransaction(client, async () => {
    await client.query(`create schema if not exists ${quoted(to)}`);
    for (const table of tables) {
      await client.query(`alter table ${quoted(from)}.${quoted(table)} set schema ${quoted(to)}`);
    }
  });
}

/** After a failed restore: moves the earlier tables back. */
async function putBack(client: pg.Client, schema: string, aside: string, tables: readonly string[]): Promise<void> {
  for (const table of await postgresTables(client)) await client.query(`drop table ${quoted(table)} cascade`);
  if (tables.length === 0) return;
  await moveTables(client, tables, { from: aside, to: schema });
  await client.query(`drop schema ${quoted(aside)}`);
}
