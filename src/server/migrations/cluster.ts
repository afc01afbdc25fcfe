/** Migrations of what the nodes of a cluster share. */
import { type Kysely, sql } from 'kysely';
import type { Engine } from '../../lib/database.ts';
import type { Migration } from '../database/migrate.ts';

/**
 * Tables whose content can be created again: backups leave out their rows, and a restored database starts a new content log.
 */
export const clusterTables = ['content_log', 'content_entries', 'cluster_nodes', 'shared_assets', 'shared_pages'];

/**
 * Data that the nodes of a cluster share besides the accounts: the content, and rendered pages. Only in PostgreSQL, because SQLite has
 * no other nodes.
 */
export const cluster: Migration = {
  name: '0014-cluster',
  async up(db: Kysely<unknown>, engine: Engine): Promise<void> {
    if (engine === 'sqlite') return;
    await sql`
      create table content_log (
        version integer primary key,
        id text not null,
        revision bigint not null,
        epoch bigint not null,
        holder text,
        renewed bigint not null,
        pid integer
      )`.execute(db);
    await sql`
      create table content_entries (
        version integer not null,
        kind text not null,
        id text not null,
        revision bigint not null,
        payload text,
        primary key (version, kind, id)
      )`.execute(db);
    await sql`create index content_entries_order on content_entries (version, revision)`.execute(db);
    await sql`
      create table cluster_nodes (
        id text primary key,
        version integer not null,
        seen bigint not null,
        applied bigint not null,
        fresh bigint not null
      )`.execute(db);
    await sql`create table shared_assets (path text primary key, bytes bytea not null, seen bigint not null)`.execute(
      db,
    );
    // Pages can be rendered again, so that a crash of PostgreSQL may empty the table.
    await sql`
      create unlogged table shared_pages (
        build text not null,
        key text not null,
        variant text not null,
        revision bigint not null,
        claimed bigint not null,
        claim text,
        claim_ends bigint not null,
        page text,
        tags text[] not null default '{}',
        bodies bytea,
        stored bigint not null,
        primary key (build, key, variant)
      )`.execute(db);
  },
};

/** Settings data that the nodes compare, see `server/cluster/equal-settings.ts`. */
export const clusterSettings: Migration = {
  name: '0020-cluster-settings',
  async up(db: Kysely<unknown>, engine: Engine): Promise<void> {
    if (engine === 'postgres') await sql`alter table cluster_nodes add column settings text`.execute(db);
  },
};

/** The revision up to which the CDN is purged, see `server/cluster/purges.ts`. Earlier builds' purges count as done. */
export const clusterPurges: Migration = {
  name: '0023-cluster-purges',
  async up(db: Kysely<unknown>, engine: Engine): Promise<void> {
    if (engine === 'sqlite') return;
    await sql`alter table content_log add column purged bigint not null default 0`.execute(db);
    await sql`update content_log set purged = revision`.execute(db);
  },
};
