/**
 * Which node purges the CDN of a change, and when. The lease's holder does, also if it loses the lease meanwhile, and so does a node that
 * the holder may not have waited for, because the CDN may have fetched its old pages after the holder's purge. The content log records the
 * revision up to which the CDN has confirmed the holder's purges; the next holder repeats the later ones.
 */
import type { ContentLog, Unpurged } from './content-log.ts';
import type { ClusterNode } from './node.ts';

/** A change of the content that has reached this node. */
export interface ArrivedChange {
  /** Whether this node had the lease: then it also notifies the search engines. */
  readonly isHolder: boolean;
  /** Resolves when all nodes show it, to whether this node purges the CDN. Call it when this node shows it. */
  freshEverywhere(): Promise<boolean>;
  /** Resolves when no node serves what it withdrew, to whether this node purges the CDN. */
  goneEverywhere(): Promise<boolean>;
  /** Call it when the CDN has confirmed the purge that follows `freshEverywhere`. */
  purged(): void;
}

export interface Purges {
  /** A change has reached this node. @param revision the change's, in the content log */
  arrived(revision: number): ArrivedChange;
  /** This node has got the lease: it purges every change that arrives from now on. */
  begin(epoch: number): void;
  /** Purges what the previous holders may not have purged. @param unpurged read from the log after `begin` */
  repeat(unpurged: Unpurged): Promise<void>;
  /** Sets how `repeat` purges the CDN of all pages with some tags. @param purge resolves when the CDN has confirmed it */
  repeatWith(purge: (tags: readonly string[]) => Promise<void>): void;
}

/** The time during which this node holds the lease. */
interface Tenure {
  readonly epoch: number;
  /** Call it when the purges of the previous holders are repeated. @param revision up to which */
  readonly repeated: (revision: number) => void;
  /** Resolves when the CDN has confirmed those and all purges of this tenure so far. */
  confirmed: Promise<unknown>;
}

/** Milliseconds in which all nodes show a change; a purge waits no longer. */
const freshMs = 10_000;
/** Milliseconds in which withdrawn content is gone on all nodes that respond. */
export const withdrawMs = 6000;
/** Milliseconds after which a node's new pages may be too late for the holder's purge: a change reaches connected nodes in as long. */
const lateMs = freshMs / 2;

export function createPurges(
  node: Pick<ClusterNode, 'epoch' | 'isConnected' | 'waitForAllNodes'>,
  contentLog: Pick<ContentLog, 'confirmPurges'>,
): Purges {
  let tenure: Tenure | null = null;
  let purge: (tags: readonly string[]) => Promise<void> = async () => {};

  /** A failure loses nothing: a later record includes this one, and without one the next holder repeats the purge. */
  const record = (revision: number, epoch: number): Promise<void> =>
    contentLog.confirmPurges(revision, epoch).catch(() => {});

  return {
    arrived(revision) {
      const isHolder = tenure !== null && tenure.epoch === node.epoch;
      const wasConnected = node.isConnected;
      const began = performance.now();
      const confirmation = Promise.withResolvers<void>();
      if (tenure && isHolder) {
        const { epoch, confirmed } = tenure;
        // In the order of the log: a revision counts as purged when all earlier ones are.
        tenure.confirmed = Promise.all([confirmed, confirmation.promise]).then(() => record(revision, epoch));
      }
      const isLate = (): boolean => !wasConnected || !node.isConnected || performance.now() - began > lateMs;
      async function everywhere(what: 'applied' | 'fresh', ms: number): Promise<boolean> {
        const purges = isHolder || isLate();
        if (purges) await node.waitForAllNodes(what, revision, ms);
        return purges;
      }
      return {
        isHolder,
        freshEverywhere: () => everywhere('fresh', freshMs),
        goneEverywhere: () => everywhere('applied', withdrawMs),
        purged: confirmation.resolve,
      };
    },
    begin(epoch) {
      const { promise, resolve } = Promise.withResolvers<number>();
      tenure = { epoch, repeated: resolve, confirmed: promise.then((revision) => record(revision, epoch)) };
    },
    async repeat({ revision, tags }) {
      const holding = tenure;
      if (!holding) return;
      // Withdrawn pages may be among them, so the CDN is purged also before the new pages are there.
      for (const [what, ms] of [
        ['applied', withdrawMs],
        ['fresh', freshMs],
      ] as const) {
        if (tags.length === 0) break;
        await node.waitForAllNodes(what, revision, ms);
        if (node.epoch !== holding.epoch) return;
        await purge(tags);
      }
      holding.repeated(revision);
    },
    repeatWith(given) {
      purge = given;
    },
  };
}
