/** The combined result of several Lighthouse runs on a page, and whether it meets the bounds. */
import { median } from '../support/figures.ts';
import { type Category, categories, type PagePlan } from './plan.ts';

/** Kinds of what a page fetches, in the order in which they are shown. */
export const kinds = ['HTML', 'CSS', 'JS', 'fonts', 'pictures', 'other'] as const;
export type Kind = (typeof kinds)[number];

/** Results of one run. */
export interface Run {
  /** 0 to 100. */
  readonly scores: Readonly<Record<Category, number>>;
  readonly layoutShift: number;
  /** Milliseconds until the largest part was painted, as Lighthouse simulates a slow phone. */
  readonly largestPaint: number;
  /** Milliseconds for which the main thread was blocked, as Lighthouse simulates a slow phone. */
  readonly blocked: number;
  /** Bytes over the wire, including headers. */
  readonly bytes: Readonly<Record<Kind, number>>;
  /** Audits that took points away, with the place they name first. */
  readonly faults: readonly string[];
}

/** A request as Lighthouse lists it (audit `network-requests`). */
export interface Fetched {
  readonly resourceType?: string | undefined;
  readonly transferSize?: number | undefined;
}

const kindOf: Readonly<Record<string, Kind>> = {
  Document: 'HTML',
  Stylesheet: 'CSS',
  Script: 'JS',
  Font: 'fonts',
  Image: 'pictures',
};

/** Adds up by kind what came over the wire. */
export function weigh(fetched: readonly Fetched[]): Record<Kind, number> {
  const bytes = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>;
  for (const { resourceType = '', transferSize = 0 } of fetched) bytes[kindOf[resourceType] ?? 'other'] += transferSize;
  return bytes;
}

/** The medians of several runs, each figure by itself. */
export function medianRun(runs: readonly Run[]): Run {
  const of = (read: (run: Run) => number): number => median(runs.map(read));
  return {
    scores: Object.fromEntries(categories.map((name) => [name, of(({ scores }) => scores[name])])) as Run['scores'],
    layoutShift: of(({ layoutShift }) => layoutShift),
    largestPaint: of(({ largestPaint }) => largestPaint),
    blocked: of(({ blocked }) => blocked),
    bytes: Object.fromEntries(kinds.map((kind) => [kind, of(({ bytes }) => bytes[kind])])) as Run['bytes'],
    faults: [...new Set(runs.flatMap(({ faults }) => faults))],
  };
}

/** @returns a sentence for each bound that the page misses */
export function missedBounds({ performance, shift }: PagePlan, { scores, layoutShift }: Run): string[] {
  const bound = (name: Category): number => (name === 'performance' ? performance : 100);
  return [
    ...categories
      // A missing score isn't high enough.
      .filter((name) => !(scores[name] >= bound(name)))
      .map((name) => `${name} ${scores[name]}, bound ${bound(name)}`),
    // Rounded to three digits, as Lighthouse shows it.
    ...(Math.round(layoutShift * 1000) > shift * 1000
      ? [`layout shift ${layoutShift.toFixed(3)}, bound ${shift}`]
      : []),
  ];
}
