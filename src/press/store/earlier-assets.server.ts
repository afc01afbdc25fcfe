/**
 * Files of earlier builds, kept for a day: a browser with yesterday's page still finds its scripts and styles. Files with a hash in
 * their name never change, so one copy serves every build that has it.
 */
import { copyFile, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join, normalize, sep } from 'node:path';
import type { Logger } from '../../lib/logging.ts';

export interface AssetsOptions {
  /** Folder of the copies, one folder for each build. */
  readonly dir: string;
  /** Name of the running build; letters, digits, `.`, `_` and `-`. */
  readonly build: string;
  /** Folder of the running build's hashed files. */
  readonly source: string;
  readonly log: Logger;
  readonly now?: () => number;
}

export interface EarlierAssets {
  /**
   * A file of an earlier build.
   *
   * @param path below the folder of hashed files, e.g. `Article.B2xk9.css` or, for a compressed copy, `Article.B2xk9.css.br`
   */
  find(path: string): Promise<Buffer | undefined>;
  /** Deletes files whose time is over; call it from time to time. */
  prune(): Promise<void>;
}

/** How long a build's files are kept after another one started, in milliseconds. */
const keptMs = 24 * 60 * 60 * 1000;
/** A file in a build's copy; its modification time says when the build last ran. */
const mark = '.running';

interface EarlierAssetsState extends Required<AssetsOptions> {
  /** Folder of the running build's copy. */
  readonly ownDir: string;
  paths: ReadonlyMap<string, string>;
  builds: string[];
}

/** Copies the running build's files and indexes those of earlier ones. */
export async function openEarlierAssets(options: AssetsOptions): Promise<EarlierAssets> {
  const { dir, build } = options;
  if (!/^[\w.-]+$/.test(build) || build.startsWith('.')) throw new Error(`"${build}" isn't the name of a build.`);
  await mkdir(dir, { recursive: true });
  const ownDir = join(dir, build);
  const assets: EarlierAssetsState = { now: Date.now, ...options, ownDir, paths: new Map(), builds: [] };
  await readFolders(assets);
  await prune(assets);
  return {
    find: (path) => find(assets, path),
    prune: () => prune(assets),
  };
}

async function lastRunning(assets: EarlierAssetsState, name: string): Promise<number> {
  return (await stat(join(assets.dir, name, mark)).catch(() => null))?.mtimeMs ?? 0;
}

async function readFolders(assets: EarlierAssetsState): Promise<void> {
  const found: { name: string; at: number }[] = [];
  for (const entry of await readdir(assets.dir, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name === assets.build) continue;
    found.push({ name: entry.name, at: await lastRunning(assets, entry.name) });
  }
  found.sort((a, b) => b.at - a.at);
  assets.builds = found.map(({ name }) => name);
  const paths = new Map<string, string>();
  // The latest build's copy is used; copies with the same name are identical.
  for (const name of assets.builds.toReversed()) {
    for (const file of await readdir(join(assets.dir, name), { recursive: true, withFileTypes: true })) {
      if (!file.isFile() || file.name === mark) continue;
      const path = join(file.parentPath, file.name);
      const below = path.slice(join(assets.dir, name).length + 1);
      paths.set(below.split(sep).join('/'), path);
    }
  }
  // Replaced only now, because browsers ask for files while the folders are read.
  assets.paths = paths;
}

/**
 * Copies the running build's files, unless they are copied already. The time of the mark file is the last moment at which this build ran. A
 * full disk stops neither the start nor the site: browsers miss these files only after the next build, unless a later try succeeds.
 */
async function keepOwn({ ownDir, source, log, now }: EarlierAssetsState): Promise<void> {
  try {
    if (!(await stat(join(ownDir, mark)).catch(() => null))) {
      for (const file of await readdir(source, { recursive: true, withFileTypes: true })) {
        if (!file.isFile()) continue;
        const from = join(file.parentPath, file.name);
        const to = join(ownDir, from.slice(normalize(source).replace(/[/\\]+$/, '').length + 1));
        await mkdir(join(to, '..'), { recursive: true });
        await copyFile(from, to);
      }
      await mkdir(ownDir, { recursive: true });
      // Written last, so that an interrupted copy is repeated.
      await writeFile(join(ownDir, mark), '');
    }
    const at = new Date(now());
    await utimes(join(ownDir, mark), at, at);
  } catch (error) {
    log.warn({ err: error }, "The scripts and styles of this build couldn't be kept for the time after the next one");
  }
}

async function prune(assets: EarlierAssetsState): Promise<void> {
  for (const name of assets.builds) {
    const at = await lastRunning(assets, name);
    if (assets.now() - at <= keptMs) continue;
    await rm(join(assets.dir, name), { recursive: true, force: true });
    assets.log.info({ build: name }, 'The files of an earlier build were deleted');
  }
  await keepOwn(assets);
  await readFolders(assets);
}

async function find(assets: EarlierAssetsState, path: string): Promise<Buffer | undefined> {
  const file = assets.paths.get(path);
  if (file === undefined || basename(file) === mark) return undefined;
  return readFile(file).catch(() => undefined);
}
