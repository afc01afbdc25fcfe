/**
 * `npm run bench:headlines -- [--tests 10000] [--readings 5000]`: the sequential test of headlines (`lib/headline-tests/sequential.ts`) on
 * simulated readers, assigned to groups and headlines as on the site, and evaluated after every few readings. Counts the tests of equal
 * headlines that name a winner and, of the tests with a better headline, those that find it and after how many readings.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { groups, headlineFor } from '../src/lib/headline-tests/model.ts';
import { errorRate, verdictOf } from '../src/lib/headline-tests/sequential.ts';
import { count, percentile, printTable, wholeFlag } from './support/figures.ts';

/** Readings between two evaluations. The site evaluates once a second. */
const batch = 10;
/** Of tests in which one headline brings a fifth more readers, the share that must find it. */
const leastPower = 0.8;

interface Scenario {
  readonly name: string;
  /** How likely a reader of each headline is to read the story, in proportion to the first. */
  readonly weights: readonly number[];
  /** Upper bound for the tests that name a headline other than the best. */
  readonly mostWrong: number;
  readonly leastRight: number;
}

const equal = (headlines: number): Scenario => ({
  name: `${headlines} equal headlines`,
  weights: Array.from({ length: headlines }, () => 1),
  mostWrong: errorRate,
  leastRight: 0,
});
const better = (weights: readonly number[], leastRight: number): Scenario => ({
  name: `${weights.length} headlines, +${Math.round((Math.max(...weights) - 1) * 100)} %`,
  weights,
  mostWrong: errorRate,
  leastRight,
});
const scenarios = [
  equal(2),
  equal(3),
  equal(4),
  better([1, 1.1], 0),
  better([1, 1.2], leastPower),
  better([1, 1.5], leastPower),
  better([1, 1, 1, 1.2], 0),
];

interface Outcome {
  readonly wrong: number;
  readonly right: number;
  readonly readings: number[];
}

/** Simulates tests of one kind. */
function simulate({ weights }: Scenario, tests: number, most: number): Outcome {
  const best = Math.max(...weights) > 1 ? weights.indexOf(Math.max(...weights)) : -1;
  const outcome = { wrong: 0, right: 0, readings: [] as number[] };
  for (let test = 0; test < tests; test++) {
    const end = simulateOne(weights, most);
    if (end === null) continue;
    if (end.headline === best) {
      outcome.right++;
      outcome.readings.push(end.readings);
    } else outcome.wrong++;
  }
  return outcome;
}

/** One test. @returns `null` when no headline won */
function simulateOne(weights: readonly number[], most: number): { headline: number; readings: number } | null {
  const id = randomBytes(8).toString('hex');
  const headlines = Array.from({ length: groups }, (_, group) => headlineFor(id, weights.length, group));
  const highest = Math.max(...weights);
  const readings = weights.map(() => 0);
  for (let total = 0; total < most; ) {
    const headline = headlines[Math.floor(Math.random() * groups)] ?? 0;
    // The weaker a headline, the more often its reader skips the story.
    if (Math.random() * highest >= (weights[headline] ?? 0)) continue;
    readings[headline] = (readings[headline] ?? 0) + 1;
    total++;
    if (total % batch !== 0) continue;
    const verdict = verdictOf(readings);
    if (verdict.kind === 'won') return { headline: verdict.headline, readings: total };
  }
  return null;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** @returns exit code: 1 when a bound is broken */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { tests: { type: 'string' }, readings: { type: 'string' } },
  });
  const tests = wholeFlag('tests', values.tests, 10_000);
  const most = wholeFlag('readings', values.readings, 5000);
  console.log(`${count(tests)} tests each, asked after every ${batch} of ${count(most)} readings`);
  const rows = scenarios.map((scenario) => {
    const { wrong, right, readings } = simulate(scenario, tests, most);
    const isEqual = scenario.weights.every((weight) => weight === 1);
    const holds = wrong / tests <= scenario.mostWrong && right / tests >= scenario.leastRight;
    const found = scenario.leastRight > 0 ? `≥ ${percent(scenario.leastRight)}` : '';
    return {
      holds,
      cells: [
        scenario.name,
        percent(wrong / tests),
        `≤ ${percent(scenario.mostWrong)}`,
        isEqual ? '' : percent(right / tests),
        found,
        readings.length === 0 ? '' : count(percentile(readings, 0.5)),
        holds ? 'pass' : 'FAIL',
      ],
    };
  });
  printTable([
    ['', 'false winners', 'bound', 'found', 'bound', 'readings, median', ''],
    ...rows.map(({ cells }) => cells),
  ]);
  return rows.every(({ holds }) => holds) ? 0 : 1;
}

if (import.meta.main) process.exitCode = await run(process.argv.slice(2));
