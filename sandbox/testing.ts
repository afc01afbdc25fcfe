/** The sandbox for tests: each gets its own WordPress in about two seconds, copied from a snapshot that is made once a day. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { EditionKind } from './edition/model.ts';
import { takeLock } from './lock.mjs';
import type { Progress, WordPressAccess } from './start.ts';

export interface SandboxForTests {
  readonly wordpress: WordPressAccess;
  /** The data folder; removed by `stop`. */
  readonly data: string;
  /** Stops the process normally and deletes its data. */
  stop(): Promise<void>;
}

export interface TestOptions {
  /** The edition in it (default: the tests' edition). */
  readonly edition?: EditionKind;
  /** Where webhooks and previews go. */
  readonly siteUrl?: string;
  /** Port of WordPress (default: a free one). */
  readonly port?: number;
}

const root = path.resolve(import.meta.dirname, '..');
const folder = path.join(root, 'var', 'test-sandbox');

/** Starts a WordPress for one caller. */
export async function startSandboxForTests(options: TestOptions = {}): Promise<SandboxForTests> {
  const { edition = 'tests', siteUrl = 'http://127.0.0.1:9', port = 0 } = options;
  const data = path.join(folder, `run-${process.pid}-${crypto.randomUUID().slice(0, 8)}`);
  fs.cpSync(await snapshot(edition, (made) => makeEdition(edition, made)), data, { recursive: true });
  const child = await launchSandbox({ data, port, siteUrl, edition });
  return {
    wordpress: child.wordpress,
    data,
    async stop() {
      await child.stop();
      fs.rmSync(data, { recursive: true, force: true });
    },
  };
}

export interface SandboxProcess {
  readonly wordpress: WordPressAccess;
  readonly pid: number;
  stop(): Promise<void>;
  /** Kills the process without a chance to clean up. */
  kill(): Promise<void>;
}

export interface LaunchOptions {
  readonly data: string;
  readonly port: number;
  readonly siteUrl: string;
  readonly edition: EditionKind;
  readonly onProgress?: (progress: Progress, child: ChildProcess) => void;
}

/**
 * Runs `main.ts` and waits until it is ready.
 * @throws with the sandbox's own message when it ends before that
 */
export async function launchSandbox(options: LaunchOptions): Promise<SandboxProcess> {
  const { data, port, siteUrl, edition, onProgress = () => {} } = options;
  const child = spawn(
    process.execPath,
    [
      path.join(import.meta.dirname, 'main.ts'),
      ...['--data', data, '--port', String(port), '--mailbox-port', '0', '--stripe-port', '0', '--site-url', siteUrl],
      ...['--edition', edition],
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let message = 'The sandbox ended before it was ready.';
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Partial<Progress> & {
      ready?: true;
      wordpress?: WordPressAccess;
      error?: string;
      hint?: string;
    };
    if (line.progress) onProgress(line as Progress, child);
    if (line.error) message = `${line.error} ${line.hint ?? ''}`;
    if (!line.ready || !line.wordpress) continue;
    child.stdout.resume();
    const end = async (signal: NodeJS.Signals) => {
      child.kill(signal);
      await ended;
    };
    return {
      wordpress: line.wordpress,
      pid: child.pid ?? 0,
      stop: () => end('SIGTERM'),
      kill: () => end('SIGKILL'),
    };
  }
  await ended;
  throw new Error(message);
}

/** Signs in to wp-admin as the editor does and returns `fetch` below the REST base, with the editor's permissions. */
export async function signIn(
  access: WordPressAccess,
): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
  const page = await fetch(`${access.url}/wp-login.php`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' },
    body: new URLSearchParams({ log: access.adminUser, pwd: access.adminPassword, testcookie: '1' }),
  });
  const cookie = page.headers.getSetCookie().map((header) => header.split(';')[0]);
  const headers = { cookie: cookie.join('; ') };
  const answer = await fetch(`${access.url}/wp-admin/admin-ajax.php?action=rest-nonce`, { headers });
  const nonce = await answer.text();
  if (!/^[0-9a-f]{10}$/.test(nonce)) throw new Error(`Signing in to ${access.url} failed (${page.status}).`);
  return (path, init = {}) =>
    fetch(`${access.url}/wp-json${path}`, { ...init, headers: { ...headers, 'x-wp-nonce': nonce, ...init.headers } });
}

/**
 * A data folder to copy, made if there is none for today and for the present state of the files.
 *
 * @param kind prefix of the folder's name
 * @param make fills the folder that it gets, which may not exist yet, and leaves no process running
 * @returns its path
 */
export async function snapshot(kind: string, make: (data: string) => Promise<void>): Promise<string> {
  const name = path.join(folder, `${kind}-${new Date().toISOString().slice(0, 10)}-${fingerprint()}`);
  if (fs.existsSync(name)) return name;
  const lock = takeLock(path.join(folder, `${kind}.lock`), { wait: 5 * 60_000 });
  if (!lock) throw new Error('Another test run is still making its snapshot of the sandbox.');
  try {
    if (fs.existsSync(name)) return name;
    for (const old of fs.readdirSync(folder).filter((entry) => entry.startsWith(`${kind}-`))) {
      fs.rmSync(path.join(folder, old), { recursive: true, force: true });
    }
    const part = path.join(folder, `part-${kind}`);
    fs.rmSync(part, { recursive: true, force: true });
    await make(part);
    fs.renameSync(part, name);
    return name;
  } finally {
    lock.release();
  }
}

async function makeEdition(edition: EditionKind, data: string): Promise<void> {
  const made = await launchSandbox({ data, port: 0, siteUrl: 'http://127.0.0.1:9', edition });
  await made.stop();
}

/** A hash that changes with every file from which a snapshot's content is made. */
function fingerprint(): string {
  const hash = createHash('sha256');
  const folders = [import.meta.dirname, path.join(root, 'wordpress', 'newsroom')];
  for (const start of folders) {
    const files = fs.globSync('**/*.{ts,mjs,php,md,json}', {
      cwd: start,
      exclude: (file) => file === 'node_modules' || file.includes('.test.'),
    });
    for (const file of files.sort()) hash.update(file).update(fs.readFileSync(path.join(start, file)));
  }
  return hash.digest('hex').slice(0, 12);
}
