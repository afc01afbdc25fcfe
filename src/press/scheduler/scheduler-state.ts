/** State of the render scheduler, its options, and when the next jobs start. */
import type { Logger } from '../../lib/logging.ts';
import type { CachedPage, HeadersOf } from '../cache/cached-page.ts';
import type { Encode } from '../cache/compressor.server.ts';
import type { PageCache } from '../cache/page-cache.server.ts';
import type { TagChanges } from '../cache/tag-changes.ts';
import type { PressEvent, Stats } from '../stats.ts';
import type { PageRef } from '../store/stored-page.ts';
import type { Queue } from './priority-queue.ts';
import type { Render } from './render.server.ts';
import { type QueuedJob, queued, type RenderJob } from './render-job.ts';

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
  readonly headersOf: HeadersOf;
  readonly encode: Encode;
  readonly build: string;
  readonly log: Logger;
  readonly now: () => number;
  /** Renders for changes at a time, beside those for readers. */
  readonly concurrency: number;
  readonly readerConcurrency: number;
  /** Readers that may wait at a time. */
  readonly mostReaders: number;
  readonly timeoutMs: number;
  readonly retry: RetryWaits;
  readonly priority: (ref: PageRef) => number;
  readonly onDemand: (key: string) => boolean;
  readonly onFresh: (page: FreshPage) => void;
  readonly onMissing: (name: string, page: CachedPage) => void;
  readonly onEvent: (event: PressEvent) => void;
}

/** For whom a job runs; each kind has a bound of its own. */
export type RenderSlot = 'queue' | 'readers';

export interface SchedulerState {
  readonly options: SchedulerOptions;
  /** All jobs, by page name. */
  readonly jobs: Map<string, RenderJob>;
  readonly queue: Queue<QueuedJob>;
  readonly delayed: Queue<QueuedJob>;
  /** Jobs that readers wait for, in the order of their coming. */
  forReaders: RenderJob[];
  readonly running: Record<RenderSlot, number>;
  /** Pages of the queue that are rendered and wait for the compression thread. */
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

/** Pages rendered for changes that may wait for compression, beside those being rendered. */
const mostCompressing = 4;

/** A page that is being compressed leaves the main thread to the next one; how many may wait for that is bounded, too. */
const hasRoom = ({ running, compressing, options }: SchedulerState): boolean =>
  running.queue - compressing < options.concurrency && running.queue < options.concurrency + mostCompressing;

/** Starts all jobs that may start. A job that moved leaves its old place behind; `place` says which one counts. */
export function startJobs(state: SchedulerState): void {
  const { jobs, queue, delayed, running, options } = state;
  if (state.stopped) return;
  const clock = performance.now();
  for (let next = delayed.peek(); next && next.notBefore <= clock; next = delayed.peek()) {
    delayed.pop();
    const { job } = next;
    if (job.place !== 'delayed' || jobs.get(job.name) !== job || job.notBefore > clock) continue;
    job.place = 'queue';
    queue.push(queued(job));
  }
  while (running.readers < options.readerConcurrency) {
    const job = state.forReaders.shift();
    if (!job) break;
    if (job.place === 'readers') start(state, job, 'readers');
  }
  while (hasRoom(state) && queue.size > 0) {
    const job = queue.pop()?.job;
    if (job?.place === 'queue' && jobs.get(job.name) === job) start(state, job, 'queue');
  }
  const next = delayed.peek();
  clearTimeout(state.timer);
  if (next) state.timer = setTimeout(() => startJobs(state), Math.max(1, next.notBefore - clock)).unref();
}

function start(state: SchedulerState, job: RenderJob, slot: RenderSlot): void {
  job.place = 'running';
  state.running[slot]++;
  void state.run(state, job, slot).finally(() => {
    state.running[slot]--;
    startJobs(state);
    if (state.running.queue + state.running.readers === 0) state.onIdle?.();
  });
}
