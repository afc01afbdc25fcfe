/** Statistics of the press, for the operators' page, metrics and the bench. */
import type { Variant } from './store/stored-page.ts';

/** One page of a publish. */
export interface Refreshed {
  readonly key: string;
  readonly variant: Variant;
  /** Milliseconds from the change until the new page is stored. */
  readonly ms: number;
}

/** One change, from its arrival to the last page that shows it. */
export interface Publish {
  /** Epoch milliseconds of its arrival. */
  readonly at: number;
  readonly reason: string;
  readonly tags: readonly string[];
  readonly withdrawn: readonly string[];
  /** The first pages in the order in which they became fresh; `pages` counts all. */
  readonly refreshed: readonly Refreshed[];
  readonly pages: number;
  readonly unchanged: number;
  readonly failed: number;
  /** `null` while it is running. */
  readonly ms: number | null;
}

export interface Failure {
  readonly at: number;
  readonly key: string;
  readonly variant: Variant;
  readonly cause: string;
  readonly attempts: number;
}

export interface Counters {
  /** Pages that had to be rendered while a reader waited. */
  misses: number;
  /** Responses for addresses that were recently found not to exist. */
  negativeHits: number;
  renders: number;
  unchanged: number;
  failures: number;
}

export interface Stats {
  readonly counters: Counters;
  readonly publishes: readonly Publish[];
  readonly failures: readonly Failure[];
  /** Starts a publish; `done` replaces it by its result. */
  publish(begun: Publish): { done(ended: Publish): void };
  failed(failure: Failure): void;
}

const mostRemembered = 50;

export function createStats(): Stats {
  const publishes: Publish[] = [];
  const failures: Failure[] = [];
  return {
    counters: {
      misses: 0,
      negativeHits: 0,
      renders: 0,
      unchanged: 0,
      failures: 0,
    },
    publishes,
    failures,
    publish(begun) {
      publishes.unshift(begun);
      if (publishes.length > mostRemembered) publishes.pop();
      return {
        done(ended) {
          const at = publishes.indexOf(begun);
          if (at !== -1) publishes[at] = ended;
        },
      };
    },
    failed(failure) {
      failures.unshift(failure);
      if (failures.length > mostRemembered) failures.pop();
    },
  };
}
