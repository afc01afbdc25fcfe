/**
 * `node scripts/complete-lock.mjs [folder]`: adds to package-lock.json the optional packages for other platforms (such as
 * esbuild for macOS) that the registry didn't offer when the lock was written. `npm ci` fails if the lock lacks them. Run it
 * after adding a dependency; a test says when it is needed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

/**
 * The platform that a package is for, by its name.
 *
 * @param {string} name for instance `@esbuild/darwin-arm64`
 */
export function machineOf(name) {
  const words = name.replace(/^@[^/]+\//, '').split(/[-.]/);
  const os = words.filter((word) => systems.includes(word));
  const cpu = words.flatMap((word) => {
    if (word === 'ppc64le') return ['ppc64'];
    if (/^(?:armv7|armhf)/.test(word)) return ['arm'];
    return processors.includes(word) ? [word] : [];
  });
  const libc = words.some((word) => word.startsWith('musl'))
    ? ['musl']
    : os.includes('linux') && words.some((word) => word.startsWith('gnu'))
      ? ['glibc']
      : [];
  return {
    ...(os.length > 0 && { os }),
    ...(cpu.length > 0 && { cpu }),
    ...(libc.length > 0 && { libc }),
  };
}

/**
 * Optional dependencies that a lock names but has no entry for.
 *
 * @param {Record<string, any>} packages `packages` of a lock
 * @returns {{name: string, version: string, dev: boolean}[]}
 */
export function missingOptional(packages) {
  const missing = new Map();
  for (const [path, entry] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      if (resolves(packages, path, name)) continue;
      missing.set(name, { name, version: String(range).replace(/^[~^=]\s*/, ''), dev: Boolean(entry.dev) });
    }
  }
  return [...missing.values()];
}

/** @param {Record<string, any>} packages @param {string} from @param {string} name */
function resolves(packages, from, name) {
  for (let path = from; ; path = path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/')))) {
    if (packages[`${path ? `${path}/` : ''}node_modules/${name}`]) return true;
    if (!path) return false;
    if (!path.includes('/node_modules/')) {
      return Boolean(packages[`node_modules/${name}`]);
    }
  }
}

/** @param {string} folder */
function complete(folder) {
  const file = join(folder, 'package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const added = missingOptional(lock.packages);
  for (const { name, version, dev } of added) {
    lock.packages[`node_modules/${name}`] = { version, ...machineOf(name), ...(dev && { dev: true }), optional: true };
  }
  const [own, ...others] = Object.entries(lock.packages);
  others.sort(([a], [b]) => a.localeCompare(b, 'en'));
  lock.packages = Object.fromEntries([/** @type {[string, any]} */ (own), ...others]);
  if (added.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${file}: ${added.length} entries added`);
}

if (import.meta.main) complete(process.argv[2] ?? '.');
