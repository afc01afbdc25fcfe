/** `npm run build`: builds the pages if their sources have changed, and compresses their files. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { compressFolder } from './compress.ts';
import { Stop, whatToDo } from './setup/explain.mjs';
import { withLock } from './setup/lock.mjs';
import { runCommand } from './setup/npm.mjs';
import { downloads, root } from './setup/places.mjs';
import { step } from './setup/steps.mjs';

const dist = join(root, 'dist');
/** Written last: a build that was interrupted has none. */
const stamp = join(dist, '.sources');

/** Files and folders that the build depends on. */
const sources = [
  'src',
  'public',
  'astro.config.mjs',
  'tsconfig.json',
  'package-lock.json',
  'scripts/build.ts',
  'scripts/compress.ts',
  'scripts/dictionary.ts',
  'scripts/dictionary-story.ts',
  'scripts/inline-publication.ts',
  'scripts/islands-in-a-file.ts',
  'scripts/page-styles.ts',
  'scripts/remember-digests.ts',
];

/** Hash of the names and contents of everything that the build depends on. */
export function hashSources(folder: string = root): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    hash
      .update(`${relative(folder, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  };
  for (const source of sources) {
    const path = join(folder, source);
    if (!existsSync(path)) continue;
    if (!statSync(path).isDirectory()) {
      add(path);
      continue;
    }
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .forEach(add);
  }
  return hash.digest('hex');
}

/**
 * Names that Vite sets in `import.meta.env`. Astro adds environment variables to it, and they win: with `DEV=1`, which Vitest sets
 * and a shell may, the server's half of the pages would be a development build, even with `NODE_ENV=production`.
 */
const viteVariables = ['MODE', 'DEV', 'PROD', 'SSR', 'BASE_URL', 'SITE', 'ASSETS_PREFIX'];

/**
 * Astro puts a 32-byte key into each build. Unless it is given one it makes a new one, so that a build of unchanged sources would
 * differ and all pages would be rendered again. This checkout's key is made once.
 */
function astroKey(): string {
  const file = join(downloads, 'astro-key');
  mkdirSync(downloads, { recursive: true });
  try {
    writeFileSync(file, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8');
}

/** The environment of a build: the caller's, without variables that would change the build. */
export function buildEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !viteVariables.includes(name) && !/^VITEST(?:_|$)/.test(name));
  return {
    ...Object.fromEntries(kept),
    NODE_ENV: 'production',
    ASTRO_KEY: env.ASTRO_KEY ?? astroKey(),
    ASTRO_TELEMETRY_DISABLED: '1',
    NO_COLOR: '1',
    FORCE_COLOR: undefined,
  };
}

/** Whether `dist` was built from the current sources. */
export function isBuilt(): boolean {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashSources();
}

/** Builds unless the build is current. */
export async function ensureBuilt(): Promise<void> {
  if (!isBuilt()) await build({ again: false });
}

/** @param options.again build even if another command has just done it */
async function build({ again }: { readonly again: boolean }): Promise<void> {
  await step('Building the pages', (progress) =>
    // Two at once in one folder would mix their files.
    withLock(
      join(downloads, 'building'),
      async (alsoWaitFor) => {
        progress('');
        if (again || !isBuilt()) await buildPages(progress, alsoWaitFor);
      },
      { waiting: () => progress('waiting for another command that is building them') },
    ),
  );
}

/** @param alsoWaitFor called with the id of a process that must end before another build may start */
async function buildPages(progress: (note: string) => void, alsoWaitFor: (pid: number) => void): Promise<void> {
  const hash = hashSources();
  rmSync(stamp, { force: true });
  const astro = join(root, 'node_modules', 'astro', 'bin', 'astro.mjs');
  const { code, output } = await runCommand(process.execPath, [astro, 'build'], {
    cwd: root,
    env: buildEnvironment(process.env),
    onSpawn: alsoWaitFor,
    onLine: (line) => {
      const buildStep = /\[(?:build|vite)\]\s+(.{3,60})/.exec(line)?.[1];
      if (buildStep) progress(buildStep.trim());
    },
  });
  if (code !== 0) {
    const tail = output.trim().split('\n').slice(-40).join('\n');
    throw new Stop(
      `${tail}\n\nThe build failed. ${whatToDo(output) ?? 'Fix the problem shown above and run the same command again.'}`,
    );
  }
  cachePageImports(join(dist, 'server', 'entry.mjs'));
  progress('dictionary');
  await makeDictionary();
  progress('compressing');
  await compressFolder(join(dist, 'client'));
  writeFileSync(stamp, hash);
}

/** In a process of its own: the pages that it loads stay in memory. */
async function makeDictionary(): Promise<void> {
  const { code, output } = await runCommand(process.execPath, [join(root, 'scripts', 'dictionary.ts')], {
    cwd: root,
    env: buildEnvironment(process.env),
  });
  if (code !== 0) throw new Stop(`${output.trim()}\n\nThe shared dictionary of the pages couldn't be made.`);
}

/**
 * Astro imports a page's module for each rendering, and Node resolves it each time with file system calls, which takes a tenth
 * of a page's render time. The module stays the same until the next build, so the built entry is patched to keep it.
 *
 * @throws Error when the entry has another form than the Astro of the lockfile gives it
 */
function cachePageImports(entry: string): void {
  const code = readFileSync(entry, 'utf8');
  const pages = /^(\s*)(?:var|const) (_page\d+) = \(\) => import\((".+?")\);$/gm;
  // After a failed import the next request tries again.
  const again = '(error) => {\n$1\t$2Module = undefined;\n$1\tthrow error;\n$1}';
  const remembering = code.replace(
    pages,
    `$1let $2Module;\n$1const $2 = () => ($2Module ??= import($3).catch(${again}));`,
  );
  if (remembering === code) {
    throw new Error('Astro now imports its pages in a different way: update cachePageImports in scripts/build.ts.');
  }
  writeFileSync(entry, remembering);
}

/** `npm run build` always builds; `-- --if-changed` builds only if the sources have changed since the last build. */
export async function run(args: readonly string[]): Promise<number> {
  if (args.includes('--if-changed')) await ensureBuilt();
  else await build({ again: true });
  return 0;
}
