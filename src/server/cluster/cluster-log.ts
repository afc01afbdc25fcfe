/** A node's side of the content log: it appends what sync writes, and waits until the node has applied it. */
import { randomUUID } from 'node:crypto';
import type { ContentLogAppender } from '../../content/service.ts';
import type { EntryAhead } from '../../content/store/ahead-of-log.server.ts';
import { entryName } from '../../content/store/entries.server.ts';
import type { Queries } from '../../lib/database.ts';
import { createConditions } from '../../lib/jobs/conditions.ts';
import type { Logger } from '../../lib/logging.ts';
import { inSpan } from '../../lib/tracing.ts';
import { type ContentLog, openContentLog, tagKind } from './content-log.ts';
import { createLease, type Lease } from './lease.ts';

/** What the content needs of the cluster; created before it. */
export interface ClusterLog {
  /** This node. */
  readonly id: string;
  readonly version: number;
  readonly db: Queries;
  readonly contentLog: ContentLog;
  readonly lease: Lease;
  /** Milliseconds after which a silent node counts as gone, and knows it of itself. */
  readonly goneMs: number;
  readonly appender: ContentLogAppender;
  /** Whether this node may sync: it has the lease, and has read the log to its end since it got the lease. */
  readonly leads: () => boolean;
  /**
   * Allows this node to sync as the lease's holder.
   *
   * @param since see `FollowedStore.fetchTime`; what was fetched before this time may be older than entries of the previous
   *   holder
   */
  lead(epoch: number, since: number): void;
  /** Tells `appender` that this node has applied the log up to a revision. */
  applied(revision: number, refreshed: Promise<readonly string[]>): void;
  /** Rejects all waiting appends; appended entries are applied at the next start. */
  close(): void;
}

export interface ClusterLogOptions {
  /** PostgreSQL. */
  readonly db: Queries;
  /** Version of the content store's format: builds with another version have a separate log. */
  readonly version: number;
  readonly log: Logger;
  /** See `ClusterLog.goneMs` (default 5000). */
  readonly goneMs?: number;
}

/** Milliseconds in which an entry comes back to the node that appended it. */
export const applyMs = 15_000;

/** Opens this node's side of the content log. */
export function openClusterLog({ db, version, log, goneMs = 5000 }: ClusterLogOptions): ClusterLog {
  const id = randomUUID();
  const contentLog = openContentLog({ db, version });
  const lease = createLease({ version, node: id, log, staleMs: 2 * goneMs });
  let last: { revision: number; refreshed: Promise<readonly string[]> } = {
    revision: 0,
    refreshed: Promise.resolve([]),
  };
  const progress = createConditions();
  let isClosed = false;
  let lead: { readonly epoch: number; readonly since: number } | null = null;

  async function waitUntilApplied(revision: number): Promise<{ refreshed: Promise<readonly string[]> }> {
    const inTime = await progress.until(() => isClosed || last.revision >= revision, applyMs);
    if (last.revision >= revision) return { refreshed: last.refreshed };
    throw new Error(inTime ? 'The site is stopping' : "The content log can't be read");
  }

  return {
    id,
    version,
    db,
    contentLog,
    lease,
    goneMs,
    appender: {
      async append(entries, tags, ahead = []) {
        const holding = lead;
        if (holding === null || holding.epoch !== lease.epoch || isClosed)
          throw new Error('Another node syncs with WordPress');
        if (entries.some((entry) => 'fetched' in entry && entry.fetched && entry.fetched.at < holding.since))
          throw new Error('It was fetched before this node began to sync for the cluster');
        const written = [...datedFrom(holding.since, ahead), ...entries].map((entry) => {
          return { ...entryName(entry), payload: JSON.stringify(entry) };
        });
        try {
          return await inSpan('content log append', { 'broadsheet.entries': written.length }, async (span) => {
            const revision = await contentLog.append([...written, ...[...tags].map(tagEntry)], holding.epoch);
            span.set({ 'broadsheet.revision': revision });
            return waitUntilApplied(revision);
          });
        } catch (error) {
          // The entries may have been appended anyway; the next preview must not start before they are applied.
          if (lead === holding) lead = null;
          throw error;
        }
      },
    },
    leads: () => lead !== null && lead.epoch === lease.epoch,
    lead(epoch, since) {
      lead = { epoch, since };
    },
    applied(revision, refreshed) {
      last = { revision, refreshed };
      progress.check();
    },
    close() {
      isClosed = true;
      progress.check();
    },
  };
}

/** Dates entries so that they count as fetched while this node syncs: later than everything that the log has of them. */
const datedFrom = (since: number, ahead: readonly EntryAhead[]): EntryAhead[] =>
  ahead.map((entry) => ({ ...entry, fetched: { at: Math.max(since, entry.fetched.at), clock: entry.fetched.clock } }));

/** The entry of a changed tag. */
export const tagEntry = (tag: string) => ({ kind: tagKind, id: tag, payload: null });
