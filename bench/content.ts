/**
 * `npm run bench:content -- [articles …]`: syncing 10,000 synthetic articles from a local REST server, the memory that takes, the content
 * store's size, how long its lists and its search take, what an edit costs in the search index, and how many articles a built site renders a
 * second. Fails when sync needs 512 MB or more, or loses an article. `-- 10000 50000` compares two sizes in about ten minutes; it stops itself
 * after thirty. `-- --wordpress [articles]` syncs the sandbox's real WordPress instead (bench/content/wordpress.ts), in about three minutes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type QueryTime, timeEdits, timeQueries } from './content/queries.ts';
import { canRender, timeRendering } from './content/rendering.ts';
import { syncFromWordPress } from './content/wordpress.ts';
import { otherDocuments } from './publish/edition.ts';
import { printTable } from './support/figures.ts';
import { endWithBench, firstJsonLine, helper } from './support/processes.ts';

const memoryLimitMb = 512;
const limitMs = 30 * 60_000;

interface SyncResult {
  readonly ok: boolean;
  /** Documents: the articles, and what else the synthetic edition has. */
  readonly stored: number;
  readonly problem: string | null;
  readonly seconds: number;
  readonly readyMs: number | null;
  readonly peakKb: number;
}

const here = (file: string): string => join(import.meta.dirname, file);

async function syncInto(file: string, address: string): Promise<SyncResult> {
  const args = ['--disable-warning=ExperimentalWarning', here('content/sync.ts'), address, file];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  endWithBench(child);
  const result = await firstJsonLine<SyncResult>(child);
  if (child.exitCode === null) await once(child, 'exit');
  return result;
}

interface Row {
  readonly count: number;
  readonly sync: SyncResult;
  readonly bytes: number;
  readonly queries: readonly QueryTime[];
  /** Article pages a second; `null` when the site is not built. */
  readonly rendered: number | null;
}

async function measure(count: number): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'content-bench-'));
  const file = join(folder, 'content.sqlite');
  const wordpress = helper(here('publish/wordpress.ts'), [String(count)]);
  try {
    const address = `http://127.0.0.1:${await wordpress.ask<number>({ get: 'port' })}`;
    const sync = await syncInto(file, address);
    const bytes = statSync(file).size;
    const rendered = canRender() ? await timeRendering(folder, address, count) : null;
    // Edits come last, because they change the stories.
    const queries = timeQueries(file, count).concat(timeEdits(file, count));
    return { count, sync, bytes, queries, rendered };
  } finally {
    await wordpress.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const figures = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

function print(rows: readonly Row[]): void {
  const table: string[][] = [['', ...rows.map(({ count }) => `${count.toLocaleString('en-US')} articles`)]];
  const line = (name: string, value: (row: Row) => string): void => void table.push([name, ...rows.map(value)]);
  line('synced, articles/s', ({ count, sync }) => figures(count / sync.seconds));
  line('edition readable after, s', ({ sync }) => figures((sync.readyMs ?? 0) / 1000));
  line('peak memory of sync, MB', ({ sync }) => figures(sync.peakKb / 1024));
  line('rendered, articles/s', ({ rendered }) => (rendered === null ? 'not built' : figures(rendered)));
  line('store, MB', ({ bytes }) => figures(bytes / 1_048_576));
  for (const [index, { name }] of (rows[0]?.queries ?? []).entries()) {
    line(`${name}, ms p50 / p99`, ({ queries }) => {
      const time = queries[index];
      return time ? `${time.p50.toFixed(3)} / ${time.p99.toFixed(3)}` : '';
    });
  }
  printTable(table);
}

/** @returns exit code: 1 when a limit was passed or an article lost */
export async function run(args: readonly string[]): Promise<number> {
  if (args.includes('--wordpress')) return (await syncFromWordPress(Number(args.find(Number)) || 1000)) ? 0 : 1;
  const counts = args.map(Number).filter((count) => Number.isSafeInteger(count) && count > 0);
  const deadline = setTimeout(() => {
    console.error('bench:content did not end within thirty minutes');
    process.exit(1);
  }, limitMs);
  const rows: Row[] = [];
  for (const count of counts.length > 0 ? counts : [10_000]) rows.push(await measure(count));
  clearTimeout(deadline);
  print(rows);
  let code = 0;
  const fail = (message: string): void => {
    console.error(`FAILED: ${message}`);
    code = 1;
  };
  for (const { count, sync } of rows) {
    const megabytes = Math.round(sync.peakKb / 1024);
    if (!sync.ok || sync.stored !== count + otherDocuments)
      fail(
        `${sync.stored} of ${count + otherDocuments} documents were stored${sync.problem ? `: ${sync.problem}` : ''}`,
      );
    if (megabytes >= memoryLimitMb)
      fail(`sync of ${count} articles took ${megabytes} MB, the limit is ${memoryLimitMb} MB`);
  }
  return code;
}

if (import.meta.main) process.exitCode = await run(process.argv.slice(2));
