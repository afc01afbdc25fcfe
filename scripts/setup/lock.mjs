/**
 * One set-up at a time in a folder: a second one waits until every process of the first is gone, even if the first was killed.
 * It uses plain files and process ids, because it runs on any Node from 18.
 *
 * The lock is a folder with a file for each process that holds it, named by its id: taking it, adding a process and removing one
 * that is gone are one file system call each, so that no other process sees the lock half done.
 */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Stop } from './explain.mjs';

/**
 * Runs `work` while holding a lock.
 *
 * @template T
 * @param {string} lock path of the folder to make
 * @param {(alsoWaitFor: (pid: number) => void) => Promise<T>} work calls `alsoWaitFor` with the id of a process that must be gone, too,
 *   before the lock is free
 * @param {{waiting?: () => void, longestMs?: number, pauseMs?: number}} [options] `waiting` is called once when another holds the
 *   lock; after `longestMs` milliseconds waiting ends with an error; `pauseMs` is the time between two attempts
 * @returns {Promise<T>}
 */
export async function withLock(lock, work, { waiting = () => {}, longestMs = 15 * 60_000, pauseMs = 200 } = {}) {
  mkdirSync(dirname(lock), { recursive: true });
  const began = Date.now();
  let reported = false;
  while (!take(lock)) {
    const holders = readHolders(lock);
    const gone = holders.filter((pid) => !isSetup(pid));
    for (const pid of gone) rmSync(join(lock, String(pid)), { force: true });
    if (gone.length === holders.length) continue;
    if (Date.now() - began > longestMs) {
      throw new Stop(
        `Another set-up of this folder does not end (process ${holders.join(', ')}). End it and run the same command again.`,
      );
    }
    if (!reported) waiting();
    reported = true;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  const pids = [process.pid];
  try {
    return await work((pid) => {
      pids.push(pid);
      writeFileSync(join(lock, String(pid)), '');
    });
  } finally {
    for (const pid of pids) rmSync(join(lock, String(pid)), { force: true });
    ignoring(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => rmdirSync(lock));
  }
}

/**
 * Moves a folder that names this process to the lock's place, which fails while that place holds a folder with a file.
 *
 * @param {string} lock
 */
function take(lock) {
  const own = mkdtempSync(`${lock}.`);
  writeFileSync(join(own, String(process.pid)), '');
  const taken = ignoring(['ENOTEMPTY', 'EEXIST'], () => renameSync(own, lock));
  if (!taken) rmSync(own, { recursive: true });
  return taken;
}

/**
 * @param {string} lock
 * @returns {number[]}
 */
function readHolders(lock) {
  /** @type {number[]} */
  let holders = [];
  ignoring(['ENOENT'], () => {
    holders = readdirSync(lock).map(Number);
  });
  return holders;
}

/**
 * Whether `work` succeeded; throws its error unless it has one of these codes.
 *
 * @param {string[]} codes
 * @param {() => void} work
 */
function ignoring(codes, work) {
  try {
    work();
    return true;
  } catch (error) {
    if (codes.includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')) return false;
    throw error;
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
