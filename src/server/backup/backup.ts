/** `npm run backup`: one backup, or one at each interval while the accounts change. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { clusterTables } from '../migrations/cluster.ts';
import { type Deleted, listBackups, type StoredBackup, storeBackup } from './backup-folder.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { dumpPostgres } from './postgres-backup.ts';
import { withPostgres } from './postgres-connection.ts';
import { copySqlite, type SqliteBackupOptions } from './sqlite-backup.ts';
import { accountsFile } from './sqlite-file.ts';

export interface BackupOptions extends SqliteBackupOptions {
  /** `null`: the accounts are in SQLite. */
  readonly databaseUrl: string | null;
  readonly backupDir: string;
  /** Days that backups are kept. */
  readonly days: number;
  /** Folders of PostgreSQL's programs, as in the environment variable PATH. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface MadeBackup extends StoredBackup, Deleted {
  readonly manifest: Manifest;
}

/** Makes one verified backup and deletes outdated ones. @throws Error with a sentence for the operator */
export async function makeBackup(options: BackupOptions): Promise<MadeBackup> {
  const backup = await backUp(options, null);
  if (backup === null) throw new Error('No backup was made.');
  return backup;
}

/** @param latest the previous backup @returns `null` if the new backup's files don't differ from it */
async function backUp(options: BackupOptions, latest: Manifest | null): Promise<MadeBackup | null> {
  const { databaseUrl, backupDir, days, path } = options;
  const now = options.now();
  let manifest: Manifest | null = null;
  const stored = await storeBackup(backupDir, now, days, async (folder) => {
    manifest =
      databaseUrl === null
        ? await copySqlite(folder, now, options)
        : await dumpPostgres(folder, now, { databaseUrl, path });
    return !(latest && sameFiles(latest, manifest));
  });
  return stored && manifest && { ...stored, manifest };
}

const sameFiles = (a: Manifest, b: Manifest): boolean =>
  a.engine === 'sqlite' && JSON.stringify(a.files) === JSON.stringify(b.files);

export interface Interval {
  readonly seconds: number;
  /** Ends the run; a backup in progress is finished. */
  readonly signal: AbortSignal;
  /** @param ms how long it took */
  onMade(made: MadeBackup, ms: number): void;
  /** A failed backup is tried again after the interval. */
  onFailed(error: Error): void;
}

/** Makes a backup at each interval in which the accounts have changed, until the signal. */
export async function keepBackingUp(options: BackupOptions, interval: Interval): Promise<void> {
  const { seconds, signal, onMade, onFailed } = interval;
  let before: string | null = null;
  while (!signal.aborted) {
    const began = performance.now();
    try {
      const change = await changeMark(options);
      if (change !== before) {
        const backup = await backUp(options, latestManifest(options.backupDir));
        if (backup) onMade(backup, performance.now() - began);
        before = change;
      }
    } catch (error) {
      onFailed(error as Error);
    }
    const pauseMs = Math.max(0, seconds * 1000 - (performance.now() - began));
    await wait(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** A text that changes with every change of the accounts. */
export async function changeMark({
  dataDir,
  databaseUrl,
}: Pick<BackupOptions, 'dataDir' | 'databaseUrl'>): Promise<string> {
  if (databaseUrl === null) {
    return [accountsFile, `${accountsFile}-wal`, 'accounts-secret', 'access-key']
      .map((name) => {
        const stat = statSync(join(dataDir, name), { bigint: true, throwIfNoEntry: false });
        return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}` : '';
      })
      .join(' ');
  }
  return withPostgres(databaseUrl, async (client) => {
    const { rows } = await client.query<{ mark: string }>(
      `select string_agg(relname || ' ' || n_tup_ins || ' ' || n_tup_upd || ' ' || n_tup_del, ',' order by relname) as mark
       from pg_stat_user_tables where schemaname = current_schema() and relname <> all($1)`,
      // The nodes of a cluster write to these tables every second; a backup leaves out their rows.
      [clusterTables],
    );
    return String(rows[0]?.mark);
  });
}

function latestManifest(backupDir: string): Manifest | null {
  try {
    const [latest] = listBackups(backupDir);
    return latest ? readManifest(latest.path) : null;
  } catch {
    // There is no backup yet, or a damaged one: make another.
    return null;
  }
}
