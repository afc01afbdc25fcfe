/** A change of the content that has reached this node: when the other nodes show it, and which of them notify the CDN. */
import type { Conditions } from '../../lib/jobs/conditions.ts';
import type { ClusterNode } from './node.ts';

export interface ArrivedChange {
  /** Resolves when all nodes show it, to whether this node notifies the CDN and the search engines. Call it when this node shows it. */
  freshEverywhere(): Promise<boolean>;
  /** Resolves when no node serves what it withdrew, to whether this node notifies the CDN. */
  goneEverywhere(): Promise<boolean>;
}

/** Milliseconds in which all nodes show a change; a purge waits no longer. */
const freshMs = 10_000;
/** Milliseconds in which withdrawn content is gone on all nodes that respond. */
export const withdrawMs = 6000;
/** Milliseconds after which a node's new pages may be too late for the holder's purge: a change reaches connected nodes in as long. */
const lateMs = freshMs / 2;
/** Milliseconds in which the holder has notified the CDN of a change, or another node has its lease. */
const notifiedMs = 60_000;

/**
 * The node that has the lease notifies the CDN, also if it loses the lease meanwhile. Since it may have stopped before that, a node that
 * gets the lease soon afterward does so as well: notifying twice is harmless. So does a node that the holder may not have waited for: the
 * CDN may have fetched its old pages after the holder's purge.
 *
 * @param revision the change's, in the content log
 * @param leases checked when this node gets the lease
 */
export function arrivedChange(
  node: Pick<ClusterNode, 'epoch' | 'isConnected' | 'waitForAllNodes'>,
  revision: number,
  leases: Conditions,
): ArrivedChange {
  const isHolder = node.epoch !== null;
  const wasConnected = node.isConnected;
  const began = performance.now();
  const isLate = (): boolean => !wasConnected || !node.isConnected || performance.now() - began > lateMs;
  async function everywhere(what: 'applied' | 'fresh', ms: number): Promise<boolean> {
    const notifies = isHolder || isLate() || (await leases.until(() => node.epoch !== null, notifiedMs));
    if (notifies) await node.waitForAllNodes(what, revision, ms).catch(() => false);
    return notifies;
  }
  return {
    freshEverywhere: () => everywhere('fresh', freshMs),
    goneEverywhere: () => everywhere('applied', withdrawMs),
  };
}
