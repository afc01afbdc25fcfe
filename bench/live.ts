/**
 * `npm run bench:live [-- --readers 10000 --entries 20 --seconds 20]`: a live story with many open pages. The site has one core, the
 * readers another; WordPress is a stand-in that speaks the plugin's protocol. Measures the time from saving an entry to its arrival in each
 * open page, whether any page lacks an entry or gets one twice through kill -9 and new connections, and what the streams cost cached pages.
 * Fails when a bound is broken.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/build.ts';
import { liveFields, liveStory, saveEntry, wireEntry, withdrawEntry } from '../tests/fixtures/live-story.ts';
import { type Paper, startPaper, until } from '../tests/fixtures/paper.ts';
import type { Arrived, Report, ToReaders } from './live/readers.ts';
import { canPin, load, pin } from './press/contenders.ts';
import { type Figure, printFigures } from './support/bounds.ts';
import { count, ms, percentile, wholeFlag } from './support/figures.ts';
import { endAll } from './support/processes.ts';

/** Milliseconds from saving to arrival, and the share of a cached page's throughput that stays. */
const bounds = { p99: 1000, throughput: 0.9 };
/** Files that a process may open in addition to its connections. */
const otherFiles = 500;
/** Milliseconds between two entries while the throughput is measured: two a minute is a busy evening. */
const entryEveryMs = 30_000;
const page = `/article/story-${liveStory}`;
const readersCore = 1;

interface Readers {
  tell(message: ToReaders): void;
  report(): Promise<Report>;
  /** How many readers have an entry. */
  arrived(id: number): Promise<number>;
  close(): void;
}

function startReaders(): Readers & { readonly child: ChildProcess } {
  const script = join(import.meta.dirname, 'live', 'readers.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  if (canPin) execFileSync('taskset', ['-a', '-c', '-p', String(readersCore), String(child.pid)], { stdio: 'ignore' });
  const answer = async <Answer extends Report | Arrived>(message: ToReaders): Promise<Answer> => {
    child.send(message);
    return ((await once(child, 'message')) as [Answer])[0];
  };
  return {
    child,
    tell: (message) => void child.send(message),
    report: () => answer<Report>({ kind: 'report' }),
    arrived: async (id) => (await answer<Arrived>({ kind: 'arrived', id })).count,
    close: () => void child.disconnect(),
  };
}

/** The number of readers for which both processes may open connections. */
function possibleReaders(wanted: number): number {
  const limit = Number(execFileSync('sh', ['-c', 'ulimit -Hn']).toString().trim()) || Number.POSITIVE_INFINITY;
  return Math.min(wanted, limit - otherFiles);
}

/** Saves entries one by one. @returns the milliseconds of each entry in each open page */
async function measureArrivals(
  paper: Paper,
  readers: Readers,
  many: number,
  first: number,
  entries: number,
): Promise<number[]> {
  const saved = new Map<number, number>();
  for (let id = first; id < first + entries; id++) {
    saved.set(id, Number(process.hrtime.bigint()));
    await saveEntry(paper, id);
    await until(async () => (await readers.arrived(id)) >= many, paper.output);
  }
  const { arrivals } = await readers.report();
  return [...saved].flatMap(([id, at]) => (arrivals[id] ?? []).map((time) => (time - at) / 1e6));
}

/** Entries are saved, changed and withdrawn while the site is killed and started again. @returns the numbers that every page must have */
async function editThroughKills(
  paper: Paper,
  readers: Readers,
  before: readonly number[],
  first: number,
): Promise<number[]> {
  const expected = new Set(before);
  let id = first;
  for (let round = 0; round < 2; round++) {
    for (let at = 0; at < 3; at++) {
      await saveEntry(paper, id);
      expected.add(id++);
    }
    // Kills the site while the webhook of a saved entry is on its way.
    paper.wordpress.put('live-entries', wireEntry(id));
    const late = paper.deliver({ event: 'publish', type: 'live-entries', id, slug: `entry-${id}` }).catch(() => null);
    await paper.kill('SIGKILL');
    await late;
    await paper.start();
    pinSite(paper);
    readers.tell({ kind: 'port', port: paper.port() });
    // The plugin delivers again what wasn't confirmed.
    await saveEntry(paper, id);
    expected.add(id++);
    const gone = [...expected].at(-2) ?? 0;
    await withdrawEntry(paper, gone);
    expected.delete(gone);
  }
  return [...expected].sort((a, b) => a - b);
}

function pinSite(paper: Paper): void {
  pin(paper.site()?.pid ?? 0);
}

/** Requests for a cached page that the site answers in a second of its processor time. */
async function throughput(paper: Paper, seconds: number): Promise<number> {
  const paths = join(paper.folder, 'paths.txt');
  writeFileSync(paths, '/article/story-2\tAccept-Encoding: gzip\n');
  const { perCore } = await load({ port: paper.port(), pid: paper.site()?.pid ?? 0 }, paths, seconds);
  return perCore;
}

/** As {@link throughput}, while the streams are open and entries arrive. @returns the next free number of an entry */
async function throughputWith(paper: Paper, seconds: number, first: number): Promise<{ rate: number; next: number }> {
  let next = first;
  const save = (): Promise<void> => saveEntry(paper, next++);
  let saving = save();
  const timer = setInterval(() => {
    saving = saving.then(save);
  }, entryEveryMs);
  try {
    return { rate: await throughput(paper, seconds), next };
  } finally {
    clearInterval(timer);
    await saving;
  }
}

/** @returns the exit code */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { readers: { type: 'string' }, entries: { type: 'string' }, seconds: { type: 'string' } },
  });
  const wanted = wholeFlag('readers', values.readers, 10_000);
  const entries = wholeFlag('entries', values.entries, 20);
  const seconds = wholeFlag('seconds', values.seconds, 20);
  await ensureBuilt();
  const many = possibleReaders(wanted);
  if (many < wanted)
    console.log(`This machine lets a process open ${count(many)} connections; ${count(wanted)} were wanted.`);
  const paper = await startPaper(
    { LIVE_CONNECTIONS: String(many + 100) },
    {
      prepare(before) {
        before.edit(liveStory, liveFields());
        before.wordpress.put('live-entries', wireEntry(1000));
      },
    },
  );
  const readers = startReaders();
  try {
    await until(() => paper.output().includes('The important pages are ready'), paper.output);
    pinSite(paper);
    const without = [await throughput(paper, seconds)];
    const opened = once(readers.child, 'message');
    readers.tell({ kind: 'open', count: many, story: liveStory, page, port: paper.port() });
    const [{ open }] = (await opened) as [Report];
    const arrivals = await measureArrivals(paper, readers, open, 1001, entries);
    const withStreams = await throughputWith(paper, seconds, 2001);
    const had = [...[...Array(entries + 1).keys()].map((at) => 1000 + at), ...range(2001, withStreams.next)];
    // A page holds 20 entries: with fewer entries, a page that is fetched again has all of them.
    for (const id of had.slice(0, -8)) await withdrawEntry(paper, id);
    const expected = await editThroughKills(paper, readers, had.slice(-8), 3001);
    const list = expected.join();
    await until(async () => (await readers.report()).holding[list] === many, paper.output, 60_000).catch(() => {});
    const last = await readers.report();
    readers.close();
    await until(async () => (await paper.metric('broadsheet_live_connections')) === 0, paper.output);
    without.push(await throughput(paper, seconds));
    return verdict({ open, many, arrivals, last, list, with: withStreams.rate, without });
  } finally {
    endAll();
    if (readers.child.connected) readers.close();
    await paper.close();
  }
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);

interface Result {
  readonly open: number;
  readonly many: number;
  /** Milliseconds. */
  readonly arrivals: readonly number[];
  readonly last: Report;
  /** The entries that every page must have at the end. */
  readonly list: string;
  readonly with: number;
  /** Before the readers came, and after they left. */
  readonly without: readonly number[];
}

function verdict({ open, many, arrivals, last, list, with: rate, without }: Result): number {
  const [p50, p99] = [percentile(arrivals, 0.5), percentile(arrivals, 0.99)];
  const complete = last.holding[list] ?? 0;
  const base = without.reduce((sum, each) => sum + each, 0) / without.length;
  const ratio = rate / base;
  const figures: Figure[] = [
    { what: 'readers with an open stream', value: count(open), bound: `${count(many)}`, holds: open === many },
    { what: 'save to open page, p50', value: `${ms(p50)} ms`, bound: '', holds: true },
    { what: 'save to open page, p99', value: `${ms(p99)} ms`, bound: `≤ ${bounds.p99} ms`, holds: p99 <= bounds.p99 },
    {
      what: 'pages that lack an entry after two kill -9',
      value: count(many - complete),
      bound: '0',
      holds: complete === many,
    },
    { what: 'entries that came twice', value: count(last.duplicates), bound: '0', holds: last.duplicates === 0 },
    { what: 'pages fetched instead of events', value: count(last.fetched), bound: '', holds: true },
    {
      what: 'cached page, requests per second of processor time',
      value: `${count(Math.round(rate))}; without readers ${count(Math.round(base))}`,
      bound: `≥ ${bounds.throughput} ×`,
      holds: ratio >= bounds.throughput,
    },
  ];
  const holds = printFigures('Live stories', figures);
  console.log(`throughput with streams and an entry every ${entryEveryMs / 1000} s: ${ratio.toFixed(2)} × without`);
  return holds ? 0 : 1;
}
