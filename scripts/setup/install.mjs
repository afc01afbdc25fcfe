/** Installs the packages of package-lock.json if they are missing. */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stop } from './explain.mjs';
import { withLock } from './lock.mjs';
import { npm } from './npm.mjs';
import { downloads, root } from './places.mjs';
import { step } from './steps.mjs';

/**
 * Name of the file that records which lock was installed. It is in node_modules, which `npm ci` deletes first, and is written
 * last, so an interrupted install is repeated.
 */
export const stampName = '.broadsheet-lock';

/**
 * Hash of what should be installed: the lock, the platform and the major version of Node.
 *
 * @param {string} folder folder with package-lock.json
 */
export function wanted(folder) {
  const machine = `${process.platform} ${process.arch} ${process.version.split('.')[0]}`;
  return createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .update(machine)
    .digest('hex');
}

/**
 * Whether a folder has the packages of its lock: by the stamp, or by npm's own record of the last complete install (after a
 * plain `npm install`).
 *
 * @param {string} folder
 */
export function isInstalled(folder) {
  const read = (/** @type {string} */ name) => {
    try {
      return readFileSync(join(folder, name), 'utf8');
    } catch {
      return null;
    }
  };
  // npm writes this record last; without it an install is unfinished.
  const record = read('node_modules/.package-lock.json');
  if (record === null) return false;
  if (read(`node_modules/${stampName}`) === wanted(folder)) return true;
  const { packages: have } = JSON.parse(record);
  const { packages: want } = JSON.parse(read('package-lock.json') ?? '{}');
  // The lock names packages for other platforms that aren't installed.
  return Object.entries(want).every(
    ([path, entry]) => path === '' || entry.optional || entry.devOptional || have[path]?.version === entry.version,
  );
}

/** Disk space in megabytes for the packages, WordPress and a build, with npm's cache. */
const neededMegabytes = 1500;

/**
 * Stops before long work that would fail on a full disk.
 *
 * @param {number} freeMegabytes
 * @throws Stop
 */
export function requireSpace(freeMegabytes) {
  if (freeMegabytes >= neededMegabytes) return;
  throw new Stop(
    `Only ${Math.floor(freeMegabytes)} MB of disk are free where this folder is, and about ${neededMegabytes} MB are needed. Free some space and run the same command again.`,
  );
}

/** @param {string} folder */
function freeMegabytes(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return (bavail * bsize) / 1_000_000;
}

/** Installs the packages with `npm ci`, unless they are installed. */
export async function install() {
  if (isInstalled(root)) return;
  requireSpace(freeMegabytes(root));
  await step('Installing packages', (progress) =>
    withLock(
      join(downloads, 'installing'),
      async (alsoWaitFor) => {
        progress('');
        // The previous holder of the lock may have installed them.
        if (isInstalled(root)) return;
        const hash = wanted(root);
        rmSync(join(root, 'node_modules', stampName), { force: true });
        await npm(['ci', '--no-audit', '--no-fund', '--include=dev'], { cwd: root, onSpawn: alsoWaitFor });
        writeFileSync(join(root, 'node_modules', stampName), hash);
      },
      { waiting: () => progress('waiting for another installation to finish') },
    ),
  );
}
