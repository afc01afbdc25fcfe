/** `npm run build`: the pages, built when their sources have changed, and their files compressed. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { compressFolder } from './compress.ts';
import { Stop, whatToDo } from './setup/explain.mjs';
import { withLock } from './setup/lock.mjs';
import { finish } from './setup/npm.mjs';
import { fetched, root } from './setup/places.mjs';
import { step } from './setup/steps.mjs';

const dist = join(root, 'dist');
/** Written last: a build that was interrupted has none. */
const stamp = join(dist, '.sources');

/** What a build is made of. */
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

/** Hash over the names and contents of everything that a build is made of. */
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
    const inside = readdirSync(folder, { withFileTypes: true })
      .find((entry) => entry.name === source)
      ?.isDirectory();
    if (!inside) {
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
 * Names that `import.meta.env` has of its own. Astro puts the environment's variables into it and lets them win: with `DEV=1`,
 * which Vitest sets and a shell may, the server's half of the pages would be a development build, even with `NODE_ENV=production`.
 */
const namesOfVite = ['MODE', 'DEV', 'PROD', 'SSR', 'BASE_URL', 'SITE', 'ASSETS_PREFIX'];

/**
 * Astro puts a key of 32 bytes into each build, a new one each time unless it is given one, and then unchanged sources are another
 * build whose pages are all rendered anew. This checkout's is made once.
 */
function keptKey(): string {
  const file = join(fetched, 'astro-key');
  mkdirSync(fetched, { recursive: true });
  try {
    writeFileSync(file, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8');
}

/** The environment of a build: the caller's, without what would make another build of it. */
export function buildEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !namesOfVite.includes(name) && !/^VITEST(?:_|$)/.test(name));
  return {
    ...Object.fromEntries(kept),
    NODE_ENV: 'production',
    ASTRO_KEY: env.ASTRO_KEY ?? keptKey(),
    ASTRO_TELEMETRY_DISABLED: '1',
    NO_COLOR: '1',
    FORCE_COLOR: undefined,
  };
}

/** Whether what is in `dist` was made of the sources as they are. */
export function isBuilt(): boolean {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashSources();
}

/** Builds unless the build is current. */
export async function ensureBuilt(): Promise<void> {
  if (!isBuilt()) await build({ again: false });
}

/** @param options.again whether it is built although another command has done it meanwhile */
async function build({ again }: { readonly again: boolean }): Promise<void> {
  await step('Building the pages', (progress) =>
    // Two at once in one folder would mix their files.
    withLock(
      join(fetched, 'build.lock'),
      async (also) => {
        progress('');
        if (again || !isBuilt()) await buildPages(progress, also);
      },
      { waiting: () => progress('waiting for another command that does it') },
    ),
  );
}

/** @param also takes the id of a process that must be gone before another build */
async function buildPages(progress: (note: string) => void, also: (pid: number) => void): Promise<void> {
  const hash = hashSources();
  rmSync(stamp, { force: true });
  const astro = join(root, 'node_modules', 'astro', 'bin', 'astro.mjs');
  const { code, output } = await finish(process.execPath, [astro, 'build'], {
    cwd: root,
    env: buildEnvironment(process.env),
    onSpawn: also,
    onLine: (line) => {
      const said = /\[(?:build|vite)\]\s+(.{3,60})/.exec(line)?.[1];
      if (said) progress(said.trim());
    },
  });
  if (code !== 0) {
    const tail = output.trim().split('\n').slice(-40).join('\n');
    throw new Stop(
      `${tail}\n\nThe build failed. ${whatToDo(output) ?? 'Mend what is said above and run the same command again.'}`,
    );
  }
  rememberPages(join(dist, 'server', 'entry.mjs'));
  progress('dictionary');
  await makeDictionary();
  progress('compressing');
  await compressFolder(join(dist, 'client'));
  writeFileSync(stamp, hash);
}

/** In a process of its own: the pages that it loads stay in memory. */
async function makeDictionary(): Promise<void> {
  const { code, output } = await finish(process.execPath, [join(root, 'scripts', 'dictionary.ts')], {
    cwd: root,
    env: buildEnvironment(process.env),
  });
  if (code !== 0) throw new Stop(`${output.trim()}\n\nThe shared dictionary of the pages couldn't be made.`);
}

/**
 * Astro imports a page's module anew for each rendering, and Node resolves it each time, with looks at the disk: a tenth of
 * a page's time. The module is the same until the next build.
 *
 * @throws Error when the entry has another form than the Astro of the lockfile gives it
 */
function rememberPages(entry: string): void {
  const code = readFileSync(entry, 'utf8');
  const pages = /^(\s*)(?:var|const) (_page\d+) = \(\) => import\((".+?")\);$/gm;
  // What could not be read this time may be there the next.
  const again = '(error) => {\n$1\t$2Module = undefined;\n$1\tthrow error;\n$1}';
  const remembering = code.replace(
    pages,
    `$1let $2Module;\n$1const $2 = () => ($2Module ??= import($3).catch(${again}));`,
  );
  if (remembering === code) {
    throw new Error(
      'Astro imports its pages in another way now: bring rememberPages in scripts/build.ts in line with it.',
    );
  }
  writeFileSync(entry, remembering);
}

/** `npm run build` builds in any case; `-- --if-changed` only when its sources are not those of the build that is there. */
export async function run(args: readonly string[]): Promise<number> {
  if (args.includes('--if-changed')) await ensureBuilt();
  else await build({ again: true });
  return 0;
}
