/** The folder of all backups: names, a lock, complete backups only, and which old ones are deleted. */
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { type Manifest, manifestFile } from './manifest.ts';

const namePattern = /^accounts-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)\.(\d{3})Z$/;
/** Prefix of a backup that isn't complete. */
const unfinished = '.unfinished-';
const hour = 3_600_000;
const day = 24 * hour;

export interface StoredBackup {
  readonly name: string;
  readonly path: string;
  /** Epoch milliseconds. */
  readonly time: number;
}

export interface Deleted {
  /** Outdated backups that were deleted. */
  readonly deleted: number;
}

const nameOf = (time: number): string => `accounts-${new Date(time).toISOString().replaceAll(/[-:]/g, '')}`;

/** Complete backups, newest first. Folders with other names are ignored, so a renamed backup is never deleted. */
export function listBackups(backupDir: string): StoredBackup[] {
  return readdirSync(backupDir, { withFileTypes: true })
    .flatMap((entry) => {
      const parts = namePattern.exec(entry.name);
      if (!parts || !entry.isDirectory()) return [];
      const [, year, month, date, hours, minutes, seconds, ms] = parts;
      const time = Date.parse(`${year}-${month}-${date}T${hours}:${minutes}:${seconds}.${ms}Z`);
      return [{ name: entry.name, path: join(backupDir, entry.name), time }];
    })
    .sort((a, b) => b.time - a.time);
}

/** Days with backups that are kept even if the clock says that they are too old: it may be wrong. */
const leastDays = 7;

/**
 * Chooses the backups to delete: it keeps all of the last hour, the newest of each hour of the last day, the newest of each day (UTC) of the
 * last `days`, and always the newest one and the newest of each of the last seven days (at most `days`) that have backups.
 *
 * @param times epoch milliseconds, in any order
 */
export function expiredBackups(times: readonly number[], now: number, days: number): number[] {
  const newestFirst = times.toSorted((a, b) => b - a);
  const kept = new Set<string>();
  const daysSeen = new Set<number>();
  return newestFirst.filter((time, at) => {
    const age = now - time;
    const isNewestOfDay = !daysSeen.has(Math.floor(time / day));
    daysSeen.add(Math.floor(time / day));
    if (at === 0 || age < hour) return false;
    const isAmongLast = isNewestOfDay && daysSeen.size <= Math.min(leastDays, days);
    if (age >= days * day && !isAmongLast) return true;
    const slot = age < day ? `hour ${Math.floor(time / hour)}` : `day ${Math.floor(time / day)}`;
    if (kept.has(slot)) return true;
    kept.add(slot);
    return false;
  });
}

/** Deletes the outdated backups. @returns how many */
function prune(backupDir: string, now: number, days: number): number {
  const stored = listBackups(backupDir);
  const old = new Set(
    expiredBackups(
      stored.map(({ time }) => time),
      now,
      days,
    ),
  );
  for (const { path, time } of stored) if (old.has(time)) rmSync(path, { recursive: true, force: true });
  return old.size;
}

/** Writes names and sizes of a folder to the disk, so that a rename survives a power failure. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes the manifest, closes the files to other users, and waits until the disk has stored them. */
export function finishFolder(folder: string, manifest: Manifest): void {
  writeFileSync(join(folder, manifestFile), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const name of readdirSync(folder)) {
    chmodSync(join(folder, name), 0o600);
    syncPath(join(folder, name));
  }
  syncPath(folder);
}

/**
 * Makes one backup in a folder that gets its name only when it is complete. A process that is killed leaves an unfinished folder, which
 * the next backup deletes. Outdated backups are deleted before, to make room, and after.
 *
 * @param days that backups are kept
 * @param work writes the files; `false`: the backup isn't needed
 * @returns the backup, or `null` without one
 */
export async function storeBackup(
  backupDir: string,
  now: number,
  days: number,
  work: (folder: string) => Promise<boolean>,
): Promise<(StoredBackup & Deleted) | null> {
  openBackupDir(backupDir);
  const unlock = await lock(backupDir);
  try {
    for (const name of readdirSync(backupDir)) {
      if (name.startsWith(unfinished)) rmSync(join(backupDir, name), { recursive: true, force: true });
    }
    const deletedBefore = prune(backupDir, now, days);
    const name = nameOf(now);
    const folder = join(backupDir, `${unfinished}${name}`);
    mkdirSync(folder, { mode: 0o700 });
    try {
      if (!(await work(folder))) {
        rmSync(folder, { recursive: true, force: true });
        return null;
      }
      const path = join(backupDir, name);
      giveToOwner(backupDir, [...readdirSync(folder).map((file) => join(folder, file)), folder]);
      renameSync(folder, path);
      syncPath(backupDir);
      return { name, path, time: now, deleted: deletedBefore + prune(backupDir, now, days) };
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  } finally {
    unlock();
  }
}

/** @throws Error with a sentence for the operator */
function openBackupDir(backupDir: string): void {
  try {
    mkdirSync(backupDir, { recursive: true, mode: 0o700 });
    accessSync(backupDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const sentence = `BACKUP_DIR is ${backupDir}, which can't be made or written (${code ?? message}). Set it to a folder that this user can write.`;
    throw new Error(sentence, { cause: error });
  }
}

/** Files that root creates in another user's folder are given to that user, who otherwise couldn't read them. */
export function giveToOwner(folder: string, paths: readonly string[]): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  for (const path of paths) chownSync(path, uid, gid);
}

/** One backup at a time. SQLite's lock ends with its process, so a killed backup leaves none behind. */
async function lock(backupDir: string): Promise<() => void> {
  const file = join(backupDir, '.lock');
  const database = new DatabaseSync(file, { timeout: 0 });
  giveToOwner(backupDir, [file]);
  for (const until = performance.now() + 30_000; ; await wait(100)) {
    try {
      database.exec('begin exclusive');
      return () => database.close();
    } catch (error) {
      if (performance.now() < until) continue;
      database.close();
      throw new Error(`Another backup is being made in ${backupDir}; wait until it has ended.`, { cause: error });
    }
  }
}
