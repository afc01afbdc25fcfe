/**
 * The content log: every published document as the latest entry of its kind and id, numbered by revision, in PostgreSQL. One node
 * writes it, and every node applies it to its local content store. Since an entry replaces the previous one of the same name, the log
 * is both the archive and the list of changes: a node reads the entries that are newer than its own revision, however long it was away.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Queries } from '../../lib/database.ts';
import { channel, databaseNow } from './channel.ts';

/** One entry; `payload` is JSON. */
export interface LogEntry {
  readonly kind: string;
  readonly id: string;
  readonly payload: string | null;
}

/** The entries of one or more appends, complete up to `revision`. */
export interface LogBatch {
  readonly revision: number;
  readonly entries: readonly (LogEntry & { readonly revision: number })[];
}

export interface LogHead {
  readonly id: string;
  readonly revision: number;
}

/** Changes of which the CDN may still have old pages. */
export interface Unpurged {
  /** The latest one. */
  readonly revision: number;
  /** Everything that changed. */
  readonly tags: readonly string[];
}

/** Another node has become the writer. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export interface ContentLogOptions {
  /** PostgreSQL. */
  readonly db: Queries;
  /** Version of the entries' format: builds with another version have a separate log. */
  readonly version: number;
}

export interface ContentLog {
  /** Its id and the number of the latest append. A node whose content store follows a log with another id starts from nothing. */
  head(): Promise<LogHead>;
  /**
   * Gives the log a new id, unless another node has done so. Needed if the log ends before a revision that a node has already read:
   * PostgreSQL was restored from a backup, and the log would assign those revisions a second time.
   *
   * @param id the one that the log has had
   * @returns the new one
   */
  beginAnew(id: string): Promise<string>;
  /**
   * Appends entries in one transaction, and notifies the other nodes.
   *
   * @param epoch the writer's, from its lease; `null`: entries that every node may append, such as changed tags
   * @returns the revision of these entries
   * @throws LeaseLost when another node has the lease
   */
  append(entries: readonly LogEntry[], epoch: number | null): Promise<number>;
  /** The next entries after a revision, in order; complete appends, about `most` entries. */
  read(after: number, most?: number): Promise<LogBatch>;
  /** The changes after the last one for which `confirmPurges` was called. */
  unpurged(): Promise<Unpurged>;
  /** Records that the CDN is purged of all changes up to a revision; without effect if another node has the lease. */
  confirmPurges(revision: number, epoch: number): Promise<void>;
  /**
   * Deletes the entries of versions that no node has run for three days, and the reports of nodes that have been gone for as long.
   */
  prune(): Promise<void>;
}

/** Kind of the entries that say at which revision a tag last changed. */
export const tagKind = 'tag';

const batchSize = 500;
const keptMs = 3 * 24 * 60 * 60 * 1000;

export function openContentLog({ db, version }: ContentLogOptions): ContentLog {
  const created = sql`insert into content_log (version, id, revision, epoch, renewed)
    values (${version}, ${randomUUID()}, 0, 0, ${sql.raw(databaseNow)}) on conflict do nothing`;
  const head = async (): Promise<LogHead> => {
    const query = sql<LogHead>`select id, revision from content_log where version = ${version}`;
    const [row] = (await query.execute(db)).rows;
    if (row) return row;
    await created.execute(db);
    return head();
  };
  return {
    head,
    async beginAnew(id) {
      await sql`update content_log set id = ${randomUUID()} where version = ${version} and id = ${id}`.execute(db);
      return (await head()).id;
    },
    async append(entries, epoch) {
      const latest = new Map(entries.map((entry) => [`${entry.kind} ${entry.id}`, entry]));
      const rows = [...latest.values()];
      // The row lock on content_log orders appends: a revision is visible only after all smaller ones.
      const answer = await sql<{ revision: number }>`
        with next as (
          update content_log set revision = revision + 1
          where version = ${version} and (${epoch}::bigint is null or epoch = ${epoch}::bigint) returning revision
        ), put as (
          insert into content_entries (version, kind, id, revision, payload)
          select ${version}::integer, kind, id, next.revision, payload from next, unnest(
            ${rows.map(({ kind }) => kind)}::text[], ${rows.map(({ id }) => id)}::text[],
            ${rows.map(({ payload }) => payload)}::text[]) as given (kind, id, payload)
          on conflict (version, kind, id) do update set revision = excluded.revision, payload = excluded.payload
        )
        select revision, pg_notify(${sql.raw(channel)}, json_build_object('revision', revision)::text) from next`.execute(
        db,
      );
      const [row] = answer.rows;
      if (row) return row.revision;
      if (epoch !== null) throw new LeaseLost('Another node syncs with WordPress now.');
      await created.execute(db);
      return this.append(entries, epoch);
    },
    async read(after, most = batchSize) {
      const rows = await readRows(db, version, after, most);
      const last = rows.at(-1)?.revision ?? after;
      if (rows.length < most) return { revision: last, entries: rows };
      // The last append may be incomplete.
      const whole = rows.filter(({ revision }) => revision < last);
      if (whole.length > 0) return { revision: whole.at(-1)?.revision ?? after, entries: whole };
      return { revision: last, entries: await readRows(db, version, after, null, last) };
    },
    async unpurged() {
      const { rows } = await sql<Unpurged>`
        select content_log.revision, array_remove(array_agg(entry.id), null) as tags
        from content_log left join content_entries entry on entry.version = content_log.version
          and entry.kind = ${tagKind} and entry.revision > content_log.purged
        where content_log.version = ${version} group by content_log.revision`.execute(db);
      return rows[0] ?? { revision: 0, tags: [] };
    },
    async confirmPurges(revision, epoch) {
      await sql`update content_log set purged = greatest(purged, ${revision}::bigint)
        where version = ${version} and epoch = ${epoch}`.execute(db);
    },
    async prune() {
      await pruneVersions(db, version);
      // A node that is killed leaves its row behind.
      await sql`delete from cluster_nodes where seen < ${sql.raw(databaseNow)} - ${keptMs}::bigint`.execute(db);
    },
  };
}

/**
 * If a version's entries are deleted, its log starts again with a new id: a node that comes back would otherwise wait for
 * revisions that no longer exist.
 */
async function pruneVersions(db: Queries, version: number): Promise<void> {
  await sql`
    with ended as (
      update content_log set id = gen_random_uuid()::text, revision = 0, purged = 0
      where version <> ${version} and revision > 0 and renewed < ${sql.raw(databaseNow)} - ${keptMs}::bigint returning version
    )
    delete from content_entries where version in (select version from ended)`.execute(db);
}

async function readRows(db: Queries, version: number, after: number, most: number | null, upTo?: number) {
  const query = sql<LogEntry & { revision: number }>`
    select kind, id, revision, payload from content_entries
    where version = ${version} and revision > ${after} and revision <= ${upTo ?? Number.MAX_SAFE_INTEGER}
    order by revision, kind, id limit ${most}`;
  return (await query.execute(db)).rows;
}
