/** Figures of a bench with their bounds. */
import { printTable } from './figures.ts';

export interface Figure {
  readonly what: string;
  readonly value: string;
  /** Empty for a figure without a bound. */
  readonly bound: string;
  readonly holds: boolean;
}

export const verdict = (holds: boolean): string => (holds ? 'pass' : 'FAIL');

/** A count of something that must not happen. */
export const none = (what: string, number: number): Figure => ({
  what,
  value: String(number),
  bound: '0',
  holds: number === 0,
});

/** @returns whether all of them hold */
export function printFigures(title: string, figures: readonly Figure[], notes: readonly string[] = []): boolean {
  console.log(`\n${title}\n`);
  const rows = figures.map(({ what, value, bound, holds }) => [what, value, bound, bound === '' ? '' : verdict(holds)]);
  printTable([['figure', 'measured', 'bound', 'verdict'], ...rows]);
  for (const note of notes.slice(0, 20)) console.log(`  ${note}`);
  return figures.every(({ holds }) => holds);
}
