/**
 * Render scheduler. At most one render per page is in flight; cache misses and invalidations of the same page share it (single
 * flight). If a page is invalidated while it renders, requests that arrived after the invalidation wait for the next render.
 */
import type { CachedPage } from '../cache/cached-page.ts';
import { nameOf, type PageRef } from '../store/stored-page.ts';
import { createQueue } from './priority-queue.ts';
import { runJob } from './run-job.ts';
import {
  createJob,
  lowestRank,
  type QueuedJob,
  queued,
  type SchedulerOptions,
  type SchedulerState,
  startJobs,
  startJobsSoon,
  type Watcher,
} from './scheduler-state.ts';

/** Readers that may wait for missing pages at the same time. */
const mostReaders = 2000;

/** Too many readers are waiting for pages that aren't stored: respond with 503 and Retry-After. */
export class PressBusy extends Error {
  override readonly name = 'PressBusy';
}

export interface RefreshOptions {
  /** Number of the change that the render must have seen; 0, the default: any render will do. */
  readonly minChange?: number;
  readonly reads?: number;
  readonly watcher?: Watcher | undefined;
  /** Renders it after all others. */
  readonly last?: boolean;
  /** Renders it on this node, even if another node of the cluster has the page. */
  readonly unshared?: boolean;
}

export interface Scheduler {
  /** Pages that wait for a render or are being rendered. */
  readonly waiting: number;
  /** Renders a page that isn't stored, for a reader who waits. @throws PressBusy, RenderFailed */
  request(ref: PageRef): Promise<CachedPage>;
  /** Queues a page; within a priority the most read comes first. */
  refresh(ref: PageRef, options?: RefreshOptions): void;
  has(name: string): boolean;
  /** Waits for running renders and starts no more. */
  stop(): Promise<void>;
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  const state: SchedulerState = {
    options,
    jobs: new Map(),
    queue: createQueue<QueuedJob>((a, b) => a.rank < b.rank || (a.rank === b.rank && a.reads > b.reads)),
    delayed: createQueue<QueuedJob>((a, b) => a.notBefore < b.notBefore),
    forReaders: [],
    running: { queue: 0, readers: 0 },
    compressing: 0,
    waitingReaders: 0,
    timer: undefined,
    stopped: false,
    startIsDue: false,
    onIdle: null,
    run: runJob,
  };
  return {
    get waiting() {
      return state.jobs.size;
    },
    has: (name) => state.jobs.has(name),
    request: (ref) => request(state, ref),
    refresh: (ref, how = {}) => refresh(state, ref, how),
    stop: () => stop(state),
  };
}

function request(state: SchedulerState, ref: PageRef): Promise<CachedPage> {
  const { options, jobs } = state;
  if (state.stopped) return Promise.reject(new PressBusy('The press is stopping.'));
  if (state.waitingReaders >= mostReaders) {
    return Promise.reject(new PressBusy('Too many readers wait for pages that are not stored yet.'));
  }
  const name = nameOf(ref.key, ref.variant);
  let job = jobs.get(name);
  if (!job) {
    job = createJob(ref, name, options.priority(ref), 0);
    jobs.set(name, job);
  }
  if (job.place !== 'running' && job.place !== 'readers') {
    job.place = 'readers';
    state.forReaders.push(job);
  }
  state.waitingReaders++;
  const { readers } = job;
  return new Promise((resolve, reject) => {
    readers.push({ changeAtArrival: options.changes.latest, resolve, reject });
    startJobs(state);
  });
}

function refresh(
  state: SchedulerState,
  ref: PageRef,
  { minChange = 0, reads = 0, watcher, last = false, unshared = false }: RefreshOptions,
): void {
  // The page is marked in the store, and rendered after the next start.
  if (state.stopped) {
    watcher?.(ref, 'failed');
    return;
  }
  const { jobs, queue, options } = state;
  const name = nameOf(ref.key, ref.variant);
  let job = jobs.get(name);
  if (!job) {
    job = createJob(ref, name, last ? lowestRank : options.priority(ref), reads);
    jobs.set(name, job);
    queue.push(queued(job));
  } else if (!last && (job.place === 'delayed' || (job.place === 'queue' && job.rank === lowestRank))) {
    // The new change may have fixed the cause of the failure, and the page should no longer wait behind the warm-up.
    if (job.place === 'delayed') job.attempts = 0;
    job.place = 'queue';
    job.rank = options.priority(ref);
    job.reads = reads;
    queue.push(queued(job));
  }
  job.minChange = Math.max(job.minChange, minChange);
  job.unshared ||= unshared;
  if (watcher) job.watchers.push(watcher);
  // All pages of a change get into the queue before the first one is chosen.
  startJobsSoon(state);
}

async function stop(state: SchedulerState): Promise<void> {
  state.stopped = true;
  clearTimeout(state.timer);
  for (const job of [...state.jobs.values()]) {
    if (job.place === 'running') continue;
    state.jobs.delete(job.name);
    state.waitingReaders -= job.readers.length;
    for (const reader of job.readers) reader.reject(new PressBusy('The press is stopping.'));
    for (const watcher of job.watchers) watcher(job.ref, 'failed');
  }
  state.forReaders = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  if (state.running.queue + state.running.readers === 0) resolve();
  else state.onIdle = resolve;
  await promise;
}
