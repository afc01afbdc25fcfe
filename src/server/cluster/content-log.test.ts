/** The content log, its lease and the shared pages on a real PostgreSQL. */
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { prepare } from '../../../tests/world/databases.ts';
import { silent } from '../../lib/logging.ts';
import type { SharedPage } from '../../press/scheduler/page-share.ts';
import { databaseNow } from './channel.ts';
import { type ContentLog, LeaseLost, type LogEntry, openContentLog, tagKind } from './content-log.ts';
import { createLease } from './lease.ts';
import { createSharedPages, type SharedPages } from './shared-pages.ts';

const engines = prepare('postgres');
const clients: pg.Client[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
});

async function shop() {
  const place = await engines.migratedPlace();
  const { db } = await engines.open(place);
  const log = openContentLog({ db, version: 1 });
  const session = async (): Promise<pg.Client> => {
    const client = new pg.Client(place.databaseUrl ?? '');
    client.on('error', () => {});
    await client.connect();
    clients.push(client);
    return client;
  };
  return { db, log, session };
}

const document = (id: number, text = `text ${id}`): LogEntry => ({
  kind: 'document',
  id: String(id),
  payload: JSON.stringify({ text }),
});
const changed = (tag: string): LogEntry => ({ kind: tagKind, id: tag, payload: null });

describe('the content log', () => {
  it('gives each append a revision, and gives a reader only newer entries', async () => {
    const { log } = await shop();
    expect(await log.head()).toMatchObject({ revision: 0 });
    expect(await log.append([document(1), document(2)], null)).toBe(1);
    expect(await log.append([document(1, 'again'), document(1, 'latest')], null)).toBe(2);
    const { revision, entries } = await log.read(0);
    expect(revision).toBe(2);
    expect(entries.map(({ id, revision: at, payload }) => [id, at, JSON.parse(payload ?? '').text])).toEqual([
      ['2', 1, 'text 2'],
      ['1', 2, 'latest'],
    ]);
    expect((await log.read(1)).entries).toHaveLength(1);
    expect(await log.read(2)).toEqual({ revision: 2, entries: [] });
  });

  it('never splits an append between two reads, however long it is', async () => {
    const { log } = await shop();
    await log.append([document(1)], null);
    await log.append(
      [2, 3, 4, 5].map((id) => document(id)),
      null,
    );
    expect((await log.read(0, 3)).entries.map(({ id }) => id)).toEqual(['1']);
    expect((await log.read(1, 3)).entries.map(({ id }) => id)).toEqual(['2', '3', '4', '5']);
  });

  it('shows revisions in order when 30 appends run at once', async () => {
    const { log } = await shop();
    const revisions = await Promise.all(Array.from({ length: 30 }, (_, id) => log.append([document(id)], null)));
    expect([...revisions].sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
    expect((await log.read(0)).entries.map(({ revision }) => revision)).toEqual(
      [...Array(30).keys()].map((at) => at + 1),
    );
  });
});

it('the content log knows of which changes the CDN isn’t purged yet', async () => {
  const { db, log, session } = await shop();
  expect(await log.unpurged()).toEqual({ revision: 0, tags: [] });
  const lease = createLease({ version: 1, node: 'holder', log: silent });
  const epoch = (await lease.hold(await session(), true)) ?? 0;
  await log.append([document(1), changed('article:1'), changed('latest')], null);
  await log.append([changed('latest'), changed('prices')], null);
  const tags = async () => (await log.unpurged()).tags.toSorted();
  expect(await tags()).toEqual(['article:1', 'latest', 'prices']);
  await log.confirmPurges(1, epoch);
  expect(await tags()).toEqual(['latest', 'prices']);
  await log.confirmPurges(2, epoch + 1);
  expect(await tags()).toEqual(['latest', 'prices']);
  await log.confirmPurges(2, epoch);
  await log.confirmPurges(1, epoch);
  expect(await log.unpurged()).toEqual({ revision: 2, tags: [] });
  // Newer nodes delete the log's entries; it starts again with the first revision.
  await sql`update content_log set renewed = 0`.execute(db);
  await openContentLog({ db, version: 2 }).prune();
  await log.append([changed('latest')], null);
  expect(await log.unpurged()).toEqual({ revision: 1, tags: ['latest'] });
});

it('pruning the content log forgets nodes not seen for three days, and no others', async () => {
  const { db, log } = await shop();
  const report = (id: string, agoMs: number) =>
    sql`insert into cluster_nodes (id, version, seen, applied, fresh)
      values (${id}, 1, ${sql.raw(databaseNow)} - ${agoMs}::bigint, 1, 1)`.execute(db);
  const day = 24 * 60 * 60 * 1000;
  await report('killed', 4 * day);
  await report('away', 2 * day);
  await report('here', 0);
  await log.prune();
  const { rows } = await sql<{ id: string }>`select id from cluster_nodes order by id`.execute(db);
  expect(rows.map(({ id }) => id)).toEqual(['away', 'here']);
});

describe('the lease to sync with WordPress', () => {
  const lease = (node: string, staleMs?: number) => createLease({ version: 1, node, log: silent, staleMs });

  it('has one holder, and passes to the next node as soon as the holder’s connection ends', async () => {
    const { log, session } = await shop();
    const [one, two] = [lease('one'), lease('two')];
    const [first, second] = [await session(), await session()];
    expect(await one.hold(first, true)).toBe(1);
    expect(await two.hold(second, true)).toBeNull();
    expect(await one.hold(first, true)).toBe(1);
    await log.append([document(1)], one.epoch);
    await first.end();
    await expect.poll(() => two.hold(second, true)).toBe(2);
    await expect(log.append([document(1, 'too late')], 1)).rejects.toThrow(LeaseLost);
    expect(await log.append([document(1, 'in time')], 2)).toBe(2);
  });

  it('is taken from a holder that hangs', async () => {
    const { session } = await shop();
    const [one, two] = [lease('one'), lease('two', 50)];
    const [first, second] = [await session(), await session()];
    await one.hold(first, true);
    await expect.poll(() => two.hold(second, true)).toBe(2);
    await expect(one.hold(first, true)).rejects.toThrow();
  });

  it('is taken from a node that hangs between getting the lock and becoming the holder', async () => {
    const { log, session } = await shop();
    // Every node runs this query.
    await log.head();
    const [first, second] = [await session(), await session()];
    let stops = (_: unknown): void => {};
    const stopping = new Promise((resolve) => {
      stops = resolve;
    });
    const stopped = {
      query(text: string, values?: unknown[]) {
        if (text.includes('pg_try_advisory_lock')) return first.query(text, values);
        stops(text);
        return new Promise(() => {});
      },
    } as unknown as pg.Client;
    void lease('one').hold(stopped, true);
    await stopping;
    const two = lease('two', 50);
    await expect.poll(() => two.hold(second, true)).toBe(1);
  });
});

describe('shared pages', () => {
  const ref = { key: '/article/bridge', variant: 'public' } as const;
  const page = (text: string, tags = ['article:1']): SharedPage => ({
    page: {
      key: ref.key,
      variant: ref.variant,
      version: 0,
      build: 'b',
      status: 200,
      headers: {},
      access: null,
      hash: text,
      size: text.length,
      tags,
      etags: { br: '"br"' },
      renderedAt: 1,
      renderMs: 1,
      asOf: null,
    },
    bodies: { br: Buffer.from(`br ${text}`) },
  });

  async function nodes(count: number, renderMs?: number, answerMs = 20_000) {
    const { db, log, session } = await shop();
    let revision = 0;
    /** Revisions of nodes that haven't read the log to its end, by node. */
    const behind = new Map<number, number>();
    const made = Array.from({ length: count }, (_, at) =>
      createSharedPages({
        db,
        version: 1,
        build: 'b',
        node: `node ${at}`,
        log: silent,
        revision: () => behind.get(at) ?? revision,
        everything: 'site',
        renderMs,
        answerMs,
      }),
    );
    const append = async (...tags: string[]): Promise<void> => {
      revision = await (log as ContentLog).append(tags.map(changed), null);
    };
    return { made: made as [SharedPages, SharedPages, ...SharedPages[]], append, behind, session };
  }

  it('are rendered by one node and taken by the others, byte for byte', async () => {
    const { made } = await nodes(5);
    let renders = 0;
    const seen = await Promise.all(
      made.map(async (each) => {
        const ticket = await each.take(ref);
        if (ticket.shared) return ticket.shared;
        renders++;
        ticket.give(page('first'));
        return page('first');
      }),
    );
    expect(renders).toBe(1);
    expect(seen).toEqual(Array.from({ length: 5 }, () => page('first')));
  });

  it('are rendered again when one of their tags changes, but not for other tags', async () => {
    const { made, append } = await nodes(2);
    (await made[0].take(ref)).give(page('first'));
    await expect.poll(async () => (await made[1].take(ref)).shared?.page.hash).toBe('first');
    await append('article:2');
    expect((await made[1].take(ref)).shared?.page.hash).toBe('first');
    await append('article:1');
    const ticket = await made[1].take(ref);
    expect(ticket.shared).toBeNull();
    ticket.give(page('second'));
    await expect.poll(async () => (await made[0].take(ref)).shared?.page.hash).toBe('second');
    await append('site');
    expect((await made[0].take(ref)).shared).toBeNull();
  });

  it('are rendered by another node when the first one gives up or dies', async () => {
    const { made } = await nodes(3, 300);
    (await made[0].take(ref)).give(null);
    await expect.poll(async () => (await made[1].take(ref)).shared).toBeNull();
    // The second node no longer reports.
    expect((await made[2]?.take(ref))?.shared).toBeNull();
  });

  it('are released when PostgreSQL grants them to a node that has already rendered alone', async () => {
    const { made, session } = await nodes(1, undefined, 50);
    const [busy, other] = [await session(), await session()];
    const count = async (query: string): Promise<number> =>
      (await other.query(`select count(*)::int as n ${query}`)).rows[0].n;
    const others = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
    await busy.query('begin');
    await busy.query('lock table shared_pages in access exclusive mode');
    expect((await made[0].take(ref)).shared).toBeNull();
    expect(made[0].stats().alone).toBe(1);
    await expect.poll(() => count(`${others} and wait_event_type = 'Lock'`)).toBe(1);
    await busy.query('commit');
    await expect.poll(() => count(`${others} and state = 'active'`)).toBe(0);
    await expect.poll(() => count('from shared_pages')).toBe(0);
  });

  it('are rendered once even while the log moves on, unless the page has changed again', async () => {
    const { made, append } = await nodes(3);
    (await made[0].take(ref)).give(page('first'));
    await append('article:1');
    const second = await made[0].take(ref);
    expect(second.shared).toBeNull();
    await append('article:2');
    const waiting = made[1].take(ref);
    second.give(page('second'));
    expect((await waiting).shared?.page.hash).toBe('second');
    await append('article:1');
    expect((await made[0].take(ref)).shared).toBeNull();
    await append('article:1');
    expect((await made[1].take(ref)).shared).toBeNull();
  });

  it('are not rendered by a node that has not yet read the change', async () => {
    const { made, append, behind } = await nodes(2);
    (await made[0].take(ref)).give(page('first'));
    await expect.poll(async () => (await made[1].take(ref)).shared?.page.hash).toBe('first');
    behind.set(0, 0);
    await append('article:1');
    const early = made[0].take(ref);
    const ticket = await made[1].take(ref);
    expect(ticket.shared).toBeNull();
    ticket.give(page('second'));
    behind.delete(0);
    expect((await early).shared?.page.hash).toBe('second');
  });

  it('are not taken by a node whose content is older', async () => {
    const { made, append, behind } = await nodes(2, 300);
    await append('article:1');
    (await made[1].take(ref)).give(page('newer'));
    await expect.poll(async () => (await made[1].take(ref)).shared?.page.hash).toBe('newer');
    behind.set(0, 0);
    expect((await made[0].take(ref)).shared).toBeNull();
    expect(made[0].stats()).toEqual({ given: 0, taken: 0, alone: 1 });
    // Tried more than once: if PostgreSQL answers late, the node renders alone.
    const takeWhileBehind = async (): Promise<string | undefined> => {
      behind.set(0, 0);
      const waiting = made[0].take(ref);
      behind.delete(0);
      return (await waiting).shared?.page.hash;
    };
    await expect.poll(takeWhileBehind).toBe('newer');
  });

  it('of an older revision do not replace newer ones', async () => {
    const { made, append } = await nodes(2);
    (await made[0].take(ref)).give(page('first'));
    await append('article:1');
    const slow = await made[0].take(ref);
    await append('article:1');
    (await made[1].take(ref)).give(page('new'));
    await expect.poll(async () => (await made[1].take(ref)).shared?.page.hash).toBe('new');
    slow.give(page('old'));
    await new Promise((resolve) => setImmediate(resolve));
    expect((await made[1].take(ref)).shared?.page.hash).toBe('new');
  });

  it('of other builds are deleted after a day, while those of the node’s own build stay', async () => {
    const { made, session } = await nodes(1);
    (await made[0].take(ref)).give(page('first'));
    await expect.poll(async () => (await made[0].take(ref)).shared?.page.hash).toBe('first');
    const client = await session();
    for (const [build, hours] of [
      ['yesterday', 23],
      ['older', 25],
    ] as const) {
      await client.query(
        `insert into shared_pages (build, key, variant, revision, claimed, claim_ends, stored)
         select $1, key, variant, revision, claimed, claim_ends, stored - $2::bigint from shared_pages where build = 'b'`,
        [build, hours * 3_600_000],
      );
    }
    // A node's own build stays, however long the node has rendered nothing.
    await client.query(`update shared_pages set stored = stored - $1::bigint where build = 'b'`, [48 * 3_600_000]);
    expect(await made[0].prune()).toBe(1);
    const { rows } = await client.query<{ build: string }>('select build from shared_pages order by build');
    expect(rows.map(({ build }) => build)).toEqual(['b', 'yesterday']);
  });
});
