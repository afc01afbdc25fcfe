/** Copies the accounts of SQLite into a backup, and back. */
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { silent } from '../../lib/logging.ts';
import { openDatabase } from '../database/open.ts';
import { finishFolder, giveToOwner, syncPath } from './backup-folder.ts';
import {
  DamagedBackup,
  describeFile,
  findMissingRows,
  isMissing,
  type Manifest,
  unreadable,
  verifiedManifest,
} from './manifest.ts';
import {
  accountsFile,
  countRows,
  findDamage,
  InUse,
  lockDataDir,
  migrationsOf,
  openExclusively,
} from './sqlite-file.ts';

/** Secrets that the site stores next to the accounts if no setting has them. */
const secretFiles = ['accounts-secret', 'access-key'] as const;

/** Prefix of the folder of files that are being restored. */
const restoring = '.restoring-';

export interface SqliteBackupOptions {
  readonly dataDir: string;
  /** Pages that are copied in one step; 250 (1 MB) unless given. */
  readonly pagesAtOnce?: number | undefined;
  readonly onProgress?: ((copied: number, total: number) => void) | undefined;
}

/**
 * Copies the database at one moment, while the site is writing. A read transaction keeps that snapshot; in WAL mode it doesn't block
 * writers.
 *
 * @param folder an empty folder for the files
 * @throws Error with a sentence for the operator
 */
export async function copySqlite(folder: string, now: number, options: SqliteBackupOptions): Promise<Manifest> {
  const { dataDir, pagesAtOnce = 250, onProgress } = options;
  const source = join(dataDir, accountsFile);
  try {
    accessSync(source, constants.R_OK);
  } catch (error) {
    if (!isMissing(error)) throw unreadable(source, error);
    throw new Error(`There is no ${source} to back up: see DATA_DIR and DATABASE_URL.`, { cause: error });
  }
  const target = join(folder, accountsFile);
  const database = new DatabaseSync(source, { timeout: 5000 });
  let expected: Record<string, number>;
  try {
    database.exec('begin');
    expected = countRows(database);
    await backup(database, target, {
      rate: pagesAtOnce,
      progress({ totalPages, remainingPages }) {
        // In steps: otherwise the site's commits would wait while the disk stores the whole copy at the end.
        syncPath(target);
        onProgress?.(totalPages - remainingPages, totalPages);
      },
    });
  } finally {
    database.close();
  }
  const { tables, migrations } = checkedCopy(target);
  for (const name of secretFiles) {
    if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(folder, name));
  }
  const names = [accountsFile, ...secretFiles].filter((name) => existsSync(join(folder, name)));
  const files = await Promise.all(names.map((name) => describeFile(join(folder, name))));
  const made = new Date(now).toISOString();
  const manifest: Manifest = { format: 1, made, engine: 'sqlite', schema: null, migrations, tables, files };
  const missing = findMissingRows(manifest, expected);
  if (missing) throw new Error(`The copy of ${source} isn't complete: ${missing}. Check the disk of BACKUP_DIR.`);
  finishFolder(folder, manifest);
  return manifest;
}

/** Turns a copy into a single file and checks it. @throws DamagedBackup */
function checkedCopy(file: string): { tables: Record<string, number>; migrations: string[] } {
  const database = new DatabaseSync(file);
  try {
    database.exec('pragma journal_mode = delete');
    const damage = findDamage(database);
    if (damage) throw new DamagedBackup(`${file} is damaged: ${damage}`);
    return { tables: countRows(database), migrations: migrationsOf(database) };
  } catch (error) {
    if (error instanceof DamagedBackup) throw error;
    throw new DamagedBackup(`${file} is damaged: ${(error as Error).message}`, { cause: error });
  } finally {
    database.close();
  }
}

/**
 * Copies the files of a backup into an empty folder and checks the copies.
 *
 * @param durable whether to wait until the disk has stored them
 * @throws DamagedBackup
 */
async function unpack(from: string, folder: string, durable: boolean): Promise<Manifest> {
  const manifest = await verifiedManifest(from);
  for (const { name, sha256 } of manifest.files) {
    const copy = join(folder, name);
    copyFileSync(join(from, name), copy);
    chmodSync(copy, 0o600);
    if (durable) syncPath(copy);
    if ((await describeFile(copy)).sha256 !== sha256) throw new DamagedBackup(`${copy} isn't what ${name} is`);
  }
  const { tables } = checkedCopy(join(folder, accountsFile));
  const missing = findMissingRows(manifest, tables);
  if (missing) throw new DamagedBackup(`${join(from, accountsFile)}: ${missing}`);
  return manifest;
}

/**
 * Restores a backup into a temporary folder, opens it as the site does, and deletes the folder.
 *
 * @throws DamagedBackup, or NewerDatabase
 */
export async function checkSqliteBackup(from: string): Promise<Manifest> {
  const folder = mkdtempSync(join(tmpdir(), 'restore-check-'));
  try {
    const manifest = await unpack(from, folder, false);
    const opened = await openDatabase({ dataDir: folder, databaseUrl: null, log: silent, durable: false });
    await opened.close();
    return manifest;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Restored {
  readonly manifest: Manifest;
  /** Where the earlier data is; `null` when there was none. */
  readonly aside: string | null;
}

/**
 * Replaces the accounts of a data folder with those of a backup, and moves the earlier files to a folder next to them.
 *
 * @throws InUse while the site runs, DamagedBackup, or Error with a sentence for the operator
 */
export async function restoreSqlite(from: string, dataDir: string, now: number): Promise<Restored> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const release = lockDataDir(dataDir);
  // A restore that was killed leaves its folder.
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith(restoring)) rmSync(join(dataDir, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(dataDir, restoring));
  const aside = join(dataDir, `before-restore-${new Date(now).toISOString().replaceAll(/[-:]/g, '')}`);
  try {
    const manifest = await unpack(from, folder, true);
    const names = [accountsFile, `${accountsFile}-wal`, `${accountsFile}-shm`, `${accountsFile}-journal`];
    const earlier = [...names, ...secretFiles].filter((name) => existsSync(join(dataDir, name)));
    giveToOwner(
      dataDir,
      manifest.files.map(({ name }) => join(folder, name)),
    );
    if (earlier.length > 0) {
      mkdirSync(aside, { mode: 0o700 });
      giveToOwner(dataDir, [aside]);
    }
    for (const name of earlier) {
      const [path, kept] = [join(dataDir, name), join(aside, name)];
      // The write-ahead log of the earlier database must be removed before the other database is there: SQLite would apply the
      // log to it.
      if (name.startsWith(`${accountsFile}-`)) renameSync(path, kept);
      else linkSync(path, kept);
    }
    if (earlier.length > 0) syncPath(aside);
    for (const { name } of manifest.files) renameSync(join(folder, name), join(dataDir, name));
    syncPath(dataDir);
    release();
    refuseLateStart(join(aside, accountsFile));
    return { manifest, aside: earlier.length > 0 ? aside : null };
  } finally {
    release();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A site that was started during the restore may still use the earlier file. @throws Error with a sentence for the operator */
function refuseLateStart(earlier: string): void {
  if (!existsSync(earlier)) return;
  try {
    openExclusively(earlier).close();
  } catch (error) {
    if (!(error instanceof InUse)) return;
    throw new Error(
      `The backup is restored, but a site was started in the meantime and uses ${earlier}: restart the site.`,
      {
        cause: error,
      },
    );
  }
}
