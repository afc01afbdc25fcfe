/**
 * One set-up at a time in a folder: a second one waits until every process of the first is gone, even if the first was killed.
 * It uses plain files and process ids, because it runs on any Node from 18.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Stop } from './explain.mjs';

/** Milliseconds until waiting ends with an error. */
const timeoutMs = 15 * 60_000;

/**
 * Runs `work` while holding a lock.
 *
 * @template T
 * @param {string} file
 * @param {(alsoWaitFor: (pid: number) => void) => Promise<T>} work calls `alsoWaitFor` with the id of a process that must be gone, too,
 *   before the lock is free
 * @param {{waiting?: () => void, longestMs?: number}} [options] `waiting` is called once when another holds the lock
 * @returns {Promise<T>}
 */
export async function withLock(file, work, { waiting = () => {}, longestMs = timeoutMs } = {}) {
  mkdirSync(dirname(file), { recursive: true });
  const began = Date.now();
  let reported = false;
  while (!take(file)) {
    const holders = readHolders(file).filter(isSetup);
    if (holders.length === 0) {
      // The processes that held the lock are gone; the first process to rename the file may delete it.
      try {
        renameSync(file, `${file}.${process.pid}`);
        rmSync(`${file}.${process.pid}`);
      } catch {
        // Another process was first.
      }
      continue;
    }
    if (Date.now() - began > longestMs) {
      throw new Stop(
        `Another set-up of this folder does not end (process ${holders.join(', ')}). End it and run the same command again.`,
      );
    }
    if (!reported) waiting();
    reported = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const pids = [process.pid];
  try {
    return await work((pid) => {
      pids.push(pid);
      writeFileSync(file, JSON.stringify(pids));
    });
  } finally {
    rmSync(file, { force: true });
  }
}

/** @param {string} file */
function take(file) {
  try {
    writeFileSync(file, JSON.stringify([process.pid]), { flag: 'wx' });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * @param {string} file
 * @returns {number[]}
 */
function readHolders(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}

/**
 * Whether a process is alive and belongs to a set-up: the system reuses process ids.
 *
 * @param {number} pid
 */
function isSetup(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH') return false;
  }
  try {
    const line =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        : execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
    return /node|npm/.test(line);
  } catch {
    return false;
  }
}
