/** The data folder of a sandbox: its lock, and what an interrupted installation leaves in it. */
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

/** Deletes what the sandbox has stored in a folder that this process has locked. */
export function clearData(data: string) {
  for (const name of ['installed', 'database', 'uploads', 'credentials.json', 'mailbox', 'stripe']) {
    fs.rmSync(path.join(data, name), { recursive: true, force: true });
  }
}
