/**
 * `npm run bench:publish`: from an editor's click to fresh pages, while readers read them. A synthetic WordPress, the
 * site and its readers are processes of their own.
 *
 *     npm run bench:publish -- [--articles 10000] [--edits 200] [--readers 64] [--pause 50] [--storm 64] [--stored start|all] [--growth]
 *
 * `--stored start` (the default) stores the pages that `npm start` renders in advance, and those that readers request; `all` renders the
 * whole paper first. `--growth` compares 1,000 articles with 50,000 (`--from`, `--to`). `--pause` is a reader's rest between two pages
 * in milliseconds. Fails when a bound is broken; the bounds are printed.
 */
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/build.ts';
import { type KindResult, measure, type Run } from './publish/measure.ts';
import { type Kind, kinds } from './publish/plan.ts';
import { verdict } from './support/bounds.ts';
import { count, ms, percentile, printTable, wholeFlag } from './support/figures.ts';
import { fixedWork, speedSentence } from './support/speed.ts';

/**
 * Milliseconds, and the ratio of p50 between a large archive and a small one. `pause`: of the main thread in a storm of edits; `front`: p99 of a
 * front.
 */
const bounds = { p50: 25, p99: 60, front: 100, pause: 30, growth: 1.25 };

const own = ({ edits }: KindResult, share: number): number =>
  percentile(
    edits.map(({ took, fetch }) => took - fetch),
    share,
  );
const cpu = ({ edits }: KindResult): number =>
  percentile(
    edits.map((edit) => edit.cpu),
    0.5,
  );
const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

function show(run: Run): boolean {
  const { articles, stored, readers, pauseMs, results } = run;
  console.log(
    `\n${count(articles)} articles, ${count(stored)} pages stored, ${readers} readers with a pause of ${pauseMs} ms, ${count(results[0]?.edits.length ?? 0)} edits of each kind; milliseconds`,
  );
  const lines = [
    [
      ...['', 'p50', 'p99', 'its own ms p50', 'CPU p50', 'fetch p50', 'fetch p99'],
      ...['pause p99', 'stolen', 'rendered', 'expected', 'exact', `p50 ≤ ${bounds.p50}`, `p99 ≤ ${bounds.p99}`],
    ],
  ];
  let good = true;
  for (const result of results) {
    const { edits } = result;
    const exact = edits.filter(({ rendered, expected }) => rendered === expected).length;
    const fast = own(result, 0.5) <= bounds.p50;
    const sure = own(result, 0.99) <= (result.kind === 'front' ? bounds.front : bounds.p99);
    good &&= fast && sure && exact === edits.length;
    const fetches = edits.map(({ fetch }) => fetch);
    const answered = edits.map((edit) => edit.ms - edit.fetch);
    lines.push([
      ...[result.kind, ms(own(result, 0.5)), ms(own(result, 0.99)), ms(percentile(answered, 0.5)), ms(cpu(result))],
      ...[ms(percentile(fetches, 0.5)), ms(percentile(fetches, 0.99))],
      ms(
        percentile(
          edits.map(({ pause }) => pause),
          0.99,
        ),
      ),
      result.stolen === null ? '' : `${(result.stolen * 100).toFixed(1)} %`,
      ...[
        mean(edits.map(({ rendered }) => rendered)).toFixed(1),
        mean(edits.map(({ expected }) => expected)).toFixed(1),
      ],
      ...[`${exact}/${edits.length}`, verdict(fast), verdict(sure)],
    ]);
  }
  printTable(lines);
  console.log(
    `p99 of a front: ≤ ${bounds.front}; p50 and p99: signed webhook sent to answer received, without the time that WordPress took to answer the site;`,
  );
  console.log(
    'its own ms: the same from the answer’s own count; CPU: processor time of the site until then, its readers included;',
  );
  console.log(
    'stolen: share of processor time that the host of a virtual machine took during the edits; rendered, expected: pages per edit, on average.\n',
  );
  printTable([
    ['', 'answers', 'current', 'errors', 'stale', 'p99', 'slowest', 'errors 0', 'stale 0'],
    ...results.map(({ kind, readers: { answers, current, errors, stale, p99, slowest }, missed }) => [
      ...[kind, count(answers), count(current), count(errors), count(stale + missed), ms(p99), ms(slowest)],
      ...[verdict(errors === 0), verdict(stale + missed === 0)],
    ]),
  ]);
  console.log(
    'current: answers that showed the version of an edit; stale: an older one after the webhook had been answered.',
  );
  const calm = run.storm === null || run.storm.pause <= bounds.pause;
  if (run.storm) {
    const { edits, took, pause } = run.storm;
    console.log(
      `\n${count(edits)} headlines changed at once: all answered after ${ms(took)} ms; longest pause of the main thread ${ms(pause)} ms, bound ${bounds.pause}: ${verdict(calm)}`,
    );
  }
  for (const { kind, readers } of results) for (const fault of readers.faults) console.log(`${kind}: ${fault}`);
  return good && calm && results.every(({ readers, missed }) => readers.errors + readers.stale + missed === 0);
}

function compare(small: Run, large: Run): boolean {
  console.log(
    `\nGrowth, ${count(large.articles)} articles compared with ${count(small.articles)}; bound ${bounds.growth} at p50`,
  );
  let good = true;
  const lines = [['', 'p50', 'ratio', 'p99', 'ratio', 'CPU p50', 'ratio', 'rendered', 'ratio', 'the same']];
  for (const [at, result] of large.results.entries()) {
    const before = small.results[at];
    if (!before) continue;
    const pages = ({ edits }: KindResult): number => mean(edits.map(({ rendered }) => rendered));
    const ratio = own(result, 0.5) / own(before, 0.5);
    good &&= ratio <= bounds.growth;
    lines.push([
      ...[result.kind, ms(own(result, 0.5)), ratio.toFixed(2)],
      ...[ms(own(result, 0.99)), (own(result, 0.99) / own(before, 0.99)).toFixed(2)],
      ...[ms(cpu(result)), (cpu(result) / cpu(before)).toFixed(2)],
      ...[pages(result).toFixed(1), (pages(result) / pages(before)).toFixed(2), verdict(ratio <= bounds.growth)],
    ]);
  }
  printTable(lines);
  return good;
}

/** @returns exit code: 1 when a bound is broken */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      articles: { type: 'string' },
      edits: { type: 'string' },
      readers: { type: 'string' },
      pause: { type: 'string' },
      storm: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      kind: { type: 'string', multiple: true },
      stored: { type: 'string', default: 'start' },
      growth: { type: 'boolean', default: false },
    },
  });
  if (values.stored !== 'start' && values.stored !== 'all') throw new Error('--stored is start or all.');
  const wanted = values.kind ?? kinds;
  const unknown = wanted.find((kind) => !kinds.includes(kind as Kind));
  if (unknown !== undefined) throw new Error(`--kind ${unknown} is none of: ${kinds.join(', ')}.`);
  await ensureBuilt();
  const common = {
    edits: wholeFlag('edits', values.edits, 200),
    readers: wholeFlag('readers', values.readers, 64),
    pauseMs: wholeFlag('pause', values.pause, 50),
    storm: wholeFlag('storm', values.storm, 64),
    stored: values.stored,
    kinds: kinds.filter((kind) => wanted.includes(kind)),
  } as const;
  const speed = fixedWork();
  const good: boolean[] = [];
  if (values.growth) {
    const small = await measure({ ...common, articles: wholeFlag('from', values.from, 1000) });
    const large = await measure({ ...common, articles: wholeFlag('to', values.to, 50_000) });
    good.push(show(small), show(large), compare(small, large));
  } else {
    good.push(show(await measure({ ...common, articles: wholeFlag('articles', values.articles, 10_000) })));
  }
  console.log(speedSentence(speed));
  return good.every(Boolean) ? 0 : 1;
}

if (import.meta.main) process.exitCode = await run(process.argv.slice(2));
