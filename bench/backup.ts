/**
 * `npm run bench:backup [--accounts 10000] [--native /usr/lib/postgresql/16]`: time and size of a backup, its check, its restore and the
 * move to PostgreSQL, and how long a site's transactions take during a backup. Every table has as many rows as there are accounts. With
 * `--native`, PostgreSQL and `pg_dump` come from this folder, and a backup of PostgreSQL is measured, too.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { silent } from '../src/lib/logging.ts';
import { type MadeBackup, makeBackup } from '../src/server/backup/backup.ts';
import { moveToPostgres } from '../src/server/backup/move.ts';
import { checkBackup, restore } from '../src/server/backup/restore.ts';
import { openDatabase } from '../src/server/database/open.ts';
import { fillAccounts } from '../tests/world/filled-accounts.ts';
import { startPostgres } from '../tests/world/postgres.ts';
import { count, ms, percentile, printTable, wholeFlag } from './support/figures.ts';

/** Writes as a site does: a small transaction every two milliseconds, each flushed to disk. */
const writer = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(workerData, { timeout: 5000 });
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  const insert = database.prepare("insert into stripe_events (id, type, received) values (?, 'bench', 1)");
  const times = [];
  let number = 0;
  const timer = setInterval(() => {
    const began = performance.now();
    insert.run('bench ' + process.pid + ' ' + Date.now() + ' ' + number++);
    times.push(performance.now() - began);
  }, 2);
  parentPort.on('message', () => {
    clearInterval(timer);
    database.close();
    parentPort.postMessage(times);
    parentPort.close();
  });
`;

/** Milliseconds of each transaction of a writer while `work` runs. */
async function whileWorking<T>(file: string, work: () => Promise<T>): Promise<{ result: T; times: readonly number[] }> {
  const worker = new Worker(writer, { eval: true, workerData: file });
  await new Promise((resolve) => worker.once('online', resolve));
  const result = await work();
  const times = new Promise<number[]>((resolve) => worker.once('message', resolve));
  worker.postMessage('stop');
  return { result, times: await times };
}

/** Wall-clock time and this process's processor time, in milliseconds: the latter doesn't depend on the machine's other load. */
interface Taken {
  readonly took: number;
  readonly cpu: number;
}

async function timed<T>(work: () => Promise<T>): Promise<Taken & { result: T }> {
  const [began, before] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, took: performance.now() - began, cpu: (user + system) / 1000 };
}

const sizeOf = ({ manifest }: MadeBackup): string =>
  `${(manifest.files.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6).toFixed(1)} MB`;

export async function run(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ args: [...args], options: { accounts: text, native: text } });
  const accounts = wholeFlag('accounts', values.accounts, 10_000);
  const folder = mkdtempSync(join(tmpdir(), 'backup-bench-'));
  const cluster = await startPostgres({ durable: true, native: values.native });
  try {
    const [dataDir, backupDir] = [join(folder, 'site'), join(folder, 'backups')];
    const file = join(dataDir, 'accounts.sqlite');
    await (await openDatabase({ dataDir, databaseUrl: null, log: silent })).close();
    const tables = fillAccounts(file, accounts);
    writeFileSync(join(dataDir, 'accounts-secret'), 'a secret of the bench that is long enough\n');
    const path = values.native ? join(values.native, 'bin') : '';
    const here = { dataDir, databaseUrl: null, path };
    const making = { backupDir, days: 30, now: Date.now };
    const alone = await whileWorking(file, () => new Promise((resolve) => setTimeout(resolve, 2000)));
    const busy = await whileWorking(file, () => timed(() => makeBackup({ ...here, ...making })));
    const made = busy.result.result;
    const lines: string[][] = [];
    const line = (name: string, { took, cpu }: Taken, size = '') => void lines.push([name, ms(took), ms(cpu), size]);
    line('SQLite: backup', busy.result, sizeOf(made));
    line('SQLite: check', await timed(() => checkBackup(made.path, { ...here, now: 0 })));
    line('SQLite: restore', await timed(() => restore(made.path, { ...here, now: 0 })));
    const databaseUrl = await cluster.database();
    line('move to PostgreSQL', await timed(() => moveToPostgres({ dataDir, databaseUrl })));
    if (values.native) {
      const there = { dataDir, databaseUrl, path };
      const dump = await timed(() => makeBackup({ ...there, ...making }));
      line('PostgreSQL: backup', dump, sizeOf(dump.result));
      const from = dump.result.path;
      line('PostgreSQL: check', await timed(() => checkBackup(from, { ...there, now: 0 })));
      line('PostgreSQL: restore', await timed(() => restore(from, { ...there, now: 0 })));
    }
    console.log(`${count(accounts)} accounts, and ${count(accounts)} rows in each of ${tables.length} tables\n`);
    printTable([['', 'ms', 'CPU ms', 'size'], ...lines]);
    console.log('');
    const row = (name: string, { times }: { times: readonly number[] }): string[] => [
      name,
      count(times.length),
      ms(percentile(times, 0.5)),
      ms(percentile(times, 0.99)),
      ms(Math.max(...times)),
    ];
    printTable([
      ['transactions of the site, ms', 'number', 'p50', 'p99', 'longest'],
      row('without a backup', alone),
      row('during a backup', busy),
    ]);
  } finally {
    await cluster.remove();
    rmSync(folder, { recursive: true, force: true });
  }
  return 0;
}

if (import.meta.main) process.exitCode = await run(process.argv.slice(2));
