/**
 * The press's background tasks: the warm-up of important pages as soon as there is an edition, the new date in the masthead at
 * midnight in the paper's time zone, and the removal of earlier builds' pages.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { ContentReader } from '../../lib/content/reader.ts';
import { tag } from '../../lib/content/tags.ts';
import { dayInZone } from '../../lib/day-in-zone.ts';
import { backOff, repeat } from '../../lib/jobs/tasks.ts';
import type { Logger } from '../../lib/logging.ts';
import type { Press } from '../../press/press.server.ts';
import type { EarlierAssets } from '../../press/store/earlier-assets.server.ts';
import { articleKeys, frontKeys } from './page-keys.ts';

export interface MaintenanceOptions {
  readonly press: Pick<Press, 'peek' | 'invalidate' | 'warm' | 'pruneReplaced' | 'finishBuild'>;
  /** Publishes a change of tags that this task has noticed; in a cluster to all nodes. */
  readonly publish: (tags: ReadonlySet<string>) => void;
  readonly reader: () => ContentReader;
  readonly editionReady: () => boolean;
  /** Keys of pages that earlier builds have stored, and this one hasn't. */
  readonly earlierKeys: () => readonly string[];
  /** Whether this build has been finished before. */
  readonly isFinished: () => boolean;
  /** Whether the CDN was purged for this build, and no other build has run since. */
  readonly isPurged: () => boolean;
  /** Purges all pages from the CDN, once no process serves an earlier build's pages. */
  readonly purge: () => Promise<void>;
  readonly assets: Pick<EarlierAssets, 'prune'>;
  readonly log: Logger;
  readonly now?: () => number;
  /** Milliseconds between two checks (default 1000). */
  readonly everyMs?: number;
  /** First and longest wait before pages that failed in the warm-up are tried again, milliseconds. */
  readonly retryMs?: readonly [base: number, cap: number];
}

export interface Maintenance {
  /** Resolves when the warm-up is done; never rejects. */
  readonly warmed: Promise<void>;
  /** Stops running tasks. */
  stop(): void;
}

/** Number of articles that the warm-up renders; the rest is rendered on request, or by `npm run press`. */
const newestWarmed = 300;
const pruneEveryMs = 3_600_000;
const retryWaits = [30_000, 3_600_000] as const;

/** Starts; the first check is immediate. */
export function startMaintenance(options: MaintenanceOptions): Maintenance {
  const { press, log, now = Date.now } = options;
  const stopping = new AbortController();
  const warmed = Promise.withResolvers<void>();
  const readyAtStart = options.editionReady();
  let begun = false;
  let lastPrune = performance.now();
  // A front page that was stored yesterday has yesterday's date.
  const stored = press.peek('/', 'public');
  let day = stored ? dayInZone(stored.page.renderedAt) : dayInZone(now());

  /** Renders the pages that this build doesn't have yet. @returns also the number of pages that only an earlier build has */
  async function renderMissing() {
    const { signal } = stopping;
    const first = await press.warm(frontKeys(options.reader()), { signal });
    const newest: string[] = [];
    for (const key of articleKeys(options.reader)) {
      if (newest.push(key) >= newestWarmed) break;
    }
    const rest = await press.warm(newest, { concurrency: 2, signal });
    // An earlier build's pages are rendered again after all others, one at a time; until then they are served as they are.
    const before = await press.warm(options.earlierKeys(), { concurrency: 1, signal });
    return {
      rendered: first.rendered + rest.rendered + before.rendered,
      failed: first.failed + rest.failed + before.failed,
      ms: Math.round(first.ms + rest.ms + before.ms),
      unreplaced: before.failed,
    };
  }

  async function warm(): Promise<void> {
    // A new content store doesn't know which documents were withdrawn before its first sync, so every stored page is rendered again.
    if (!readyAtStart) void press.invalidate([tag.site], { reason: 'the first edition' });
    // After a rollback, the CDN may have pages of the other build, even if this one was finished before.
    const isPurged = options.isPurged();
    const isFinished = isPurged && options.isFinished();
    for (let attempt = 1; ; attempt++) {
      const { unreplaced, ...counts } = await renderMissing();
      if (stopping.signal.aborted) return;
      if (unreplaced === 0) {
        await press.finishBuild();
        // The CDN would keep an earlier build's pages after the files that they name are deleted.
        if (!isFinished) await options.purge();
        log.info(counts, 'The important pages are ready');
        return;
      }
      // All other pages are new, and the files that the CDN's copies name may be deleted before the last page is rendered.
      if (!isPurged && attempt === 1) await options.purge();
      await press
        .pruneReplaced()
        .catch((error: unknown) => log.debug({ err: error }, "Replaced pages of earlier builds couldn't be deleted"));
      const againInMs = backOff(attempt, ...(options.retryMs ?? retryWaits));
      log.warn(
        { ...counts, unreplaced, againInMs },
        "This build couldn't render pages of an earlier one; readers still get the old pages",
      );
      await delay(againInMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }

  function check(): void {
    if (!begun && options.editionReady()) {
      begun = true;
      warm()
        .catch((error: unknown) => log.error({ err: error }, 'The warm-up failed; pages are rendered on demand'))
        .finally(() => warmed.resolve());
    }
    // Compared with the wall clock at every check, so that a changed clock or a sleeping machine causes no delay.
    const today = dayInZone(now());
    if (today !== day) {
      day = today;
      options.publish(new Set([tag.today]));
    }
    if (performance.now() - lastPrune > pruneEveryMs) {
      lastPrune = performance.now();
      options.assets
        .prune()
        .catch((error: unknown) => log.warn({ err: error }, "The files of earlier builds couldn't be deleted"));
    }
  }

  const repeated = repeat(options.everyMs ?? 1000, check, (error) => log.error({ err: error }, 'Maintenance failed'));
  check();
  return {
    warmed: warmed.promise,
    stop() {
      void repeated.stop();
      stopping.abort();
      warmed.resolve();
    },
  };
}
