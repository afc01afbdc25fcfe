/** State of the render scheduler, its options, and when the next jobs start. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../../lib/logging.ts';
import type { TagChanges } from '../cache/cache-state.ts';
import type { CachedPage, HeadersOf } from '../cache/cached-page.ts';
import type { Encode } from '../cache/compressor.server.ts';
import type { PageCache } from '../cache/page-cache.server.ts';
import type { Stats } from '../stats.ts';
import type { PageRef } from '../store/stored-page.ts';
import type { PageShare } from './page-share.ts';
import type { Queue } from './priority-queue.ts';
import type { Render } from './render.server.ts';
import type { WriteBatch } from './write-batch.ts';

/** Waits between attempts, milliseconds. */
export interface RetryWaits {
  readonly baseMs: number;
  readonly capMs: number;
}

/** A page that has just been stored, or removed. */
export interface FreshPage extends PageRef {
  readonly status: number;
  readonly tags: readonly string[];
}

export interface SchedulerOptions {
  readonly cache: PageCache;
  readonly changes: TagChanges;
  readonly stats: Stats;
  readonly render: Render;
  /** Pages of other nodes of a cluster. */
  readonly share?: PageShare | undefined;
  readonly headersOf: HeadersOf;
  readonly encode: Encode;
  /** Stores pages that no reader waits for together (default: each at once). */
  readonly batch?: WriteBatch | undefined;
  readonly build: string;
  readonly log: Logger;
  readonly now: () => number;
  /** Concurrent renders for changes, in addition to those for readers. */
  readonly concurrency: number;
  readonly retry: RetryWaits;
  readonly priority: (ref: PageRef) => number;
  readonly onDemand: (key: string) => boolean;
  readonly onFresh: (page: FreshPage) => void;
  readonly onMissing: (name: string, page: CachedPage) => void;
  readonly onRender: (ms: number) => void;
}

/** Concurrent renders for readers of missing pages. */
const readerConcurrency = 8;

/** Whom a job runs for; each kind has its own limit. */
export type RenderSlot = 'queue' | 'readers';

export interface SchedulerState {
  readonly options: SchedulerOptions;
  /** All jobs, by page name. */
  readonly jobs: Map<string, RenderJob>;
  readonly queue: Queue<QueuedJob>;
  readonly delayed: Queue<QueuedJob>;
  /** Jobs that readers wait for, in the order of arrival. */
  forReaders: RenderJob[];
  readonly running: Record<RenderSlot, number>;
  /** Rendered pages of the queue that wait for the compression thread. */
  compressing: number;
  waitingReaders: number;
  timer: NodeJS.Timeout | undefined;
  stopped: boolean;
  /** Whether `startJobs` is called in the next turn of the event loop. */
  startIsDue: boolean;
  /** Called when the last running render has ended. */
  onIdle: (() => void) | null;
  /** Runs a job; see run-job.ts. */
  readonly run: (state: SchedulerState, job: RenderJob, slot: RenderSlot) => Promise<void>;
}

/** Most pages rendered for changes that may wait for compression, in addition to those being rendered. */
const mostCompressing = 4;

/** While a page is being compressed, the main thread renders the next one; this also limits how many rendered pages wait. */
const hasRoom = ({ running, compressing, options }: SchedulerState): boolean =>
  running.queue - compressing < options.concurrency && running.queue < options.concurrency + mostCompressing;

/** Calls {@link startJobs} in the next turn of the event loop. */
export function startJobsSoon(state: SchedulerState): void {
  if (state.stopped || state.startIsDue) return;
  state.startIsDue = true;
  setImmediate(() => {
    state.startIsDue = false;
    startJobs(state);
  });
}

/**
 * Starts jobs: all that readers wait for, and one for a change. Most of a render is a single task of the main thread, so each further one
 * starts in a new turn of the event loop, between which readers are answered. A job that moved leaves its old place behind; `place` says
 * which one counts.
 */
export function startJobs(state: SchedulerState): void {
  const { jobs, queue, delayed, running } = state;
  if (state.stopped) return;
  const clock = performance.now();
  for (let next = delayed.peek(); next && next.notBefore <= clock; next = delayed.peek()) {
    delayed.pop();
    const { job } = next;
    if (job.place !== 'delayed' || jobs.get(job.name) !== job || job.notBefore > clock) continue;
    job.place = 'queue';
    queue.push(queued(job));
  }
  while (running.readers < readerConcurrency) {
    const job = state.forReaders.shift();
    if (!job) break;
    if (job.place === 'readers') start(state, job, 'readers');
  }
  while (hasRoom(state) && queue.size > 0) {
    const job = queue.pop()?.job;
    if (job?.place !== 'queue' || jobs.get(job.name) !== job) continue;
    start(state, job, 'queue');
    if (queue.size > 0) startJobsSoon(state);
    break;
  }
  const next = delayed.peek();
  clearTimeout(state.timer);
  if (next) state.timer = setTimeout(() => startJobs(state), Math.max(1, next.notBefore - clock)).unref();
}

function start(state: SchedulerState, job: RenderJob, slot: RenderSlot): void {
  job.place = 'running';
  state.running[slot]++;
  void job.inContext(state.run, state, job, slot).finally(() => {
    state.running[slot]--;
    startJobsSoon(state);
    if (state.running.queue + state.running.readers === 0) state.onIdle?.();
  });
}

export type RenderOutcome = 'refreshed' | 'unchanged' | 'failed';

/** Takes the result of a page's render. */
export type Watcher = (ref: PageRef, outcome: RenderOutcome) => void;

/** A reader of a page that isn't stored. */
export interface WaitingReader {
  /** Number of the latest change when the reader came. */
  readonly changeAtArrival: number;
  resolve(page: CachedPage): void;
  reject(error: unknown): void;
}

/** One per page and variant. */
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
  /** Whether this node must render it itself, because only this node knows about the change. */
  unshared: boolean;
  attempts: number;
  /** Earliest start, on the monotonic clock in milliseconds. */
  notBefore: number;
  readers: WaitingReader[];
  watchers: Watcher[];
  /**
   * Runs a function with the request id of the job's first request; otherwise it would have the id of the request whose end
   * started the job.
   */
  readonly inContext: ReturnType<typeof AsyncLocalStorage.snapshot>;
}

/** A job's place in a queue at the time of queueing: the job may have moved since. */
export type QueuedJob = Readonly<Pick<RenderJob, 'rank' | 'reads' | 'notBefore'>> & { readonly job: RenderJob };

export const queued = (job: RenderJob): QueuedJob => ({
  job,
  rank: job.rank,
  reads: job.reads,
  notBefore: job.notBefore,
});

/** Rank of renders that are less urgent than all others: the warm-up, and pages of the previous build. */
export const lowestRank = 1e9;

export const createJob = (ref: PageRef, name: string, rank: number, reads: number): RenderJob => ({
  ref,
  name,
  place: 'queue',
  minChange: 0,
  rank,
  reads,
  unshared: false,
  attempts: 0,
  notBefore: 0,
  readers: [],
  watchers: [],
  inContext: AsyncLocalStorage.snapshot(),
});
