/**
 * `npm run bench:cache [-- --only article|archive] [--quick]`: measures the page cache alone; `npm run bench:press` measures the
 * finished site. `article`: a made-up 26 kB article, compared with nginx and Astro's memoryCache, and its 304 response.
 * `archive`: the same with 1,000, 10,000 and 100,000 stored pages; `--quick` leaves out the 100,000. Takes about three minutes
 * and 3 GB of disk.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Stop } from '../scripts/setup/explain.mjs';
import { type Bound, compare, compete, type Runner, ratioOf, rounds, seconds, wrongOf } from './press/compare.ts';
import {
  type Contender,
  defaultConnections,
  fill,
  isInstalled,
  load,
  type Measured,
  type ServedPage,
  startMemoryCache,
  startNginx,
  startNodeHttp,
  startPress,
} from './press/contenders.ts';
import { article, headers, keyOf } from './press/page.ts';
import { median, printTable } from './support/figures.ts';
import { browsersEncodings } from './support/http.ts';
import { endAll } from './support/processes.ts';

const budget = 512 * 1024 * 1024;
const gzip = '\tAccept-Encoding: gzip';
/** The header that browsers send; a page's gzip is made at its first request. */
const browsers = `\tAccept-Encoding: ${browsersEncodings}`;

const number = (value: number, digits = 0): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

const rateOf = (results: readonly Measured[]): string => number(median(results.map(({ rate }) => rate)));
const perCoreOf = (results: readonly Measured[]): string => number(median(results.map(({ perCore }) => perCore)));

async function oneArticle(folder: string, bound: Bound): Promise<void> {
  const file = join(folder, 'one', 'pages.sqlite');
  await fill(file, 1);
  const paths = join(folder, 'one.txt');
  writeFileSync(paths, `${keyOf(0)}${gzip}\n`);
  const press = await startPress(file, budget);
  const etag = (
    await fetch(`http://127.0.0.1:${press.port}${keyOf(0)}`, { headers: { 'accept-encoding': 'gzip' } })
  ).headers.get('etag');
  const again = join(folder, 'again.txt');
  writeFileSync(again, `${keyOf(0)}${gzip}\tIf-None-Match: ${etag}\n`);
  const runner = (name: string, contender: Contender, asked = paths): Runner => {
    return { name, contender, paths: asked, connections: defaultConnections, results: [] };
  };
  const page = runner('press', press);
  const unchanged = runner('press, 304', press, again);
  const served: ServedPage = {
    path: keyOf(0),
    headers: [...Object.entries(headers), ['content-encoding', 'gzip'], ['vary', 'accept-encoding']],
    gzip: gzipSync(article(), { level: 6 }).toString('base64'),
  };
  const runners = [page, unchanged, runner('node:http, one ready answer', await startNodeHttp(folder, [served]))];
  let nginx: Runner | undefined;
  if (isInstalled('nginx', '-v')) {
    nginx = runner('nginx gzip_static', await startNginx(folder, [served], false));
    runners.push(nginx, runner('nginx gzip_static, open_file_cache', await startNginx(folder, [served], true)));
  } else {
    console.log('nginx is not installed and was left out; on Debian and Ubuntu: apt-get install nginx-light');
  }
  let memoryCache: Runner | undefined;
  const project = join(import.meta.dirname, '../var/bench-press-astro');
  try {
    memoryCache = runner('Astro memoryCache', await startMemoryCache(project));
    runners.push(memoryCache);
  } catch (error) {
    console.log(
      `Astro's memoryCache could not be built and was left out: ${error instanceof Error ? error.message : error}`,
    );
  }
  await compete(runners);

  const base = nginx ?? page;
  printTable([
    ['A stored 26 kB article', 'requests/s', 'per core', `× ${base.name}`, 'p99 ms', 'wrong'],
    ...runners.map((one) => [
      one.name,
      rateOf(one.results),
      perCoreOf(one.results),
      number(ratioOf(one.results, base.results), 2),
      number(median(one.results.map(({ p99 }) => p99)), 2),
      String(wrongOf(one.results)),
    ]),
  ]);
  console.log('');
  const compared = ({ results }: Runner) => ratioOf(page.results, results);
  if (nginx) bound('press at least 0.9 × nginx gzip_static', compared(nginx) >= 0.9, number(compared(nginx), 2));
  if (memoryCache)
    bound('press at least 6 × memoryCache', compared(memoryCache) >= 6, number(compared(memoryCache), 1));
  const wrong = runners.reduce((sum, one) => sum + wrongOf(one.results), 0);
  bound('no wrong answers', wrong === 0, String(wrong));
  endAll();
  rmSync(project, { recursive: true, force: true });
}

/** Paths as readers request them: the most read story twice as often as the second, and so on (Zipf). */
function zipfPaths(count: number, length: number): string[] {
  const sums: number[] = [];
  let sum = 0;
  for (let i = 1; i <= count; i++) {
    sum += 1 / i;
    sums.push(sum);
  }
  return Array.from({ length }, () => {
    const wanted = Math.random() * sum;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    // The most read stories aren't the ones that were stored first.
    return keyOf((low * 7919) % count);
  });
}

const asked = 100_000;

/** Requests every path of a file once, as readers have done after a server's first minutes. */
async function warmUp(press: Contender, paths: string): Promise<void> {
  for (let sent = 0; sent < asked; ) sent += (await load(press, paths, 2)).requests;
}

interface FilledStore {
  readonly count: number;
  readonly press: Contender;
  /** Files of paths: distributed as readers request them, and evenly. */
  readonly zipf: string;
  readonly uniform: string;
  readonly results: Measured[];
  readonly flat: Measured[];
  readonly firstMs: number;
  readonly disk: number;
}

/** Fills a store, starts a press on it three times, and leaves the last one running. */
async function fillStore(folder: string, count: number): Promise<FilledStore> {
  const file = join(folder, String(count), 'pages.sqlite');
  const { fileBytes } = await fill(file, count);
  const zipf = join(folder, `${count}-zipf.txt`);
  const uniform = join(folder, `${count}-uniform.txt`);
  writeFileSync(
    zipf,
    zipfPaths(count, asked)
      .map((path) => `${path}${browsers}\n`)
      .join(''),
  );
  writeFileSync(
    uniform,
    Array.from({ length: asked }, () => `${keyOf(Math.floor(Math.random() * count))}${browsers}\n`).join(''),
  );
  const starts: number[] = [];
  const start = async (): Promise<Contender> => {
    const began = performance.now();
    const press = await startPress(file, budget);
    const answer = await fetch(`http://127.0.0.1:${press.port}${keyOf(count - 1)}`);
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`The first answer was ${answer.status}.`);
    starts.push(performance.now() - began);
    return press;
  };
  await (await start()).stop();
  await (await start()).stop();
  const press = await start();
  return { count, press, zipf, uniform, results: [], flat: [], firstMs: median(starts), disk: fileBytes };
}

async function manyArticles(folder: string, bound: Bound, counts: readonly number[]): Promise<void> {
  const stores: FilledStore[] = [];
  for (const count of counts) stores.push(await fillStore(folder, count));
  for (const { press, zipf } of stores) await warmUp(press, zipf);
  for (let round = 0; round < rounds; round++) {
    for (const { press, zipf, results } of stores) results.push(await load(press, zipf, seconds));
  }
  const rows: string[][] = [];
  const ratios: number[] = [];
  const memories: number[] = [];
  for (const store of stores) {
    const { memory, rss } = await store.press.stats();
    await load(store.press, store.uniform, 2);
    store.flat.push(await load(store.press, store.uniform, seconds));
    const after = await store.press.stats();
    memories.push(memory.bytes, after.memory.bytes);
    const within = ratioOf(store.results, stores[0]?.results ?? []);
    ratios.push(within);
    rows.push([
      number(store.count),
      rateOf(store.results),
      perCoreOf(store.results),
      number(within, 2),
      number(median(store.results.map(({ p99 }) => p99)), 2),
      perCoreOf(store.flat),
      number(memory.bytes / 1024 / 1024),
      number(Math.max(rss, after.rss) / 1024 / 1024),
      number(store.disk / 1024 / 1024),
      number(store.firstMs),
    ]);
  }
  printTable([
    [
      'Stored pages',
      'requests/s',
      'per core',
      '× fewest',
      'p99 ms',
      'evenly read',
      'pages MB',
      'process MB',
      'disk MB',
      'first answer ms',
    ],
    ...rows,
  ]);
  console.log('');
  expectBounds(bound, stores, ratios.at(-1) ?? 0, Math.max(...memories));
  for (const { press } of stores) await press.stop();
}

function expectBounds(bound: Bound, stores: readonly FilledStore[], ratio: number, memory: number): void {
  const most = stores.at(-1);
  bound(`throughput at ${number(most?.count ?? 0)} pages within 10 %`, ratio >= 0.9, number(ratio, 2));
  bound(
    'pages in memory within their budget',
    memory <= budget,
    `${number(memory / 1024 / 1024)} of ${budget / 1024 / 1024} MB`,
  );
  bound(
    'start to first answer under one second',
    stores.every(({ firstMs }) => firstMs < 1000),
    `${number(Math.max(...stores.map(({ firstMs }) => firstMs)))} ms`,
  );
  const wrong = stores.reduce((sum, { results, flat }) => sum + wrongOf(results) + wrongOf(flat), 0);
  bound('no wrong answers', wrong === 0, String(wrong));
}

const parts = ['article', 'archive'] as const;

/** @returns exit code: 1 when a bound is missed */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { only: { type: 'string' }, quick: { type: 'boolean' } } });
  const only = values.only?.split(',') ?? parts;
  const unknown = only.filter((name) => !parts.some((part) => part === name));
  if (unknown.length > 0) throw new Stop(`There is no part ${unknown.join(', ')}; there are ${parts.join(', ')}.`);
  return await compare(async (folder, bound) => {
    if (only.includes('article')) await oneArticle(folder, bound);
    if (only.includes('archive')) {
      await manyArticles(folder, bound, values.quick ? [1000, 10_000] : [1000, 10_000, 100_000]);
    }
  });
}

if (import.meta.main) process.exitCode = await run(process.argv.slice(2));
