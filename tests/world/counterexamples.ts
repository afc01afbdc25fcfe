/**
 * Random checks whose failures can be repeated: fast-check's seed and path are at the end of the message and in a file, because a long log
 * may be cut.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc, { type IRawProperty, type RunDetails } from 'fast-check';
import { seedFrom } from './runs.ts';

const folder = join('var', 'counterexamples');

/**
 * Checks a property with the seed in the environment variable `CHECK_SEED`, or with a new one.
 *
 * @param name of the file in `var/counterexamples`
 * @throws Error with what failed, and how to repeat it
 */
export function checkRandomly<Ts>(name: string, property: IRawProperty<Ts, false>, numRuns: number): void {
  const details = fc.check(property, { numRuns, seed: seedFrom('CHECK_SEED') });
  if (details.failed) throw new Error(recorded(name, details));
}

function recorded<Ts>(name: string, details: RunDetails<Ts>): string {
  const { seed, counterexamplePath: path, counterexample, errorInstance } = details;
  const file = join(folder, `${name}-${seed}.json`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify({ seed, path, error: String(errorInstance), counterexample }, null, 1)}\n`);
  return `${fc.defaultReportMessage(details)}\n\n${String(errorInstance)}\nRepeat it with CHECK_SEED=${seed} (path ${path}); the order is in ${file}.`;
}
