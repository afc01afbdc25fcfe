// Downloads PHP in WebAssembly and WordPress, both from npm packages.
// Built-in modules only, because it runs before anything is installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { takeLock } from './lock.mjs';
import { extractFolders } from './tar.mjs';

/** The WordPress release and the npm package that contains it and the SQLite driver. */
const WORDPRESS = {
  version: '7.1.1',
  package: 'wp-studio@1.22.0',
  integrity: 'sha512-boMtahkhgWDKKyNTBA1uTK5ghnAmxXhDY6KeQCO9FmcI3/o+YOSq8JwYW5ZYnxHCxH14Jf/mD6CJTBvTWl2Ytw==',
  megabytes: 67,
  folders: [
    { from: 'package/dist/cli/wp-files/latest/wordpress/', to: 'wordpress' },
    { from: 'package/dist/cli/wp-files/sqlite-database-integration/', to: 'sqlite-database-integration' },
  ],
};
/** Space for the packages, the download and the unpacked WordPress. */
const NEEDED_MEGABYTES = 600;

/** An error that the user can correct; `hint` says how. */
export class SetupError extends Error {
  /**
   * @param {string} message
   * @param {string} hint
   */
  constructor(message, hint) {
    super(message);
    this.name = 'SetupError';
    this.hint = hint;
  }
}

/**
 * Where the unpacked WordPress is: `wordpress/` and `sqlite-database-integration/` below this folder.
 * @param {string} root the repository
 */
export const coreFolder = (root) => path.join(root, '.broadsheet', 'wordpress', WORDPRESS.version);

/**
 * Installs the sandbox's packages and WordPress unless both are there already. May be called from several processes at once,
 * and again after an interruption at any moment.
 * @param {{root: string, onProgress?: (step: {progress: string, done?: number, total?: number}) => void}} options
 *   `done` and `total` are megabytes
 * @throws {SetupError}
 */
export async function ensureSandbox({ root, onProgress = () => {} }) {
  const core = coreFolder(root);
  const stamp = path.join(root, 'sandbox', 'node_modules', '.installed');
  const wanted = createHash('sha256')
    .update(fs.readFileSync(path.join(root, 'sandbox', 'package.json')))
    .update(fs.readFileSync(path.join(root, 'sandbox', 'package-lock.json')))
    .digest('hex');
  const installed = () => fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted;
  if (installed() && fs.existsSync(core)) return;

  const cache = path.join(root, '.broadsheet');
  try {
    fs.mkdirSync(cache, { recursive: true });
    checkSpace(cache);
    const lock = takeLock(path.join(cache, 'setup.lock'), { wait: 15 * 60_000 });
    if (!lock) throw new SetupError('Another setup of the sandbox is still running.', 'Stop it and start again.');
    try {
      if (!installed()) {
        onProgress({ progress: 'Installing PHP for the sandbox (100 MB)' });
        await npm(['ci', '--no-audit', '--no-fund', '--prefix', path.join(root, 'sandbox')], root);
        fs.writeFileSync(stamp, wanted);
      }
      if (!fs.existsSync(core)) await fetchWordPress(cache, core, onProgress);
    } finally {
      lock.release();
    }
  } catch (error) {
    throw explain(error);
  }
}

/**
 * @param {string} cache
 * @param {string} core
 * @param {(step: {progress: string, done?: number, total?: number}) => void} onProgress
 */
async function fetchWordPress(cache, core, onProgress) {
  const download = path.join(cache, 'download');
  const unpacked = `${core}.part`;
  fs.rmSync(download, { recursive: true, force: true });
  fs.rmSync(unpacked, { recursive: true, force: true });
  fs.mkdirSync(download, { recursive: true });
  onProgress({ progress: `Fetching WordPress ${WORDPRESS.version} (${WORDPRESS.megabytes} MB)` });
  await npm(['pack', WORDPRESS.package, '--ignore-scripts', '--pack-destination', download], cache);
  const archive = fs.readdirSync(download).find((name) => name.endsWith('.tgz'));
  if (!archive) throw new Error(`npm pack ${WORDPRESS.package} left no file`);
  const file = path.join(download, archive);
  const integrity = `sha512-${createHash('sha512').update(fs.readFileSync(file)).digest('base64')}`;
  if (integrity !== WORDPRESS.integrity) {
    throw new SetupError(
      `The download of ${WORDPRESS.package} is not the file that was expected (${integrity}).`,
      'Run the command again; if it fails again, `npm cache clean --force` first.',
    );
  }
  // The unpacked size of a gzip file is unknown until its end, so there is no total to show.
  let shown = -1;
  const folders = WORDPRESS.folders.map(({ from, to }) => ({ from, to: path.join(unpacked, to) }));
  const files = await extractFolders(file, folders, (bytes) => {
    const done = Math.floor(bytes / 25_000_000) * 25;
    if (done === shown) return;
    shown = done;
    onProgress({ progress: 'Unpacking WordPress', done });
  });
  if (!fs.existsSync(path.join(unpacked, 'wordpress', 'wp-load.php')) || files < 1000) {
    throw new Error(`${WORDPRESS.package} contains no WordPress`);
  }
  fs.renameSync(unpacked, core);
  fs.rmSync(download, { recursive: true, force: true });
}

/** @param {string} folder */
function checkSpace(folder) {
  const { bavail, bsize } = fs.statfsSync(folder);
  const free = Math.floor((bavail * bsize) / 1_000_000);
  if (free < NEEDED_MEGABYTES) {
    throw new SetupError(
      `Only ${free} MB of disk are free; the sandbox needs ${NEEDED_MEGABYTES} MB once.`,
      'Free some space and run the command again.',
    );
  }
}

/**
 * Runs npm and keeps its output for the error message.
 * @param {string[]} command
 * @param {string} cwd
 * @returns {Promise<void>}
 */
function npm(command, cwd) {
  // The npm that started this process, if any, else the one on the PATH.
  const own = process.env.npm_execpath;
  const [program, ...first] = own && /npm-cli\.js$/.test(own) ? [process.execPath, own] : ['npm'];
  const shell = process.platform === 'win32' && program === 'npm';
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...first, ...command], { cwd, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    const endToo = () => child.kill();
    process.once('exit', endToo);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => (output = (output + data).slice(-8000)));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('exit', endToo);
      if (code === 0) resolve();
      else reject(new Error(`npm ${command[0]} ended with ${signal ?? code}:\n${output.trim()}`));
    });
  });
}

/**
 * Turns an error into a message that says what to do.
 * @param {unknown} error
 */
function explain(error) {
  if (error instanceof SetupError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (/ENOSPC|no space left/i.test(text)) {
    return new SetupError('The disk is full.', `Free ${NEEDED_MEGABYTES} MB and run the command again.`);
  }
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/i.test(text)) {
    return new SetupError(
      'npm cannot reach its registry.',
      'Check the network (and `npm config get registry`) and run the command again. It goes on where it stopped.',
    );
  }
  if (/ENOENT.*npm|spawn npm/i.test(text)) {
    return new SetupError('npm was not found.', 'Install Node.js together with npm and run the command again.');
  }
  return new SetupError(text, 'Run the command again. If it fails again, delete sandbox/node_modules and .broadsheet.');
}
