// A lock between processes that the operating system releases when its holder dies for any reason.
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Takes the lock unless another process has it.
 * @param {string} file is created if missing, and never removed
 * @param {{wait?: number}} [options] milliseconds to wait for the holder; the thread is blocked for that time
 * @returns {{release(): void} | undefined} `undefined` when another process holds the lock
 */
export function takeLock(file, { wait = 0 } = {}) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const database = new DatabaseSync(file, { timeout: wait });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (/** @type {{errcode?: number}} */ (error).errcode === 5) return undefined;
    throw error;
  }
  return { release: () => database.close() };
}
