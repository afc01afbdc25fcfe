/**
 * `npm run bench:adopt -- --socket /run/mysqld/mysqld.sock [--user root] [--posts 10000] [--wp /usr/local/bin/wp] [--php php]`: adopting a
 * WordPress on a running MariaDB or MySQL server, and undoing the adoption. Fails when a table differs afterward, also after SIGKILLs and
 * lost connections. Reads the password from the environment variable ADOPT_PASSWORD. Creates its own database and drops it afterward.
 * Without `--wp` it calls the function that WP-CLI would call. Needs PHP with mysqli.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { coreFolder, ensureSandbox } from '../sandbox/setup.mjs';
import { root } from '../scripts/setup/places.mjs';
import { printTable, wholeFlag } from './support/figures.ts';

interface Site {
  /** Runs an action of adopt/site.php. @throws Error when it fails */
  php(action: string, argument?: string): string;
  /** Starts `wp newsroom adopt`. */
  adopt(flag?: '--yes' | '--undo'): ChildProcess;
}

interface Ended {
  readonly code: number | null;
  readonly text: string;
  readonly seconds: number;
}

async function ended(child: ChildProcess): Promise<Ended> {
  const began = performance.now();
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text, seconds: (performance.now() - began) / 1000 };
}

/** A WordPress that isn't installed yet, with the plugin in its folder. */
function layOut(folder: string): void {
  cpSync(join(coreFolder(root), 'wordpress'), folder, { recursive: true });
  symlinkSync(join(root, 'wordpress', 'newsroom'), join(folder, 'wp-content', 'plugins', 'newsroom'));
  mkdirSync(join(folder, 'wp-content', 'mu-plugins'));
  // A killed run counts as dead after a second.
  writeFileSync(
    join(folder, 'wp-content', 'mu-plugins', 'bench.php'),
    "<?php add_filter( 'newsroom_adopt_lock_seconds', function () { return 1; } );",
  );
  writeFileSync(
    join(folder, 'wp-config.php'),
    `<?php
define( 'DB_NAME', getenv( 'ADOPT_DATABASE' ) );
define( 'DB_USER', getenv( 'ADOPT_USER' ) );
define( 'DB_PASSWORD', getenv( 'ADOPT_PASSWORD' ) );
define( 'DB_HOST', 'localhost:' . getenv( 'ADOPT_SOCKET' ) );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
define( 'DISABLE_WP_CRON', true );
define( 'WP_HOME', 'http://127.0.0.1' );
define( 'WP_SITEURL', 'http://127.0.0.1' );
$table_prefix = 'Old_2_';
defined( 'ABSPATH' ) || define( 'ABSPATH', __DIR__ . '/' );
require_once ABSPATH . 'wp-settings.php';
`,
  );
}

function openSite(folder: string, env: NodeJS.ProcessEnv, php: string, wp: string | undefined): Site {
  const script = join(import.meta.dirname, 'adopt', 'site.php');
  return {
    php(action, argument = '') {
      const { status, stdout, stderr, error } = spawnSync(php, [script, folder, action, argument], {
        env,
        encoding: 'utf8',
        maxBuffer: 1e8,
      });
      if (status !== 0) throw new Error(`${action}: ${error?.message ?? (stderr || stdout)}`);
      return stdout;
    },
    adopt(flag) {
      const flags = flag ? [flag] : [];
      return wp
        ? spawn(wp, ['--allow-root', `--path=${folder}`, 'newsroom', 'adopt', ...flags], { env })
        : spawn(php, [script, folder, 'command', ...flags], { env });
    },
  };
}

/** Starts the command again and again, calls `end` in the middle of each run, and lets the last one finish. @returns number of calls */
async function interrupted(site: Site, flag: '--yes' | '--undo', end: (child: ChildProcess) => void): Promise<number> {
  let ends = 0;
  for (let run = 0; run < 60; run++) {
    const child = site.adopt(flag);
    const result = ended(child);
    // At some moment of the run, and again if the run survives it; the repetition covers different moments.
    while (ends < 12 && child.exitCode === null && child.signalCode === null) {
      await Promise.race([result, wait(300 + Math.random() * 1200)]);
      if (child.exitCode !== null || child.signalCode !== null) break;
      end(child);
      ends++;
    }
    const { code, text } = await result;
    if (code === 0 && !text.includes('Another run')) return ends;
    await wait(1100);
  }
  throw new Error(`${flag} did not end in sixty runs.`);
}

async function prove(site: Site, posts: number): Promise<number> {
  site.php('install');
  site.php('fill', String(posts));
  site.php('activate');
  await ended(site.adopt());
  const before = site.php('hashes');
  const lines: string[][] = [['', 'seconds', 'tables afterward']];
  let failed = false;
  const note = (name: string, took: string, same: boolean) => {
    failed ||= !same;
    lines.push([name, took, same ? 'as before' : 'DIFFER']);
  };
  const dry = await ended(site.adopt());
  note('dry run', dry.seconds.toFixed(1), dry.code === 0 && site.php('hashes') === before);
  const [adopted, second] = await Promise.all([ended(site.adopt('--yes')), ended(site.adopt('--yes'))]);
  const took = Math.max(adopted.seconds, second.seconds).toFixed(1);
  // One of the two runs is refused, or starts after the first has ended.
  const done = [adopted, second].some(({ code, text }) => code === 0 && text.includes('posts became articles'));
  failed ||= !done || site.php('hashes') === before;
  lines.push(['adoption, started twice', took, done ? '' : 'NEITHER ENDED']);
  const undone = await ended(site.adopt('--undo'));
  note('put back', undone.seconds.toFixed(1), undone.code === 0 && site.php('hashes') === before);
  const ways: [string, (child: ChildProcess) => void][] = [
    ['SIGKILL', (child) => child.kill('SIGKILL')],
    ['lost connection', () => site.php('disconnect')],
  ];
  for (const [name, end] of ways) {
    const there = await interrupted(site, '--yes', end);
    const back = await interrupted(site, '--undo', end);
    note(`${name}: ${there} times, then ${back} times while put back`, '', site.php('hashes') === before);
  }
  printTable(lines);
  return failed ? 1 : 0;
}

export async function run(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { socket: text, user: text, posts: text, php: text, wp: text },
  });
  if (!values.socket || !existsSync(values.socket)) {
    console.log(
      'Skipped: bench:adopt needs the socket of a running MariaDB or MySQL (--socket /run/mysqld/mysqld.sock).',
    );
    return 0;
  }
  await ensureSandbox({ root });
  const folder = mkdtempSync(join(tmpdir(), 'adopt-bench-'));
  const env = {
    ...process.env,
    ADOPT_SOCKET: values.socket,
    ADOPT_USER: values.user ?? 'root',
    ADOPT_PASSWORD: process.env.ADOPT_PASSWORD ?? '',
    ADOPT_DATABASE: `broadsheet_adopt_${process.pid}`,
  };
  const site = openSite(join(folder, 'site'), env, values.php ?? 'php', values.wp);
  try {
    layOut(join(folder, 'site'));
    const posts = wholeFlag('posts', values.posts, 10_000);
    console.log(`${posts} posts on ${site.php('create')}, ${values.wp ? 'with WP-CLI' : 'without WP-CLI'}`);
    return await prove(site, posts);
  } finally {
    site.php('drop');
    rmSync(folder, { recursive: true, force: true });
  }
}
