/** Several nodes of a cluster in this process: one WordPress whose requests are counted, and a real PostgreSQL. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  follower,
  holders,
  isComplete,
  newsroom,
  openNode,
  openNodes,
  stopNodes,
  webhook,
} from '../../../tests/world/cluster-nodes.ts';
import { prepare } from '../../../tests/world/databases.ts';
import { runSql } from '../../../tests/world/postgres.ts';
import { openContentLog } from './content-log.ts';

const engines = prepare('postgres');
afterEach(stopNodes);
afterEach(() => vi.restoreAllMocks());

/** For tests in which no node is gone: a busy machine may delay reports and answers by more than the other tests' second. */
const patient = { goneMs: 60_000, webhookMs: 60_000 };
const of = () => patient;

describe('the nodes of a cluster', () => {
  it('copy the archive from WordPress once, and a later node copies it from PostgreSQL alone', async () => {
    const { all, place, room } = await openNodes(engines, 3, { room: newsroom(30), of });
    expect(holders(all)).toHaveLength(1);
    expect(all.map(({ title }) => title(30))).toEqual(Array(3).fill('Headline 30'));
    const late = await openNode(engines, { ...place, ...patient, room });
    await expect.poll(() => isComplete(late)).toBe(true);
    expect(late.title(30)).toBe('Headline 30');
    await expect.poll(() => late.content.followed.revision()).toBe(all[0].content.followed.revision());
    expect(room.requests()).toEqual([]);
  });

  it('fetch an edit once, whichever node receives the webhook, and all show it before the webhook is answered', async () => {
    const { all, room } = await openNodes(engines, 4, { of });
    const [holder] = holders(all);
    for (const [at, receiver] of [holder, follower(all)].entries()) {
      room.put(1, { title: { rendered: `Edit ${at}` } });
      const answer = await receiver?.cluster.receive(webhook(1));
      expect(answer).toMatchObject({ status: 200, body: { ok: true } });
      expect(all.map(({ title }) => title(1))).toEqual(Array(4).fill(`Edit ${at}`));
      expect(room.requests()).toEqual(['/wp-json/wp/v2/articles/1']);
    }
  });

  it('remove a withdrawn story before the webhook is answered', async () => {
    const { all, room } = await openNodes(engines, 3, { of });
    room.put(2, { status: 'draft' });
    expect((await follower(all).cluster.receive(webhook(2, 'unpublish'))).status).toBe(200);
    for (const { title, changes } of all) {
      expect(title(2)).toBeUndefined();
      expect(changes.some(({ withdrawnTags }) => withdrawnTags?.includes('article:2'))).toBe(true);
    }
  });

  it('pass on a webhook with the addresses of 200 picture files', async () => {
    const { all } = await openNodes(engines, 2, { of });
    const addresses = Array.from({ length: 200 }, (_, at) => {
      const name = createHash('sha256')
        .update(`${at >> 3}`)
        .digest('hex')
        .slice(0, 12);
      return `https://cms.example/wp-content/uploads/2026/11/${name}-${(at % 8) * 200}x${(at % 8) * 150}.jpg`;
    });
    const answer = await follower(all).cluster.receive(webhook(900, 'delete', { type: 'media', addresses }));
    expect(answer).toMatchObject({ status: 200 });
    const pictures = [...new Set(addresses)].length;
    for (const { changes } of all) {
      const tags = changes.flatMap((change) => [...change.tags]).filter((tag) => tag.startsWith('picture:'));
      expect(new Set(tags).size).toBe(pictures);
    }
  });

  it('count a change as fresh everywhere only when each of them has rendered it', async () => {
    let rendered = Promise.resolve();
    const { all } = await openNodes(engines, 2, { of: () => ({ ...patient, rendered: () => rendered }) });
    const [holder] = holders(all);
    const slow = Promise.withResolvers<void>();
    rendered = slow.promise;
    holder?.cluster.publish(new Set(['prices']), 'any');
    const hasRead = ({ changes }: (typeof all)[number]) => changes.some(({ tags }) => tags.has('prices'));
    // The holder too: it waits for the revision that it has read itself.
    await expect.poll(() => all.every(hasRead)).toBe(true);
    const isFresh = vi.fn();
    const fresh = holder?.cluster.arrived().freshEverywhere().then(isFresh);
    // Long enough for the pending check to be repeated, and far from the ten seconds after which it ends.
    const end = performance.now() + 300;
    do expect(await holder?.cluster.arrived().goneEverywhere()).toBe(true);
    while (performance.now() < end);
    expect(isFresh).not.toHaveBeenCalled();
    slow.resolve();
    await fresh;
    expect(isFresh).toHaveBeenCalledExactlyOnceWith(true);
  });

  it('do not wait for a node that was killed, but wait for one that has just reported', async () => {
    const { all, place } = await openNodes(engines, 1, { of });
    const { node } = all[0].cluster;
    const { revision } = node.stats();
    const report = (id: string, seen: string) =>
      runSql(
        `insert into cluster_nodes (id, version, seen, applied, fresh) values ('${id}', 1, ${seen}, 0, 0)`,
        place.databaseUrl ?? '',
      );
    await report('killed', '0');
    expect(await node.waitForAllNodes('applied', revision, 60_000)).toBe(true);
    await report('slow', '(extract(epoch from now()) * 1000)::bigint + 60000');
    expect(await node.waitForAllNodes('applied', revision, 50)).toBe(false);
  });

  it('reject a webhook with an invalid signature without passing it on', async () => {
    const { all, room } = await openNodes(engines, 2, { of });
    const forged = { ...webhook(1), rawBody: '{"event":"update","type":"articles","id":1}' };
    for (const { cluster } of all) expect((await cluster.receive(forged)).status).toBe(401);
    expect(all.map(({ cluster }) => cluster.stats().passedOn)).toEqual([0, 0]);
    expect(room.requests()).toEqual([]);
  });

  it('send each other changes that belong to no document, such as prices', async () => {
    const { all } = await openNodes(engines, 3, { of });
    const counted = () => all.map(({ changes }) => changes.filter(({ tags }) => tags.has('prices')).length);
    all[2]?.cluster.publish(new Set(['prices']), 'any');
    await expect.poll(counted).toEqual([1, 1, 1]);
    // Every node finds this change itself; one of them publishes it.
    for (const { cluster } of all) cluster.publish(new Set(['prices']), 'holder');
    await expect.poll(counted).toEqual([2, 2, 2]);
  });
});

describe('a change that every node notices by itself, such as a new day', () => {
  it('reaches the other nodes later when the node that syncs couldn’t send it', async () => {
    const { all, place } = await openNodes(engines, 2);
    const seen = (): number[] => all.map(({ changes }) => changes.filter(({ tags }) => tags.has('today')).length);
    await runSql('alter table content_entries rename to away', place.databaseUrl ?? '');
    for (const { cluster } of all) cluster.publish(new Set(['today']), 'holder');
    await expect.poll(() => Math.max(...seen())).toBe(1);
    await runSql('alter table away rename to content_entries', place.databaseUrl ?? '');
    await expect.poll(() => Math.min(...seen())).toBeGreaterThan(0);
  });
});

describe('a change that a node can’t send to the others', () => {
  it('is shown by this node, which purges the CDN itself', async () => {
    const { all, place } = await openNodes(engines, 2, { of });
    const node = follower(all);
    await runSql('alter table content_entries rename to away', place.databaseUrl ?? '');
    node.cluster.publish(new Set(['prices']), 'any');
    const shown = () => node.changes.filter(({ tags }) => tags.has('prices'));
    await expect.poll(shown).toMatchObject([{ isOwn: true }]);
    await runSql('alter table away rename to content_entries', place.databaseUrl ?? '');
  });
});

describe('a node of a version that no node has run for days', () => {
  it('syncs again after newer nodes have deleted the content of its version', async () => {
    const { all, place, room } = await openNodes(engines, 1);
    await all[0].stop();
    await runSql('update content_log set renewed = 0', place.databaseUrl ?? '');
    const { db } = await engines.open(place);
    await openContentLog({ db, version: 2 }).prune();
    const again = await openNode(engines, { ...place, room });
    await expect.poll(() => isComplete(again)).toBe(true);
    expect(again.title(1)).toBe('Headline 1');
  });
});

describe('nodes of two builds with different content stores, as during a release', () => {
  it('remove a withdrawn story before the webhook is answered, whichever node receives it', async () => {
    const { all, place, room } = await openNodes(engines, 2, { room: newsroom(6), of });
    const newer = [
      await openNode(engines, { ...place, ...patient, room, version: 2 }),
      await openNode(engines, { ...place, ...patient, room, version: 2 }),
    ];
    await expect.poll(() => newer.map(isComplete)).toEqual([true, true]);
    const receivers = [...holders(all), follower(all), ...holders(newer), follower(newer)];
    for (const [at, receiver] of receivers.entries()) {
      const id = at + 1;
      room.put(id, { status: 'draft' });
      expect((await receiver.cluster.receive(webhook(id, 'unpublish'))).status).toBe(200);
      expect([...all, ...newer].map(({ title }) => title(id))).toEqual(Array(4).fill(undefined));
    }
  });

  it('answer 503 to a webhook that the other version couldn’t handle, so that WordPress sends it again', async () => {
    const { all, place, room } = await openNodes(engines, 1, { of });
    let isDown = false;
    const fetch: typeof globalThis.fetch = async (input, init) =>
      isDown ? new Response('{}', { status: 503 }) : room.fetch(input, init);
    const newer = await openNode(engines, { ...place, ...patient, room, fetch, version: 2 });
    await expect.poll(() => isComplete(newer)).toBe(true);
    isDown = true;
    room.put(1, { title: { rendered: 'Changed' } });
    expect(await all[0].cluster.receive(webhook(1))).toMatchObject({ status: 503 });
    isDown = false;
    expect(await all[0].cluster.receive(webhook(1))).toMatchObject({ status: 200 });
    expect([...all, newer].map(({ title }) => title(1))).toEqual(['Changed', 'Changed']);
  });

  it('show an edit whose webhook reached a node of the other version', async () => {
    const { all, place, room } = await openNodes(engines, 2, { of });
    const newer = await openNode(engines, { ...place, ...patient, room, version: 2 });
    await expect.poll(() => isComplete(newer)).toBe(true);
    room.put(1, { title: { rendered: 'Edited' } });
    expect((await newer.cluster.receive(webhook(1))).status).toBe(200);
    expect([...all, newer].map(({ title }) => title(1))).toEqual(Array(3).fill('Edited'));
  });
});

describe('when the node that syncs', () => {
  it('stops, another node takes over, continues where it was, and fetches the next edit', async () => {
    const room = newsroom();
    let lists: URLSearchParams[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      const { pathname, searchParams } = new URL(String(input));
      if (pathname.endsWith('/articles')) lists.push(searchParams);
      return room.fetch(input, init);
    };
    const { all } = await openNodes(engines, 3, { room, of: () => ({ ...patient, fetch }) });
    const [first] = holders(all);
    lists = [];
    await first?.stop();
    const left = all.filter((each) => each !== first);
    await expect.poll(() => holders(left).length).toBe(1);
    // With the cursors of the node before it, the new one asks only for later changes, and copies nothing again.
    await expect.poll(() => lists.map((query) => query.get('orderby'))).toEqual(['modified', 'date', 'id']);
    expect(lists[0]?.get('modified_after')).toMatch(/^2026-/u);
    expect(lists.map((query) => query.get('_fields')?.split(',')[0])).toEqual(['id', 'id', 'id']);
    room.put(1, { title: { rendered: 'After the handover' } });
    expect((await follower(left).cluster.receive(webhook(1))).status).toBe(200);
    expect(left.map(({ title }) => title(1))).toEqual(Array(2).fill('After the handover'));
    expect(room.requests().filter((path) => path.endsWith('/articles/1'))).toHaveLength(1);
  });

  it('can’t write its content store, as on a full disk, another node takes over', async () => {
    const { all, room } = await openNodes(engines, 2);
    const [full] = holders(all);
    const other = follower(all);
    if (!full) throw new Error('No node has the lease.');
    vi.spyOn(full.content.followed, 'apply').mockImplementation(() => {
      throw new Error('The disk is full');
    });
    room.put(1, { title: { rendered: 'Meanwhile' } });
    void full.cluster.receive(webhook(1));
    await expect.poll(() => other.cluster.node.epoch).not.toBeNull();
    await expect.poll(async () => (await other.cluster.receive(webhook(1))).status).toBe(200);
    expect(other.title(1)).toBe('Meanwhile');
  });

  it('stops while pages are rendered, it still purges the CDN, and so does the node that takes over', async () => {
    let rendered = Promise.resolve();
    const { all } = await openNodes(engines, 2, { of: () => ({ ...patient, rendered: () => rendered }) });
    const [holder] = holders(all);
    const other = follower(all);
    const purge = vi.fn(async (_tags: readonly string[]) => {});
    other.cluster.repeatPurgesWith(purge);
    const slow = Promise.withResolvers<void>();
    rendered = slow.promise;
    holder?.cluster.publish(new Set(['prices']), 'any');
    await expect.poll(() => all.every(({ changes }) => changes.some(({ tags }) => tags.has('prices')))).toBe(true);
    const change = holder?.cluster.arrived();
    const [gone, fresh] = [change?.goneEverywhere(), change?.freshEverywhere()];
    await holder?.stop();
    await expect.poll(() => other.cluster.node.epoch).not.toBeNull();
    slow.resolve();
    expect(await Promise.all([gone, fresh])).toEqual([true, true]);
    await expect.poll(() => purge.mock.calls.filter(([tags]) => tags.includes('prices')).length).toBe(2);
  });

  it('stops before the CDN has confirmed a purge, a node that came later repeats it', async () => {
    const { all, place, room } = await openNodes(engines, 1, { of });
    const [holder] = all;
    const change = async (tag: string) => {
      holder.cluster.publish(new Set([tag]), 'any');
      await expect.poll(() => holder.changes.some(({ tags }) => tags.has(tag))).toBe(true);
      return { arrived: holder.cluster.arrived(), revision: holder.content.followed.revision() };
    };
    const { arrived, revision } = await change('prices');
    arrived.purged();
    const { db } = await engines.open(place);
    const recorded = async () => (await sql<{ purged: number }>`select purged from content_log`.execute(db)).rows;
    await expect.poll(recorded).toEqual([{ purged: revision }]);
    await change('ticker');
    const later = await openNode(engines, { ...place, ...patient, room });
    const purge = vi.fn(async (_tags: readonly string[]) => {});
    later.cluster.repeatPurgesWith(purge);
    await expect.poll(() => isComplete(later)).toBe(true);
    await holder.stop();
    await expect.poll(() => purge.mock.calls).toEqual([[['ticker']], [['ticker']]]);
  });

  it('loses its connection in the middle of an edit, the edit is not lost', async () => {
    const { all, place, room } = await openNodes(engines, 3);
    room.put(1, { title: { rendered: 'In the middle' } });
    const receiver = follower(all);
    const answering = receiver.cluster.receive(webhook(1));
    await runSql('select pg_terminate_backend(pid) from content_log where pid is not null', place.databaseUrl ?? '');
    const answer = await answering;
    // WordPress sends the webhook again after a 503.
    if (answer.status === 503) expect((await receiver.cluster.receive(webhook(1))).status).toBe(200);
    await expect.poll(() => all.map(({ title }) => title(1))).toEqual(Array(3).fill('In the middle'));
    await expect.poll(() => holders(all).length).toBe(1);
  });
});

describe('while PostgreSQL is down', () => {
  const own = prepare('postgres', { ownServer: true });

  it('nodes show the content they have, answer webhooks with 503, and know that they are disconnected', async () => {
    const { all, room } = await openNodes(own, 2, { place: await own.place() });
    await own.cluster().stop();
    try {
      await expect.poll(() => all.map(({ cluster }) => cluster.node.isConnected)).toEqual([false, false]);
      room.put(1, { title: { rendered: 'Meanwhile' } });
      for (const { cluster } of all) expect((await cluster.receive(webhook(1))).status).toBe(503);
      expect(all.map(({ title }) => title(1))).not.toContain('Meanwhile');
    } finally {
      await own.cluster().start();
    }
    await expect.poll(() => holders(all).length).toBe(1);
    await expect.poll(async () => (await all[1].cluster.receive(webhook(1))).status).toBe(200);
    await expect.poll(() => all.map(({ title }) => title(1))).toEqual(['Meanwhile', 'Meanwhile']);
    await expect.poll(() => all.map(({ cluster }) => cluster.node.isConnected)).toEqual([true, true]);
  });

  it('a change that every node notices by itself is published once PostgreSQL is back, however long that takes', async () => {
    const { all } = await openNodes(own, 2, { place: await own.place() });
    const seen = (): number[] => all.map(({ changes }) => changes.filter(({ tags }) => tags.has('today')).length);
    const monotonic = performance.now.bind(performance);
    await own.cluster().stop();
    try {
      await expect.poll(() => holders(all)).toEqual([]);
      for (const { cluster } of all) cluster.publish(new Set(['today']), 'holder');
      // An outage of an hour.
      vi.spyOn(performance, 'now').mockImplementation(() => monotonic() + 3_600_000);
    } finally {
      await own.cluster().start();
    }
    await expect.poll(seen).toEqual([1, 1]);
    // It was published, and the next holder has nothing to add.
    await holders(all)[0]?.stop();
    await expect.poll(() => holders(all).length).toBe(1);
    const [holder] = holders(all);
    holder?.cluster.publish(new Set(['prices']), 'any');
    await expect.poll(() => holder?.changes.some(({ tags }) => tags.has('prices'))).toBe(true);
    expect(seen()).toEqual([1, 1]);
  });
});
