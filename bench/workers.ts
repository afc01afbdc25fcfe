/**
 * `npm run bench:workers [-- --workers 2 --seconds 4]`: cached pages with `WORKERS`, compared with one process. The load takes a core
 * itself, so requests per second would measure the machine; the processor time of each process, all on one core, says what they would
 * serve with a core each. Fails when several processes serve less than 0.85 of their number.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/build.ts';
import { type Paper, startPaper, until } from '../tests/fixtures/paper.ts';
import { workersOf } from '../tests/fixtures/workers.ts';
import { load, pin, processorTime } from './press/contenders.ts';
import { count, percentile, printTable, wholeFlag } from './support/figures.ts';
import { endAll } from './support/processes.ts';

/** Share of a whole core that each further process has to bring. */
const share = 0.85;
const rounds = 5;

interface Round {
  /** Requests that the busiest process would serve in a second of its processor time, times the share of the load that it has. */
  readonly rate: number;
  /** Microseconds of processor time for a request, of all processes together. */
  readonly micros: number;
  /** The largest share of the load that one process has. */
  readonly largest: number;
}

async function start(workers: number): Promise<Paper> {
  const paper = await startPaper({ WORKERS: String(workers) });
  await until(() => paper.output().includes('The important pages are ready'), paper.output);
  const serving = () => paper.output().split('A worker serves cached pages').length - 1;
  await until(() => serving() === workers - 1, paper.output);
  return paper;
}

async function measure(paper: Paper, seconds: number): Promise<Round> {
  const paths = join(paper.folder, 'paths.txt');
  writeFileSync(paths, '/article/story-1\tAccept-Encoding: gzip\n');
  const pid = paper.site()?.pid ?? 0;
  const { writer, serving } = workersOf(pid);
  const pids = writer.length > 0 ? [...writer, ...serving] : [pid];
  // All on one core, which they keep busy: a process that waits for requests pays more for each.
  for (const each of new Set([pid, ...pids])) pin(each);
  const before = pids.map((each) => processorTime(each) ?? 0);
  const whole = processorTime(pid) ?? 0;
  const { requests } = await load({ port: paper.port(), pid }, paths, seconds);
  const spent = pids.map((each, at) => ((processorTime(each) ?? 0) - (before[at] ?? 0)) / 1e9);
  const busiest = Math.max(...spent);
  const all = ((processorTime(pid) ?? 0) - whole) / 1e9;
  return { rate: requests / busiest, micros: (all / requests) * 1e6, largest: busiest / all };
}

/** @returns the exit code */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { workers: { type: 'string', default: '2' }, seconds: { type: 'string', default: '4' } },
  });
  const workers = wholeFlag('workers', values.workers, 2);
  const seconds = wholeFlag('seconds', values.seconds, 4);
  await ensureBuilt();
  const papers = [await start(1), await start(workers)] as const;
  try {
    const results: [Round[], Round[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      for (const [at, paper] of papers.entries()) results[at as 0 | 1].push(await measure(paper, seconds));
    }
    const middle = (list: readonly Round[], of: keyof Round): number =>
      percentile(
        list.map((one) => one[of]),
        0.5,
      );
    printTable([
      ['processes', 'requests a second', 'µs a request', 'largest share'],
      ...results.map((list, at) => [
        ...[count(at === 0 ? 1 : workers), count(Math.round(middle(list, 'rate')))],
        ...[middle(list, 'micros').toFixed(1), `${(middle(list, 'largest') * 100).toFixed(0)} %`],
      ]),
    ]);
    const ratio = middle(results[1], 'rate') / middle(results[0], 'rate');
    const bound = share * workers;
    const holds = ratio >= bound;
    console.log(
      `${holds ? 'pass' : 'FAIL'}  ${workers} processes compared with 1: ${ratio.toFixed(2)} × (at least ${bound.toFixed(2)})`,
    );
    return holds ? 0 : 1;
  } finally {
    endAll();
    await Promise.all(papers.map((paper) => paper.close()));
  }
}
