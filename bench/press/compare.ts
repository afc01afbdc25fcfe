/** Contenders that take turns, so that what else the machine does falls on all of them alike. */
import { load, type Measured, type Target } from './contenders.ts';

export const rounds = 5;
export const seconds = 2;

/** A contender in one comparison. */
export interface Runner {
  readonly name: string;
  readonly contender: Target;
  /** File of what is asked, see {@link load}. */
  readonly paths: string;
  readonly connections: number;
  readonly results: Measured[];
}

/** Runs all contenders, one after another. */
export async function compete(runners: readonly Runner[]): Promise<void> {
  const run = ({ contender, paths, connections }: Runner, duration: number) =>
    load(contender, paths, duration, connections);
  for (const runner of runners) await run(runner, 1);
  for (let round = 0; round < rounds; round++) {
    for (const runner of runners) runner.results.push(await run(runner, seconds));
  }
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Median of the ratios within each round, by requests per second of processor time. */
export const ratioOf = (results: readonly Measured[], base: readonly Measured[]): number =>
  median(results.map(({ perCore }, round) => perCore / (base[round]?.perCore ?? Number.NaN)));

export const wrongOf = (results: readonly Measured[]): number => results.reduce((sum, { wrong }) => sum + wrong, 0);
