/** Contenders take turns, so that the machine's other load affects all of them equally. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../support/figures.ts';
import { endAll } from '../support/processes.ts';
import { canPin, defaultConnections, hasWrk, load, type Measured, type Target } from './contenders.ts';

const limitMs = 10 * 60_000;

export const rounds = 5;
export const seconds = 2;

/** A contender in one comparison. */
export interface Runner {
  readonly name: string;
  readonly contender: Target;
  /** File of the requests, see {@link load}. */
  readonly paths: string;
  readonly connections: number;
  readonly results: Measured[];
}

/** Prints whether a bound holds. */
export type Bound = (what: string, holds: boolean, figure: string) => void;

/**
 * Runs a bench in a folder of its own, and stops every contender at its end.
 *
 * @returns exit code: 1 when a bound is missed
 */
export async function compare(bench: (folder: string, bound: Bound) => Promise<void>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'press-bench-'));
  let failed = false;
  const timer = setTimeout(() => {
    console.log('The bench takes too long and stops.');
    endAll();
    process.exit(1);
  }, limitMs);
  try {
    console.log(
      `${hasWrk ? 'wrk' : 'own load generator (wrk is not installed)'}, ${defaultConnections} connections, ${canPin ? 'server and load pinned to a core each' : 'not pinned'}; medians of ${rounds} rounds\n`,
    );
    await bench(folder, (what, holds, figure) => {
      if (!holds) failed = true;
      console.log(`${holds ? 'pass' : 'FAIL'}  ${what}: ${figure}`);
    });
  } finally {
    clearTimeout(timer);
    endAll();
    rmSync(folder, { recursive: true, force: true });
  }
  return failed ? 1 : 0;
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

/** Median of the ratios within each round, by requests per second of processor time. */
export const ratioOf = (results: readonly Measured[], base: readonly Measured[]): number =>
  median(results.map(({ perCore }, round) => perCore / (base[round]?.perCore ?? Number.NaN)));

export const wrongOf = (results: readonly Measured[]): number => results.reduce((sum, { wrong }) => sum + wrong, 0);
