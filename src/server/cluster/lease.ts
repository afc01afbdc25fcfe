/**
 * The lease on the content log: the one node that syncs with WordPress. It is a session lock of PostgreSQL, so it is released the moment
 * the holder's connection ends; the epoch in the log rejects a holder that has lost the lease without noticing.
 */
import type { Client } from 'pg';
import type { Logger } from '../../lib/logging.ts';
import { databaseNow } from './channel.ts';

export interface LeaseOptions {
  /** Version of the content log, see `ContentLogOptions`. */
  readonly version: number;
  /** This node. */
  readonly node: string;
  readonly log: Logger;
  /**
   * Milliseconds after which a holder that doesn't renew its lease loses it, for example because its process is stopped
   * (default 10,000).
   */
  readonly staleMs?: number;
}

export interface Lease {
  /** The epoch while this node holds the lease, else `null`. */
  readonly epoch: number | null;
  /**
   * Takes or renews the lease; call it about once a second.
   *
   * @param session a dedicated connection of this node: not from a pool, and not through a pooler that shares sessions
   * @param isFit whether this node can do the holder's work; if not, it leaves the lease to another node
   * @returns the epoch, `null` when another node holds the lease
   */
  hold(session: Pick<Client, 'query'>, isFit: boolean): Promise<number | null>;
  /** Call it when the session has ended, and the lease with it. */
  lost(): void;
}

export function createLease({ version, node, log, staleMs = 10_000 }: LeaseOptions): Lease {
  let epoch: number | null = null;
  // Newspapers that share a database have a schema each.
  const key = `hashtextextended(current_schema() || ' content log ${version}', 0)`;

  async function take(session: Pick<Client, 'query'>): Promise<void> {
    const { rows } = await session.query<{ got: boolean }>(`select pg_try_advisory_lock(${key}) as got`);
    if (!rows[0]?.got) return endStaleHolder(session);
    const taken = await session.query<{ epoch: number | string }>(
      `insert into content_log (version, id, revision, epoch, holder, renewed, pid)
        values ($1, gen_random_uuid()::text, 0, 1, $2, ${databaseNow}, pg_backend_pid())
        on conflict (version) do update set epoch = content_log.epoch + 1, holder = excluded.holder,
        renewed = excluded.renewed, pid = excluded.pid returning epoch`,
      [version, node],
    );
    epoch = Number(taken.rows[0]?.epoch);
    log.info({ epoch }, 'This node syncs with WordPress for the cluster');
  }

  /**
   * A stopped process keeps its connection, and with it the lock. The connection of the lock's owner is ended, not that of the last holder:
   * a node may have stopped after it got the lock and before it became the holder.
   */
  async function endStaleHolder(session: Pick<Client, 'query'>): Promise<void> {
    // In two steps: PostgreSQL may evaluate the conditions of one in any order.
    const { rows } = await session.query<{ holder: string | null }>(
      `with stale as materialized (
        update content_log set renewed = ${databaseNow}
        where version = $1 and renewed < ${databaseNow} - $2::bigint returning holder, ${key} as key
      )
      select stale.holder, pg_terminate_backend(pid) from stale, pg_locks
      where locktype = 'advisory' and granted and objsubid = 1 and classid = ((key >> 32) & 4294967295)::oid
        and objid = (key & 4294967295)::oid and database = (select oid from pg_database where datname = current_database())`,
      [version, staleMs],
    );
    if (rows[0])
      log.warn({ holder: rows[0].holder }, 'The node that syncs with WordPress is not responding; another takes over');
  }

  return {
    get epoch() {
      return epoch;
    },
    async hold(session, isFit) {
      if (!isFit) {
        if (epoch !== null) await session.query(`select pg_advisory_unlock(${key})`);
        epoch = null;
        return epoch;
      }
      if (epoch === null) {
        await take(session);
        return epoch;
      }
      const { rowCount } = await session.query(
        `update content_log set renewed = ${databaseNow} where version = $1 and epoch = $2`,
        [version, epoch],
      );
      if (rowCount === 0) epoch = null;
      return epoch;
    },
    lost() {
      epoch = null;
    },
  };
}
