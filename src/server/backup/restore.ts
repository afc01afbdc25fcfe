/** `npm run restore`: replaces the accounts with a backup, or checks a backup by restoring it elsewhere. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { refuseNewer } from '../database/migrate.ts';
import { migrations } from '../migrations/all.ts';
import { listBackups } from './backup-folder.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { checkPostgresBackup, restorePostgres } from './postgres-backup.ts';
import { checkSqliteBackup, type Restored, restoreSqlite } from './sqlite-backup.ts';

export interface RestoreOptions {
  readonly dataDir: string;
  /** `null`: the accounts are in SQLite. */
  readonly databaseUrl: string | null;
  /** Folders of PostgreSQL's programs, as in the environment variable PATH. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Milliseconds by which the clocks of the machines that back up and restore may differ. */
const clocksApartMs = 60_000;

/**
 * Finds a backup by its path, its name in the backup folder, or `latest`.
 *
 * @param now epoch milliseconds
 * @returns its folder
 * @throws Error with a sentence for the operator
 */
export function findBackup(text: string, backupDir: string | null, now: number): string {
  if (text === 'latest') {
    if (backupDir === null) throw new Error('Set BACKUP_DIR, or give the path of a backup.');
    const [latest] = existsSync(backupDir) ? listBackups(backupDir) : [];
    if (!latest) throw new Error(`There is no backup in ${backupDir}.`);
    // If a clock was ahead for a moment, a backup with a future time stays the "latest" until that time.
    if (latest.time > now + clocksApartMs) {
      throw new Error(
        `A clock was or is wrong: ${latest.name} is newer than ${new Date(now).toISOString()}. Give the name of the backup instead of "latest".`,
      );
    }
    return latest.path;
  }
  const found = [...(backupDir === null ? [] : [join(backupDir, text)]), resolve(text)].find((path) =>
    existsSync(path),
  );
  if (!found) throw new Error(`There is no backup ${text}: give its path, its name in BACKUP_DIR, or "latest".`);
  return found;
}

/** @throws Error if the backup is for another engine or from a newer version of the site */
function refuseOther(from: string, { databaseUrl }: RestoreOptions): void {
  const manifest = readManifest(from);
  if (manifest.engine === 'sqlite' && databaseUrl !== null) {
    throw new Error(
      'The backup is of SQLite, but DATABASE_URL is set: restore it without DATABASE_URL, then run "npm run move-to-postgres".',
    );
  }
  if (manifest.engine === 'postgres' && databaseUrl === null) {
    throw new Error('The backup is of PostgreSQL: set DATABASE_URL to the database to restore it into.');
  }
  refuseNewer(manifest.migrations, migrations);
}

/** Restores a backup into a temporary place and compares it; nothing of the site changes. @throws Error that names the damage */
export async function checkBackup(from: string, options: RestoreOptions): Promise<Manifest> {
  refuseOther(from, options);
  const { databaseUrl, path } = options;
  return databaseUrl === null ? checkSqliteBackup(from) : checkPostgresBackup(from, { databaseUrl, path });
}

/** Restores a backup. @throws InUse while the site runs, or Error that says what to do */
export async function restore(from: string, options: RestoreOptions): Promise<Restored> {
  refuseOther(from, options);
  const { dataDir, databaseUrl, path, now } = options;
  return databaseUrl === null ? restoreSqlite(from, dataDir, now) : restorePostgres(from, now, { databaseUrl, path });
}
