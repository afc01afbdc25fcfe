/**
 * The folder of everything the server writes. It holds addresses, sessions and keys, so that only the server's own user may read it:
 * files are 0600 and folders 0700, whoever makes them (libraries, SQLite beside its database, threads).
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { Logger } from '../lib/logging.ts';

const ownerOnly = 0o077;

/**
 * Makes the folder if need be, and keeps it, and what is written from now on, from other users.
 *
 * @throws Error with a sentence for the operator when it can't be made or written
 */
export function openDataDir(dir: string, log: Logger): void {
  // A thread can't set it and has that of the process.
  if (isMainThread) process.umask(ownerOnly);
  try {
    makeFolder(resolve(dir));
    tryWriting(dir);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const sentence = `DATA_DIR is ${dir}, which can't be made or written (${code ?? message}). Set it to a folder that the server's user can write.`;
    throw new Error(sentence, { cause: error });
  }
  const failed = closeToOthers(resolve(dir));
  if (failed !== null) {
    log.warn(
      { dir, path: failed },
      'Other users may read files in DATA_DIR: they belong to another user, so their mode stays',
    );
  }
}

/**
 * Makes a folder and those above it. Node's own `recursive` never returns where a file system takes no folders and says that the
 * parent is missing, such as /proc.
 */
function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && lstatOrNull(dir) !== null) return;
    const parent = dirname(dir);
    if (code !== 'ENOENT' || lstatOrNull(parent) !== null || parent === dir) throw error;
    makeFolder(parent);
    mkdirSync(dir, { mode: 0o700 });
  }
}

const lstatOrNull = (path: string) => lstatSync(path, { throwIfNoEntry: false }) ?? null;

/** A full disk is no reason not to start: what is stored can still be read. */
function tryWriting(dir: string): void {
  const file = join(dir, `.writable-${process.pid}`);
  try {
    writeFileSync(file, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * Takes the rights of others off a folder and all in it, where it was open to others. @returns a path whose rights could not be changed
 */
function closeToOthers(dir: string): string | null {
  if ((lstatSync(dir).mode & ownerOnly) === 0) return null;
  let failed: string | null = null;
  const paths = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  // The folder itself comes last: a start that was cut short begins again.
  for (const path of [...paths, dir]) {
    try {
      const { mode } = lstatSync(path);
      if ((mode & ownerOnly) !== 0) chmodSync(path, mode & 0o7700);
    } catch (error) {
      // Another process of the site may have just removed it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') failed ??= path;
    }
  }
  return failed;
}
