/** The CDN in front of the site, as the press sees it: tags go in, the CDN forgets the pages that carry them. */

import { createDeliveryQueue, type DeliveryQueue } from '../jobs/delivery.server.ts';
import type { Logger } from '../logging.ts';
import { everything, purgeKeys } from './model.ts';
import { type CloudflareSettings, createCloudflare, createFastly, type FastlySettings } from './vendors.server.ts';

export type CdnSettings = CloudflareSettings | FastlySettings;

export interface CdnStats {
  readonly provider: CdnSettings['provider'] | null;
  /** Keys that the vendor has purged, coarser ones included. */
  readonly purged: number;
  /** Keys given up: refused by the vendor, or not sent before the server stopped. */
  readonly failed: number;
  /** Keys that wait or are under way. */
  readonly pending: number;
  readonly requests: number;
  readonly failedRequests: number;
  /** What stands in the way, in words for the operator; `null` while all is well. */
  readonly problem: string | null;
}

export interface PurgeOptions {
  /** The content may not be seen any more: removed even where purges are soft. */
  readonly withdrawn?: boolean;
}

export interface Cdn {
  /**
   * Has the CDN forget every page that carries one of the tags. Returns at once; equal tags within 250 ms are one.
   *
   * To be called only AFTER the new pages are stored (or the withdrawal is in force): the CDN asks for a page again within
   * milliseconds, and what it gets then it keeps.
   */
  purge(tags: Iterable<string>, options?: PurgeOptions): void;
  /** Resolves when nothing waits; while the vendor is down or refuses us, it does not. */
  idle(): Promise<void>;
  stats(): CdnStats;
  /**
   * Sends what waits, for five seconds at most.
   *
   * @returns keys that could not be sent. They are lost: after a start that follows such a stop, or a crash, the caller
   *   should purge `site`
   */
  close(): Promise<number>;
}

/** Times and sizes, for tests; the defaults are for production. */
export interface CdnTuning {
  /** Milliseconds in which equal tags are one, 250 by default. */
  readonly collectMs?: number;
  /** Milliseconds for one call, 10,000 by default. */
  readonly timeoutMs?: number;
  /** First and longest wait between two tries, 500 and 60,000 by default. */
  readonly backOffMs?: readonly [first: number, longest: number];
  /** Milliseconds between two tries while a setting is wrong, five minutes by default: rights are often granted later. */
  readonly misconfiguredMs?: number;
  /** Most keys that wait, 10,000 by default; beyond it one purge of everything takes their place. */
  readonly limit?: number;
  /** Milliseconds that closing may take, 5,000 by default. */
  readonly closeMs?: number;
}

const off: Cdn = {
  purge: () => {},
  idle: async () => {},
  stats: () => ({
    provider: null,
    purged: 0,
    failed: 0,
    pending: 0,
    requests: 0,
    failedRequests: 0,
    problem: null,
  }),
  close: async () => 0,
};

/**
 * Opens the way to the CDN. Nothing is sent before the first purge.
 *
 * @param settings `null`: there is no CDN to purge
 */
export function openCdn(settings: CdnSettings | null, log: Logger, tuning: CdnTuning = {}): Cdn {
  if (settings === null) return off;
  const timeoutMs = tuning.timeoutMs ?? 10_000;
  const vendor =
    settings.provider === 'cloudflare' ? createCloudflare(settings, timeoutMs) : createFastly(settings, timeoutMs);
  const queue = (soft: boolean): DeliveryQueue =>
    createDeliveryQueue({
      name: soft ? 'Soft CDN purge' : 'CDN purge',
      batchSize: vendor.batchSize,
      collectMs: tuning.collectMs ?? 250,
      limit: tuning.limit ?? 10_000,
      // Every page carries this tag, so nothing that waited is missed.
      overflow: () => [everything],
      // A page that the CDN has not forgotten stays wrong for as long as its lifetime: there is no giving up.
      tries: Number.POSITIVE_INFINITY,
      backOffMs: tuning.backOffMs ?? [500, 60_000],
      misconfiguredMs: tuning.misconfiguredMs ?? 300_000,
      closeMs: tuning.closeMs ?? 5000,
      send: (keys, signal) => vendor.purge(keys, soft, signal),
      log,
    });
  const hard = queue(false);
  const soft = settings.provider === 'fastly' && settings.soft ? queue(true) : null;
  const queues = soft ? [hard, soft] : [hard];

  return {
    purge(tags, { withdrawn = false } = {}) {
      const keys = purgeKeys(tags);
      if (keys.length > 0) (withdrawn ? hard : (soft ?? hard)).add(keys);
    },
    idle: async () => {
      await Promise.all(queues.map((each) => each.idle()));
    },
    stats: () => {
      const all = queues.map((each) => each.stats());
      const sum = (pick: (stats: (typeof all)[number]) => number): number =>
        all.reduce((total, each) => total + pick(each), 0);
      return {
        provider: settings.provider,
        purged: sum((each) => each.accepted),
        failed: sum((each) => each.failed),
        pending: sum((each) => each.pending),
        requests: sum((each) => each.requests),
        failedRequests: sum((each) => each.failedRequests),
        problem: all.find((each) => each.problem !== null)?.problem ?? null,
      };
    },
    close: async () => {
      const unsent = await Promise.all(queues.map((each) => each.close()));
      return unsent.reduce((total, each) => total + each, 0);
    },
  };
}
