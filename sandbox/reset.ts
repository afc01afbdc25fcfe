/**
 * Resets the sandbox: deletes everything that it has stored. As a program:
 *
 *     node sandbox/reset.ts [data folder]
 */
import fs from 'node:fs';
import path from 'node:path';
import { takeLock } from './lock.mjs';
import { SetupError } from './setup.mjs';

/**
 * Claims a data folder for this process until it ends or releases it.
 * @throws {SetupError} when another process has the folder
 */
export function lockData(data: string): { release(): void } {
  const lock = takeLock(path.join(data, 'sandbox.lock'));
  if (lock) return lock;
  throw new SetupError(
    `Another sandbox is using ${data}.`,
    'Stop it, or give this one another folder (--data; DATA_DIR with "npm start").',
  );
}

/** Deletes everything in a folder that this process has locked. */
export function clearData(data: string) {
  // The mark is deleted first, so that the next start finishes an interrupted reset.
  for (const name of ['installed', 'database', 'uploads', 'credentials.json', 'mailbox']) {
    fs.rmSync(path.join(data, name), { recursive: true, force: true });
  }
}

/**
 * Clears the data folder of a sandbox that is not running.
 * @throws {SetupError} when a sandbox is running on it
 */
function resetSandbox(data: string) {
  if (!fs.existsSync(data)) return;
  const lock = lockData(data);
  try {
    clearData(data);
  } finally {
    lock.release();
  }
}

if (import.meta.main) {
  try {
    resetSandbox(path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '..', 'var', 'sandbox')));
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`${error.message} ${error.hint}\n`);
    process.exitCode = 1;
  }
}
