/**
 * A machine that is lost at a random moment, repeatedly: the site's writer and `npm run backup -- --every 5` are killed, the data folder is
 * deleted, and the newest backup is restored (every other restore is killed, too, and run again) and served by a site. Twenty times in
 * `npm run prove`. `FAULT_SEED=n` repeats the same moments, as closely as processes can.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { randomNumbers } from '../../sandbox/random.ts';
import { listBackups } from '../../src/server/backup/backup-folder.ts';
import { compileCache, type Paper, startPaper, until } from '../fixtures/paper.ts';
import type { Said } from '../fixtures/signing-up.ts';
import { runs, seedFrom } from '../world/runs.ts';

const rounds = runs(2, 20);
const seed = seedFrom('FAULT_SEED');
/** The promised bounds, milliseconds. */
const bounds = { loss: 10_000, back: 60_000 };
/** Where starting the site alone takes longer than ten seconds because of other work, it may be back after so many of these starts. */
const startsUntilBack = 6;

let paper: Paper | undefined;
const children: ChildProcess[] = [];
let backupDir = '';
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await paper?.close();
  rmSync(backupDir, { recursive: true, force: true });
});

/** Runs `npm run <name> -- …args` on a data folder. */
function command(name: 'backup' | 'restore', args: readonly string[], dataDir: string) {
  const script = `process.exitCode = await (await import('./scripts/${name}.ts')).run(${JSON.stringify(args)})`;
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    NODE_COMPILE_CACHE: compileCache,
    DATA_DIR: dataDir,
    BACKUP_DIR: backupDir,
    SITE_URL: 'https://paper.example',
    WORDPRESS_URL: 'http://127.0.0.1:9',
    NEWSROOM_SECRET: 'a-secret-that-only-the-plugin-knows',
  };
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text: Buffer) => {
      output += text.toString();
    });
  }
  return { child, ended: once(child, 'close') as Promise<[number | null]>, output: () => output };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** An acknowledged sign-up, and when it was acknowledged. */
interface Acknowledged {
  readonly email: string;
  readonly at: number;
}

function signUps(dataDir: string, round: number): { child: ChildProcess; acknowledged: Acknowledged[] } {
  const fixture = join(import.meta.dirname, '../fixtures/signing-up.ts');
  // Slow enough that all rounds together stay below the site's limit of mails.
  const env = { ...process.env, SIGN_UP_PAUSE: '400' };
  const child = fork(fixture, [dataDir, String(round)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env });
  children.push(child);
  const acknowledged: Acknowledged[] = [];
  child.on('message', (said: 'ready' | Said) => {
    if (said !== 'ready' && said.kind === 'joined') acknowledged.push({ email: said.email, at: performance.now() });
  });
  return { child, acknowledged };
}

/** Restores the newest backup. @param dieAfter milliseconds until the first attempt is killed */
async function restoreLatest(dataDir: string, dieAfter: number | null): Promise<void> {
  if (dieAfter !== null) {
    const { child } = command('restore', ['latest'], dataDir);
    await Promise.race([pause(dieAfter), once(child, 'exit')]);
    await kill(child);
  }
  const { ended, output } = command('restore', ['latest'], dataDir);
  const [code] = await ended;
  expect(code, output()).toBe(0);
}

it(`restoring loses at most 10 s of accounts and takes at most 60 s, ${rounds} times (FAULT_SEED=${seed})`, async () => {
  const random = randomNumbers(seed);
  backupDir = mkdtempSync(join(tmpdir(), 'backups-'));
  // It is stopped at once: its data folder is the content of each round's, and it serves what was restored.
  const beganStart = performance.now();
  paper = await startPaper();
  const startMs = performance.now() - beganStart;
  const losses: number[] = [];
  const backs: number[] = [];
  /** Data that a round has restored is never lost again. */
  const restored = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    await paper.kill('SIGTERM');
    const { folder } = paper;
    const before = existsSync(backupDir) ? listBackups(backupDir).length : 0;
    const writer = signUps(folder, round);
    await until(() => writer.acknowledged.length > 0);
    const backup = command('backup', ['--every', '5'], folder);
    await until(() => listBackups(backupDir).length > before, backup.output);
    await pause(random() * 8000);
    expect([writer.child.exitCode, backup.child.exitCode], backup.output()).toEqual([null, null]);
    await Promise.all([kill(writer.child), kill(backup.child)]);
    const lost = performance.now();
    for (const name of [
      'accounts.sqlite',
      'accounts.sqlite-wal',
      'accounts.sqlite-shm',
      'accounts-secret',
      'access-key',
    ])
      rmSync(join(folder, name), { force: true });

    await restoreLatest(folder, round % 2 === 1 ? random() * 700 : null);
    await paper.start();
    backs.push(performance.now() - lost);

    const database = new DatabaseSync(join(folder, 'accounts.sqlite'), { readOnly: true });
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    const users = new Set(
      database
        .prepare('select email from users')
        .all()
        .map(({ email }) => String(email)),
    );
    database.close();
    const missing = writer.acknowledged.find(({ email }) => !users.has(email));
    losses.push(missing ? lost - missing.at : 0);
    expect([...restored].filter((email) => !users.has(email))).toEqual([]);
    for (const email of users) restored.add(email);
  }
  const seconds = (times: readonly number[]): string => times.map((ms) => (ms / 1000).toFixed(1)).join(' ');
  console.log(`lost, seconds: ${seconds(losses)}\nback after, seconds: ${seconds(backs)}`);
  expect(Math.max(...losses)).toBeLessThanOrEqual(bounds.loss);
  expect(Math.max(...backs)).toBeLessThanOrEqual(Math.max(bounds.back, startsUntilBack * startMs));
}, 1_800_000);
