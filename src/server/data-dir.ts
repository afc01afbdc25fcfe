/**
 * The folder of everything the server writes. It contains addresses, sessions and keys, so only the server's own user may read it:
 * files are 0600 and folders 0700, even those that libraries, SQLite and threads create.
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isMainThread } from 'node:worker_threads';
import type { Logger } from '../lib/logging.ts';

const ownerOnly = 0o077;

/** Folders in it that the site creates where they are missing. */
const folders = ['assets', 'images', 'pages'];

/**
 * Creates the folder if necessary, and removes other users' access to it and to everything that is written from now on.
 *
 * @throws Error with a sentence for the operator when it can't be created or written, or has a file where the site needs a folder
 */
export function openDataDir(dir: string, log: Logger): void {
  // A thread can't set the umask and uses that of the process.
  if (isMainThread) process.umask(ownerOnly);
  try {
    makeFolder(resolve(dir));
    tryWriting(dir);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const sentence = `DATA_DIR is ${dir}, which can't be made or written (${code ?? message}). Set it to a folder that the server's user can write.`;
    throw new Error(sentence, { cause: error });
  }
  for (const name of folders) requireFolder(join(dir, name));
  const failed = closeToOthers(resolve(dir));
  if (failed !== null) {
    log.warn(
      { dir, path: failed },
      'Other users may read files in DATA_DIR: they belong to another user, so their mode stays',
    );
  }
}

/** A path relative to the checkout leads a new version, in a folder of its own, to another and empty DATA_DIR. */
export function warnOfRelativePath(dir: string, log: Logger): void {
  if (isAbsolute(dir)) return;
  const message =
    'DATA_DIR is a relative path: a new version in another folder would start without this data. Set an absolute path, and move the data there';
  log.warn({ dir: resolve(dir) }, message);
}

/** Locked as long as this process lives: SQLite releases the lock when the process ends, for any reason. */
let servingLock: DatabaseSync | undefined;

/**
 * Prevents other sites from serving the folder: each would miss changes that the other one has stored, and keep showing withdrawn
 * stories. Commands may run at the same time.
 *
 * @throws Error with a sentence for the operator
 */
export function lockForServing(dir: string): void {
  try {
    servingLock = new DatabaseSync(join(dir, 'serving.lock'), { timeout: 0 });
    servingLock.exec('begin exclusive');
  } catch (error) {
    const busy = 5;
    // A full disk doesn't stop the start.
    if ((error as { errcode?: number }).errcode !== busy) return;
    const sentence = `DATA_DIR is ${dir}, which another process of the site serves. Give each a folder of its own, or stop that process.`;
    throw new Error(sentence, { cause: error });
  }
}

/**
 * Creates a folder and its parents. Node's own `recursive` option never returns on a file system such as /proc, which accepts no
 * folders and reports a missing parent.
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

/** A link to a folder is one; a link to nothing isn't. */
function requireFolder(path: string): void {
  if (lstatOrNull(path) === null || statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new Error(`${path} isn't a folder, and the site needs one there. Move it away; the site makes the folder.`);
}

const lstatOrNull = (path: string) => lstatSync(path, { throwIfNoEntry: false }) ?? null;

/** A full disk doesn't stop the start: the stored pages can still be read. */
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

/** Removes other users' access to a folder and all in it, where they had any. @returns a path whose mode couldn't be changed */
function closeToOthers(dir: string): string | null {
  if ((lstatSync(dir).mode & ownerOnly) === 0) return null;
  let failed: string | null = null;
  const paths = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  // The folder itself comes last, so that the next start repeats this if it is interrupted.
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
