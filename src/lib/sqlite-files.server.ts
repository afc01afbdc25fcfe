/**
 * Common to all SQLite files: how damage and disk errors are recognized. A damaged file with derived data is set aside and created again.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';

/** A database and the files that SQLite keeps next to it. */
export const filesOf = (file: string): readonly string[] => [file, `${file}-wal`, `${file}-shm`];

/**
 * Whether an error means that the file is damaged: SQLITE_CORRUPT, SQLITE_NOTADB, or a read that ended too early (SQLITE_IOERR_SHORT_READ), as
 * from a truncated file.
 */
export function isDamage(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' && ((code & 0xff) === 11 || (code & 0xff) === 26 || code === 522);
}

/** SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN. */
const diskCodes = [8, 10, 13, 14];

/** Why a file can't be written, for the operator; `null` when the disk isn't the cause. */
export function diskProblem(error: unknown): string | null {
  const { errcode, message } = Object(error) as { readonly errcode?: unknown; readonly message?: unknown };
  if (typeof errcode !== 'number' || !diskCodes.includes(errcode & 0xff) || isDamage(error)) return null;
  return `The disk can't be written (${message}): check that DATA_DIR has space, isn't read-only, and belongs to the server's user.`;
}

/**
 * Message for a start that fails because a file with derived data can't be opened. @param name of the file, for the operator
 */
export const cannotOpen = (name: string, file: string): string =>
  `The ${name} ${file} can't be opened: check that it and DATA_DIR belong to the server's user and that the disk has space. It may be deleted; the site creates it again.`;

export function removeFiles(file: string): void {
  for (const path of filesOf(file)) rmSync(path, { force: true });
}

/** Renames a database, replacing an earlier one with that name. @returns the new name */
export function setAside(file: string, aside: string): string {
  removeFiles(aside);
  for (const path of filesOf(file)) if (existsSync(path)) renameSync(path, path.replace(file, aside));
  return aside;
}
