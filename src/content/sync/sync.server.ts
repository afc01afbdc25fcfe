/** The whole sync: one back-fill, then polls and walks for as long as the process runs; it recovers from any failure. */
import { tag } from '../../lib/content/tags.ts';
import { backOff, createKeyedMutex, type WithLock } from '../../lib/jobs/tasks.ts';
import { diskProblem } from '../../lib/sqlite-files.server.ts';
import type { Content, SyncPhase, SyncReport, SyncStatus, TypeProgress } from '../service.ts';
import { backfillCursor, copiedTypes, isCopied } from '../store/content-store.server.ts';
import { waitFor } from '../wire/client.server.ts';
import {
  fetchStatus,
  hasPlainPermalinks,
  plainPermalinks,
  problemOfFailure,
  problemsOfStatus,
  SyncProblem,
  type WordPressProblem,
} from '../wire/fetch.server.ts';
import { type Backfill, createBackfill } from './backfill.server.ts';
import { createPoll, type Poll } from './poll.server.ts';
import { createRefetch, type IngestSettings, type Refetch } from './refetch.server.ts';
import { createRefresh, type Refresh, type SyncContext } from './refresh.server.ts';

/** Pages of a hundred ids that the slow walk reads between two polls. */
const walkPages = 5;
/**
 * Pause between two full comparisons, compared as an absolute difference: a clock that was set back must not delay the next one.
 */
const comparisonPauseMs = 300_000;
const firstWaitMs = 1000;
const longestWaitMs = 60_000;

export interface Sync extends Pick<Content, 'start' | 'stop' | 'syncNow' | 'pollNow' | 'status'> {
  readonly refresh: Refresh;
}

export interface SyncOptions extends Omit<SyncContext, 'signal'>, IngestSettings {
  readonly pollSeconds: number;
  /** See `ContentOptions.leads`. */
  readonly leads?: (() => boolean) | undefined;
}

interface SyncState extends SyncOptions {
  readonly stopping: AbortController;
  readonly refresh: Refresh;
  readonly poll: Poll;
  readonly backfill: Backfill;
  readonly refetch: Refetch;
  phase: SyncPhase;
  problem: string | null;
  credentials: boolean | null;
  /** Whether the bodies that WordPress cut have been fetched again with the present credentials. */
  restrictedComplete: boolean;
  problems: readonly WordPressProblem[];
  /** When the last full comparison ended. */
  comparedAt: number;
  /** Types that the full comparison in progress has completed. */
  readonly compared: Set<string>;
  running: Promise<void>;
  /** Rounds never overlap: `syncNow` waits for the background's round, and the background for `syncNow`. */
  readonly withLock: WithLock;
  /** Aborts the wait after the current round; aborting it starts the next round at once. */
  pause: AbortController;
}

/** Creates the sync of a content store. */
export function createSync(options: SyncOptions): Sync {
  const stopping = new AbortController();
  const context: SyncContext = { ...options, signal: stopping.signal };
  const refresh = createRefresh(context);
  const sync: SyncState = {
    ...options,
    stopping,
    refresh,
    poll: createPoll(context, refresh),
    backfill: createBackfill(context, refresh, () => markSynced(sync)),
    refetch: createRefetch(context, refresh, options),
    phase: 'starting',
    problem: null,
    credentials: null,
    restrictedComplete: false,
    problems: [],
    comparedAt: 0,
    compared: new Set(),
    running: Promise.resolve(),
    withLock: createKeyedMutex(),
    pause: new AbortController(),
  };
  return {
    refresh,
    start() {
      sync.running = runRounds(sync);
    },
    stop: () => stop(sync),
    pollNow: () => sync.pause.abort(),
    syncNow: () => syncNow(sync),
    status: () => status(sync),
  };
}

const markSynced = (sync: SyncState): Promise<unknown> =>
  sync.applier.write([{ kind: 'meta', key: 'synced-at', value: new Date(sync.now()).toISOString(), tags: [] }]);

const inRound = <T>(sync: SyncState, work: () => Promise<T>): Promise<T> => sync.withLock('round', work);

async function checkStatus(sync: SyncState): Promise<void> {
  const status = await fetchStatus(sync.client, { tries: 2, signal: sync.stopping.signal });
  recordProblems(sync, problemsOfStatus(status, sync.client, sync.mediaHosts ?? [], sync.now()));
  const before = sync.credentials;
  sync.credentials = status.credentials;
  const isPublic = String(status.public ?? false);
  if ((sync.store.getMeta('wordpress-public') ?? 'false') !== isPublic) {
    // Every document may have links to WordPress pages that the site lacks; they stay links only while WordPress is public.
    await sync.applier.write([{ kind: 'meta', key: 'wordpress-public', value: isPublic, tags: [tag.site] }]);
  }
  if (sync.credentials !== before && sync.client.signsIn && !sync.credentials) {
    sync.log.error(
      { wordpress: sync.client.url, why: sync.problems.map(({ message }) => message) },
      'content: WordPress does not accept the credentials for restricted bodies; only the openings of paid articles arrive',
    );
  }
  if (!sync.credentials) sync.restrictedComplete = false;
  else if (!sync.restrictedComplete) {
    await completeRestricted(sync);
    sync.restrictedComplete = true;
  }
}

/** Records the known causes of trouble; each is logged when it appears. */
function recordProblems(sync: SyncState, found: readonly WordPressProblem[]): void {
  const known = new Set(sync.problems.map(({ code }) => code));
  for (const { code, message } of found) if (!known.has(code)) sync.log.warn({ code }, `content: ${message}`);
  sync.problems = found;
}

/** Records why a round failed, if the cause is known. */
async function recordCause(sync: SyncState, error: unknown): Promise<void> {
  const failure = error instanceof SyncProblem ? error.failure : null;
  if (!failure || sync.stopping.signal.aborted) return;
  const found = (await hasPlainPermalinks(sync.client, failure))
    ? plainPermalinks
    : problemOfFailure(failure, sync.client.signsIn);
  // An unknown failure may be temporary; the last known cause may still apply.
  if (found) recordProblems(sync, [found]);
}

/** Fetches again the bodies that WordPress cut, once the site has credentials. */
async function completeRestricted(sync: SyncState): Promise<void> {
  const rows = sync.store
    .prepare(`SELECT id FROM documents WHERE type = 'articles' AND facts LIKE '%"restricted":true%'`)
    .all();
  if (rows.length > 0)
    await sync.refresh.documents(
      'articles',
      rows.map((row) => Number(row.id)),
    );
}

/** While WordPress refuses the credentials, whole bodies would be replaced by their openings. */
const mustRefetch = ({ refetch, credentials, client }: SyncState): boolean =>
  !refetch.complete && (credentials === true || !client.signsIn);

async function round(sync: SyncState, comparesAll: boolean): Promise<void> {
  await checkStatus(sync);
  await sync.refetch.begin();
  if (!sync.backfill.complete) {
    sync.phase = 'backfill';
    await sync.backfill.run();
    if (sync.stopping.signal.aborted) return;
    sync.log.info({ rejected: rejectedCount(sync) }, 'content: back-fill complete');
  }
  if (sync.stopping.signal.aborted) return;
  await sync.poll.run();
  if (mustRefetch(sync)) await sync.refetch.run();
  if (comparesAll) {
    while (mustRefetch(sync) && !sync.stopping.signal.aborted) await sync.refetch.run();
    const finished = new Set<string>();
    while (!(await sync.poll.walk(walkPages, finished)) && !sync.stopping.signal.aborted);
  } else if (
    Math.abs(sync.now() - sync.comparedAt) >= comparisonPauseMs &&
    (await sync.poll.walk(walkPages, sync.compared))
  ) {
    sync.compared.clear();
    sync.comparedAt = sync.now();
  }
  if (sync.stopping.signal.aborted) return;
  sync.store.prepare('DELETE FROM deliveries WHERE at < ?').run(sync.now() - 3_600_000);
  await markSynced(sync);
  sync.phase = 'following';
  if (sync.problem !== null) sync.log.info({}, 'content: WordPress responds again');
  sync.problem = null;
}

/** @returns WordPress's `Retry-After` in milliseconds */
function noteFailure(sync: SyncState, error: unknown): number | null {
  const message = diskProblem(error) ?? (error instanceof Error ? error.message : String(error));
  if (sync.stopping.signal.aborted) return null;
  if (message !== sync.problem)
    sync.log.error({ problem: message, ready: isReady(sync) }, 'content: sync failed and will retry');
  sync.problem = message;
  sync.phase = 'waiting';
  return error instanceof SyncProblem ? error.retryAfterMs : null;
}

const isReady = (sync: SyncState): boolean => sync.store.getMeta('ready') === '1';

const rejectedCount = (sync: SyncState): number =>
  Number(sync.store.prepare('SELECT count(*) AS n FROM rejected').get()?.n ?? 0);

/** Another process syncs, so this one no longer knows whether WordPress has problems. */
function followAnother(sync: SyncState): void {
  sync.phase = 'following';
  sync.problem = null;
  sync.problems = [];
}

async function runRounds(sync: SyncState): Promise<void> {
  let failures = 0;
  while (!sync.stopping.signal.aborted) {
    let wait = sync.pollSeconds * 1000;
    sync.pause = new AbortController();
    try {
      if (sync.leads?.() ?? true) {
        await inRound(sync, () => round(sync, false));
        if (mustRefetch(sync)) wait = Math.min(wait, firstWaitMs);
      } else followAnother(sync);
      failures = 0;
    } catch (error) {
      const retryAfterMs = noteFailure(sync, error);
      await recordCause(sync, error);
      wait = Math.max(retryAfterMs ?? 0, backOff(++failures, firstWaitMs, longestWaitMs));
    }
    // While WordPress has trouble, a requested poll doesn't come earlier.
    const resting = failures === 0 ? AbortSignal.any([sync.stopping.signal, sync.pause.signal]) : sync.stopping.signal;
    await waitFor(wait, resting);
  }
}

async function stop(sync: SyncState): Promise<void> {
  sync.stopping.abort();
  sync.phase = 'stopped';
  await sync.running;
  await inRound(sync, async () => {});
}

const syncNow = (sync: SyncState): Promise<SyncReport> =>
  inRound(sync, async () => {
    const began = sync.now();
    const before = { ...sync.applier.counts };
    let failed: string | null = null;
    try {
      await round(sync, true);
    } catch (error) {
      noteFailure(sync, error);
      await recordCause(sync, error);
      failed = error instanceof Error ? error.message : String(error);
    }
    const { stored, withdrawn, rejected } = sync.applier.counts;
    return {
      ok: failed === null && !sync.stopping.signal.aborted,
      stored: stored - before.stored,
      withdrawn: withdrawn - before.withdrawn,
      rejected: rejected - before.rejected,
      ms: sync.now() - began,
      problem: failed,
    };
  });

function status(sync: SyncState): SyncStatus {
  const progress: Record<string, TypeProgress> = {};
  for (const type of copiedTypes) {
    const cursor = backfillCursor(sync.store, type);
    progress[type] = {
      done: cursor.done ? cursor.total : Math.min(cursor.offset, cursor.total),
      total: cursor.total,
      complete: cursor.done,
    };
  }
  return {
    ready: isReady(sync),
    complete: isCopied(sync.store),
    phase: sync.phase,
    progress,
    secondsLeft: sync.phase === 'backfill' ? sync.backfill.secondsLeft() : null,
    syncedAt: sync.store.getMeta('synced-at'),
    problem: sync.problem,
    problems: sync.problems,
    rejected: rejectedCount(sync),
    credentials: sync.credentials,
    bytes: sync.store.size(),
  };
}
