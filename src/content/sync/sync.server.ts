/** Sync as a whole: back-fill once, then follow WordPress for ever, healing by itself from whatever goes wrong. */

import { tag } from '../../lib/content/tags.ts';
import { backOff } from '../../lib/jobs/retry.ts';
import type { SyncPhase, SyncReport, SyncStatus, TypeProgress } from '../service.ts';
import { pause } from '../wire/client.server.ts';
import { fetchStatus, SyncProblem } from '../wire/fetch.server.ts';
import {
  hasPlainPermalinks,
  plainPermalinks,
  problemOfFailure,
  problemsOfStatus,
  type WordPressProblem,
} from '../wire/problems.ts';
import { createBackfill } from './backfill.server.ts';
import { backfillCursor, documentTypes, isCopied } from './cursors.server.ts';
import { createPoll } from './poll.server.ts';
import { createItems, type Items, type SyncContext } from './refresh.server.ts';

/** Pages of a hundred ids that the slow walk takes between two polls. */
const walkPages = 5;
/**
 * Rest between two laps, so that a small paper's WordPress is not walked over with every poll. Both directions count: a clock
 * that was set back must not keep the walk waiting until it has caught up.
 */
const lapRestMs = 300_000;
const firstWaitMs = 1000;
const longestWaitMs = 60_000;

export interface Sync {
  readonly items: Items;
  start(): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
  syncNow(): Promise<SyncReport>;
  /** Ends the wait for the next poll; while a poll is under way, another follows it. */
  look(): void;
  status(): SyncStatus;
}

export interface SyncOptions extends Omit<SyncContext, 'signal'> {
  readonly pollSeconds: number;
  /** Hosts beside WordPress's own whose pictures and media the site shows. */
  readonly mediaHosts?: readonly string[];
}

/** Makes the sync of one content store. */
export function createSync(options: SyncOptions): Sync {
  const { store, client, applier, log, now } = options;
  const stopping = new AbortController();
  const context: SyncContext = { ...options, signal: stopping.signal };
  const items = createItems(context);
  const poll = createPoll(context, items);
  const backfill = createBackfill(context, items, () => markInStep());
  let phase: SyncPhase = 'starting';
  let problem: string | null = null;
  let credentials: boolean | null = null;
  let problems: readonly WordPressProblem[] = [];
  let lapEnded = 0;
  /** Types that the present lap of the slow walk is through with. */
  const lap = new Set<string>();
  let running: Promise<void> = Promise.resolve();
  /** Rounds never overlap: `syncNow` waits for the background's round and the other way about. */
  let turn: Promise<unknown> = Promise.resolve();

  /** Of the round under way and the wait after it: aborted, the next round comes at once. */
  let rest = new AbortController();

  const markInStep = (): void => store.setMeta('synced-at', new Date(now()).toISOString());

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work, work);
    turn = mine.catch(() => {});
    return mine;
  };

  const greet = async (): Promise<void> => {
    const status = await fetchStatus(client, { tries: 2, signal: stopping.signal });
    note(problemsOfStatus(status, client, options.mediaHosts ?? [], now()));
    const before = credentials;
    credentials = status.credentials;
    const isPublic = String(status.public ?? false);
    if ((store.getMeta('wordpress-public') ?? 'false') !== isPublic) {
      store.setMeta('wordpress-public', isPublic);
      // Links that lead to nothing here depend on it, wherever they stand.
      await applier.write(() => new Set([tag.site]));
    }
    if (credentials !== before && client.signsIn && !credentials) {
      log.error(
        { wordpress: client.url, why: problems.map(({ message }) => message) },
        'content: WordPress does not accept the credentials for restricted bodies; paid articles come cut to their opening',
      );
    }
    if (credentials && before !== true) await completeRestricted();
  };

  /** Keeps the causes that are known by name; each is logged when it appears. */
  const note = (found: readonly WordPressProblem[]): void => {
    const known = new Set(problems.map(({ code }) => code));
    for (const { code, message } of found) if (!known.has(code)) log.warn({ code }, `content: ${message}`);
    problems = found;
  };

  const noteFailure = async (error: unknown): Promise<void> => {
    const failure = error instanceof SyncProblem ? error.failure : null;
    if (!failure || stopping.signal.aborted) return;
    const found = (await hasPlainPermalinks(client, failure))
      ? plainPermalinks
      : problemOfFailure(failure, client.signsIn);
    // What has no name may pass; what had one before may still be the cause.
    if (found) note([found]);
  };

  /** Bodies that came cut while the site had no credentials are fetched again once it has. */
  const completeRestricted = async (): Promise<void> => {
    const rows = store
      .prepare(`SELECT id FROM documents WHERE type = 'articles' AND facts LIKE '%"restricted":true%'`)
      .all();
    if (rows.length > 0)
      await items.several(
        'articles',
        rows.map((row) => Number(row.id)),
      );
  };

  const round = async (whole: boolean): Promise<void> => {
    await greet();
    if (!backfill.complete) {
      phase = 'backfill';
      await backfill.run();
      log.info({ rejected: rejectedCount() }, 'content: back-fill complete');
    }
    if (stopping.signal.aborted) return;
    await poll.run();
    if (whole) {
      const finished = new Set<string>();
      while (!(await poll.walk(walkPages, finished)) && !stopping.signal.aborted);
    } else if (Math.abs(now() - lapEnded) >= lapRestMs && (await poll.walk(walkPages, lap))) {
      lap.clear();
      lapEnded = now();
    }
    if (stopping.signal.aborted) return;
    store.prepare('DELETE FROM deliveries WHERE at < ?').run(now() - 3_600_000);
    markInStep();
    phase = 'following';
    if (problem !== null) log.info({}, 'content: WordPress answers again');
    problem = null;
  };

  const fail = (error: unknown): number | null => {
    const message = error instanceof Error ? error.message : String(error);
    if (stopping.signal.aborted) return null;
    if (message !== problem)
      log.error({ problem: message, ready: isReady() }, 'content: sync cannot go on, it is tried again');
    problem = message;
    phase = 'waiting';
    return error instanceof SyncProblem ? error.retryAfterMs : null;
  };

  const isReady = (): boolean => store.getMeta('ready') === '1';
  const rejectedCount = (): number => Number(store.prepare('SELECT count(*) AS n FROM rejected').get()?.n ?? 0);

  const follow = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      let wait = options.pollSeconds * 1000;
      rest = new AbortController();
      try {
        await inTurn(() => round(false));
        failures = 0;
      } catch (error) {
        const asked = fail(error);
        await noteFailure(error);
        wait = Math.max(asked ?? 0, backOff(++failures, firstWaitMs, longestWaitMs));
      }
      // A WordPress that has trouble is not asked earlier because of that.
      const resting = failures === 0 ? AbortSignal.any([stopping.signal, rest.signal]) : stopping.signal;
      await pause(wait, resting);
    }
  };

  return {
    items,
    start() {
      running = follow();
    },
    async stop() {
      stopping.abort();
      phase = 'stopped';
      await running;
      await turn;
    },
    look: () => rest.abort(),
    syncNow: () =>
      inTurn(async () => {
        const began = now();
        const before = { ...applier.counts };
        let failed: string | null = null;
        try {
          await round(true);
        } catch (error) {
          fail(error);
          await noteFailure(error);
          failed = error instanceof Error ? error.message : String(error);
        }
        const { stored, withdrawn, rejected } = applier.counts;
        return {
          ok: failed === null && !stopping.signal.aborted,
          stored: stored - before.stored,
          withdrawn: withdrawn - before.withdrawn,
          rejected: rejected - before.rejected,
          ms: now() - began,
          problem: failed,
        };
      }),
    status() {
      const progress: Record<string, TypeProgress> = {};
      for (const type of [...documentTypes, 'comments'] as const) {
        const cursor = backfillCursor(store, type);
        progress[type] = {
          done: cursor.done ? cursor.total : Math.min(cursor.offset, cursor.total),
          total: cursor.total,
          complete: cursor.done,
        };
      }
      return {
        ready: isReady(),
        complete: isCopied(store),
        phase,
        progress,
        secondsLeft: phase === 'backfill' ? backfill.secondsLeft() : null,
        syncedAt: store.getMeta('synced-at'),
        problem,
        problems,
        rejected: rejectedCount(),
        credentials,
        bytes: store.size(),
      };
    },
  };
}
