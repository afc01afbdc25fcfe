/** Starts the contenders, each pinned to the server's core, and loads them from the other core. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { freePort } from '../../scripts/setup/ports.mjs';
import { endWithBench, firstJsonLine } from '../support/processes.ts';
import { article, headers } from './page.ts';

const here = (file: string): string => join(import.meta.dirname, file);
const quiet = '--disable-warning=ExperimentalWarning';

/** Whether a program can be started. */
export function isInstalled(program: string, argument = '--version'): boolean {
  try {
    execFileSync(program, [argument], { stdio: 'ignore' });
    return true;
  } catch (error) {
    // wrk answers its version with an exit code of 1.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

export const canPin = availableParallelism() > 1 && isInstalled('taskset');
export const hasWrk = isInstalled('wrk', '-v');
const serverCore = 0;
const loadCore = 1;

export const launchServer = (program: string, args: readonly string[]): ChildProcess =>
  launch(serverCore, program, args);

function launch(core: number, program: string, args: readonly string[], ipc = false): ChildProcess {
  const [command, ...rest] = canPin ? ['taskset', '-c', String(core), program, ...args] : [program, ...args];
  const child = spawn(command ?? program, rest, {
    // A session of its own, as the site and services of systemd have: Linux divides a core among sessions, and one that a server shared
    // with the proxy in front would make the proxy cheaper for it than for the site.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', ...(ipc ? ['ipc' as const] : [])],
  });
  // Ctrl-C doesn't reach other sessions. SIGTERM, because nginx would leave its worker behind.
  endWithBench(child, 'SIGTERM');
  return child;
}

export interface Contender {
  readonly port: number;
  readonly pid: number;
  /** Statistics of the press's own server. */
  stats(): Promise<{ memory: { pages: number; bytes: number }; rss: number }>;
  stop(): Promise<void>;
}

export function contender(child: ChildProcess, port: number, signal: NodeJS.Signals = 'SIGKILL'): Contender {
  return {
    port,
    pid: child.pid ?? 0,
    stats: () =>
      new Promise((resolve) => {
        child.once('message', (message) => resolve(message as Awaited<ReturnType<Contender['stats']>>));
        child.send?.('stats');
      }),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill(signal);
      }),
  };
}

/** The press's server over a filled store. */
export async function startPress(file: string, budget: number): Promise<Contender> {
  const child = launch(serverCore, process.execPath, [quiet, here('server.ts'), file, String(budget)], true);
  const { port } = await firstJsonLine<{ port: number }>(child);
  return contender(child, port);
}

/** Another server of a bench, on the servers' core; its first line of output is JSON with its port. */
export async function startServer<Ready extends { readonly port: number }>(
  script: string,
  args: readonly string[],
): Promise<Contender & { readonly ready: Ready }> {
  const child = launch(serverCore, process.execPath, [quiet, script, ...args], true);
  const ready = await firstJsonLine<Ready>(child);
  return { ...contender(child, ready.port), ready };
}

export async function fill(file: string, count: number): Promise<{ fileBytes: number; seconds: number }> {
  return firstJsonLine(launch(loadCore, process.execPath, [quiet, here('fill.ts'), file, String(count)]));
}

export async function listening(port: number): Promise<void> {
  const end = performance.now() + 30_000;
  while (performance.now() < end) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      socket.destroy();
    }
  }
  throw new Error(`Nothing answers on port ${port}.`);
}

/** A response that is the same for every contender. */
export interface ServedPage {
  readonly path: string;
  /** Names and values as they are sent, with `content-encoding`, without `date`, `content-length` and those of the connection. */
  readonly headers: readonly (readonly [string, string])[];
  /** The compressed body, base64. */
  readonly gzip: string;
}

/** node:http with one prepared response per page. */
export async function startNodeHttp(folder: string, pages: readonly ServedPage[]): Promise<Contender> {
  const file = join(folder, 'node-http.json');
  writeFileSync(file, JSON.stringify(pages));
  const child = launch(serverCore, process.execPath, [quiet, here('node-http.ts'), file], true);
  const { port } = await firstJsonLine<{ port: number }>(child);
  return contender(child, port);
}

/** Headers that nginx writes by itself. */
const nginxHeaders = ['content-type', 'content-encoding', 'etag', 'last-modified'];

/** nginx with one worker and `gzip_static`: the same compressed bytes from files, with the same headers. */
export async function startNginx(
  folder: string,
  pages: readonly ServedPage[],
  openFileCache: boolean,
): Promise<Contender> {
  const root = join(folder, openFileCache ? 'nginx-cached' : 'nginx');
  const locations = pages.map(({ path, headers, gzip }, at) => {
    const folderOf = join(root, 'html', String(at));
    mkdirSync(folderOf, { recursive: true });
    const body = Buffer.from(gzip, 'base64');
    writeFileSync(join(folderOf, 'page.html'), gunzipSync(body));
    writeFileSync(join(folderOf, 'page.html.gz'), body);
    const added = headers.filter(([name]) => !nginxHeaders.includes(name.toLowerCase()));
    if (added.some(([, value]) => /[$\\]/.test(value))) throw new Error('A header would be a variable of nginx.');
    return `location = ${path} { try_files /${at}/page.html =404;
      ${added.map(([name, value]) => `add_header ${name} "${value.replaceAll('"', '\\"')}";`).join('\n      ')} }`;
  });
  const port = await freePort();
  writeFileSync(
    join(root, 'nginx.conf'),
    `worker_processes 1; daemon off; pid ${root}/nginx.pid; error_log ${root}/error.log crit; user root;
worker_rlimit_nofile 8192;
events { worker_connections 4096; }
http {
  default_type "text/html; charset=utf-8"; access_log off; sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_requests 100000000; keepalive_timeout 65 65; gzip_static on; etag on;
  client_body_temp_path ${root}; proxy_temp_path ${root}; fastcgi_temp_path ${root}; uwsgi_temp_path ${root}; scgi_temp_path ${root};
  ${openFileCache ? 'open_file_cache max=1000 inactive=60s; open_file_cache_valid 60s;' : ''}
  server {
    listen 127.0.0.1:${port} backlog=2048; root ${root}/html;
    ${locations.join('\n    ')}
  }
}
`,
  );
  const child = launch(serverCore, 'nginx', [
    '-c',
    join(root, 'nginx.conf'),
    '-p',
    root,
    '-e',
    join(root, 'error.log'),
  ]);
  await listening(port);
  return contender(child, port, 'SIGTERM');
}

/** A small site of Astro's with `memoryCache`, one page of the same bytes; built on the spot. */
export async function startMemoryCache(project: string): Promise<Contender> {
  mkdirSync(join(project, 'src', 'pages', 'article'), { recursive: true });
  cpSync(here('page.ts'), join(project, 'src', 'page.ts'));
  writeFileSync(join(project, 'package.json'), '{"type":"module","private":true}');
  writeFileSync(
    join(project, 'astro.config.mjs'),
    `import node from '@astrojs/node';
import { defineConfig, memoryCache } from 'astro/config';
export default defineConfig({ output: 'server', adapter: node({ mode: 'standalone' }), devToolbar: { enabled: false },
  session: false, cache: { provider: memoryCache() } });
`,
  );
  const html = article().toString();
  writeFileSync(join(project, 'src', 'article.json'), JSON.stringify({ html, headers }));
  writeFileSync(
    join(project, 'src', 'pages', 'article', '[slug].astro'),
    `---
import page from '../../article.json';
export const prerender = false;
Astro.cache.set({ maxAge: 3600, tags: ['article'] });
for (const [name, value] of Object.entries(page.headers)) Astro.response.headers.set(name, value);
---
<Fragment set:html={page.html} />
`,
  );
  execFileSync(
    process.execPath,
    [join(import.meta.dirname, '../../node_modules/astro/bin/astro.mjs'), 'build', '--root', project],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
    },
  );
  const port = await freePort();
  const child = launch(serverCore, '/usr/bin/env', [
    `PORT=${port}`,
    'HOST=127.0.0.1',
    'ASTRO_NODE_LOGGING=disabled',
    process.execPath,
    join(project, 'dist/server/entry.mjs'),
  ]);
  child.stdout?.resume();
  await listening(port);
  return contender(child, port);
}

/** The target of a load. */
export interface Target {
  readonly port: number;
  readonly pid: number;
  /** Another process that works for it, whose processor time counts, too. */
  readonly behind?: number | undefined;
  /** Whether it speaks TLS. */
  readonly secure?: boolean | undefined;
}

export interface Measured {
  /** Requests per second. */
  readonly rate: number;
  /**
   * Requests per second of processor time that the server took: what one core does when nothing else runs on it. Where that
   * is unknown (no /proc), the same as `rate`.
   */
  readonly perCore: number;
  /** Milliseconds. */
  readonly p99: number;
  /** Answers that were neither 200 nor 304. */
  readonly wrong: number;
  readonly requests: number;
}

/** Default number of concurrent connections. */
export const defaultConnections = 32;

/** Nanoseconds of processor time that a process and its children have used; `null` where that is unknown. */
export function processorTime(pid: number): number | null {
  try {
    let sum = 0;
    for (const task of readdirSync(`/proc/${pid}/task`)) {
      sum += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ', 1)[0]);
      for (const child of readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ')) {
        if (child) sum += processorTime(Number(child)) ?? 0;
      }
    }
    return sum;
  } catch {
    return null;
  }
}

/** Keeps a running process on the servers' core, with its threads; the load has another. */
export function pin(pid: number): void {
  if (canPin) execFileSync('taskset', ['-a', '-c', '-p', String(serverCore), String(pid)], { stdio: 'ignore' });
}

/**
 * Puts load on a contender for some seconds, over connections that stay open.
 *
 * @param paths file with one path per line, requested one after another; request headers may follow a path, separated by tabs
 */
export async function load(
  { port, pid, behind, secure = false }: Target,
  paths: string,
  seconds: number,
  connections = defaultConnections,
): Promise<Measured> {
  const time = (): number | null => {
    const times = [pid, behind].map((each) => (each === undefined ? 0 : processorTime(each)));
    return times.some((each) => each === null) ? null : times.reduce((sum: number, each) => sum + Number(each), 0);
  };
  const before = time();
  const turn = turns.get(paths) ?? 0;
  const origin = `${secure ? 'https' : 'http'}://127.0.0.1:${port}`;
  const measured = hasWrk
    ? await loadByWrk(origin, paths, turn, seconds, connections)
    : await loadByOwnGenerator(port, paths, turn, seconds, connections);
  turns.set(paths, turn + measured.requests);
  const after = time();
  const spent = before !== null && after !== null ? (after - before) / 1e9 : 0;
  return { ...measured, perCore: spent > 0 ? measured.requests / spent : measured.rate };
}

/** How far each file of paths has been requested: each load continues where the one before it ended. */
const turns = new Map<string, number>();

type Loaded = Omit<Measured, 'perCore'>;

async function loadByOwnGenerator(
  port: number,
  paths: string,
  turn: number,
  seconds: number,
  connections: number,
): Promise<Loaded> {
  const args = [here('load.ts'), String(port), paths, String(connections), String(seconds), String(turn)];
  const measured = await firstJsonLine<Loaded>(launch(loadCore, process.execPath, args));
  // A contender that answered nothing would make every other one look fast.
  if (!(measured.rate > 0)) throw new Error(`Nothing was answered on port ${port}.`);
  return measured;
}

async function loadByWrk(
  origin: string,
  paths: string,
  turn: number,
  seconds: number,
  connections: number,
): Promise<Loaded> {
  const script = `${paths}.lua`;
  writeFileSync(
    script,
    `local requests = {}
function init()
  for line in io.lines("${paths}") do
    local path, headers = nil, {}
    for part in line:gmatch("[^\\t]+") do
      if path then
        local name, value = part:match("^([^:]+): (.*)$")
        headers[name] = value
      else path = part end
    end
    requests[#requests + 1] = wrk.format("GET", path, headers)
  end
end
local turn = ${turn}
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
`,
  );
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script];
  const child = launch(loadCore, 'wrk', [...args, origin]);
  let text = '';
  for await (const chunk of child.stdout ?? []) text += chunk;
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
  const requests = Number(/(\d+) requests in/.exec(text)?.[1]);
  const [, value = 'NaN', unit = 'ms'] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
  const factor = { us: 0.001, ms: 1, s: 1000 }[unit] ?? 1;
  const wrong = Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0);
  if (!(rate > 0)) throw new Error(`wrk said: ${text}`);
  return { rate, requests, p99: Number(value) * factor, wrong };
}
