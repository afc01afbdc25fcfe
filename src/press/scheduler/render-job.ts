/** Render jobs: one per page and variant, with all who wait for it. */
import type { CachedPage } from '../cache/cached-page.ts';
import type { PageRef } from '../store/stored-page.ts';

export type RenderOutcome = 'refreshed' | 'unchanged' | 'failed';

/** Gets the outcome of a page's render. */
export interface Watcher {
  settled(ref: PageRef, outcome: RenderOutcome): void;
}

/** A reader of a page that isn't stored. */
export interface WaitingReader {
  /** Number of the latest change when the reader came. */
  readonly arrived: number;
  resolve(page: CachedPage): void;
  reject(error: unknown): void;
}

export interface RenderJob {
  readonly ref: PageRef;
  readonly name: string;
  /** `queue`: for a change or the warm-up; `readers`: readers wait for it; `delayed`: until the next attempt. */
  place: 'queue' | 'readers' | 'delayed' | 'running';
  /** Number of the change that the render must have seen; 0: any render will do. */
  minChange: number;
  /** Lowest first; among equals the page with more reads. */
  rank: number;
  reads: number;
  attempts: number;
  /** Earliest start, on the monotonic clock in milliseconds. */
  notBefore: number;
  readers: WaitingReader[];
  watchers: Watcher[];
}

/** A job's place in a queue, as it was taken: the job itself may have moved since. */
export type QueuedJob = Readonly<Pick<RenderJob, 'rank' | 'reads' | 'notBefore'>> & { readonly job: RenderJob };

export const queued = (job: RenderJob): QueuedJob => ({
  job,
  rank: job.rank,
  reads: job.reads,
  notBefore: job.notBefore,
});

/** Rank of renders that can wait for all others: the warm-up, and pages of the build before. */
export const lowestRank = 1e9;

export const createJob = (ref: PageRef, name: string, rank: number, reads: number): RenderJob => ({
  ref,
  name,
  place: 'queue',
  minChange: 0,
  rank,
  reads,
  attempts: 0,
  notBefore: 0,
  readers: [],
  watchers: [],
});
