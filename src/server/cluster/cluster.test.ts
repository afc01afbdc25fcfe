/** Several nodes of a cluster in this process: one WordPress whose requests are counted, and a real PostgreSQL. */
import { createHmac, randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { fakeWordPress, type Json, wirePost, wireSection } from '../../../tests/fixtures/wordpress.ts';
import { type Place, prepare } from '../../../tests/world/databases.ts';
import { runSql } from '../../../tests/world/postgres.ts';
import { openContent } from '../../content/content.server.ts';
import type { Content, ContentChange, WebhookRequest } from '../../content/service.ts';
import { silent } from '../../lib/logging.ts';
import { createChangeFeed } from '../change-feed.ts';
import { type Cluster, createCluster, openClusterLog } from './cluster.ts';

const engines = prepare('postgres');
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const secret = 'a shared secret';

function newsroom(articles = 3) {
  const wordpress = fakeWordPress();
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  const put = (id: number, change: Json = {}): void => {
    wordpress.put('articles', { id, ...wirePost({ id, slug: `a-${id}`, category: [{ id: 3 }], ...change }) });
  };
  for (let id = 1; id <= articles; id++) put(id);
  let requests: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    requests.push(new URL(String(input)).pathname);
    return wordpress.fetch(input, init);
  };
  return {
    ...wordpress,
    put,
    fetch,
    /** Requests since the last call. */
    requests() {
      const made = requests;
      requests = [];
      return made;
    },
  };
}

type Newsroom = ReturnType<typeof newsroom>;

function webhook(id: number, event = 'update'): WebhookRequest {
  const rawBody = JSON.stringify({ event, type: 'articles', id, slug: `a-${id}`, status: 'publish' });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const delivery = randomUUID();
  const signature = createHmac('sha256', secret).update(`${timestamp}.${delivery}.`).update(rawBody).digest('hex');
  return {
    headers: {
      'x-newsroom-timestamp': timestamp,
      'x-newsroom-delivery': delivery,
      'x-newsroom-signature': `sha256=${signature}`,
    },
    rawBody,
  };
}

interface Node {
  readonly content: Content;
  readonly cluster: Cluster;
  readonly changes: ContentChange[];
  readonly title: (id: number) => string | undefined;
  readonly stop: () => Promise<void>;
}

async function node(place: Place, { url, fetch }: Newsroom): Promise<Node> {
  const { db } = await engines.open({ ...place, patienceMs: 2000 });
  const seen: ContentChange[] = [];
  const changes = createChangeFeed();
  changes.follow({
    async changed(change) {
      seen.push(change);
      return change.paths ?? [];
    },
  });
  const clusterLog = openClusterLog({ db, version: 1, log: silent, goneMs: 1000 });
  const content = openContent({
    file: ':memory:',
    wordpress: { url },
    siteUrl: 'https://sun.example',
    secret,
    frameHosts: [],
    measure: async () => null,
    log: silent,
    pollSeconds: 3600,
    threads: false,
    fetch,
    onChange: changes.publish,
    journal: clusterLog.journal,
    leads: clusterLog.leads,
  });
  const cluster = createCluster({
    clusterLog,
    listenUrl: place.databaseUrl ?? '',
    content,
    changes,
    log: silent,
    beatMs: 50,
    goneMs: 1000,
    webhookMs: 3000,
  });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= cluster.stop().then(() => content.stop());
    return stopping;
  };
  stops.push(stop);
  content.start();
  cluster.start();
  return { content, cluster, changes: seen, stop, title: (id) => content.reader().article(`a-${id}`)?.title };
}

const isComplete = ({ content }: Node): boolean => content.status().complete && content.status().syncedAt !== null;

async function nodes(
  count: number,
  room = newsroom(),
  given?: Place,
): Promise<{ all: [Node, Node, ...Node[]]; place: Place; room: Newsroom }> {
  const place = given ?? (await engines.migratedPlace());
  const all: Node[] = [];
  for (let at = 0; at < count; at++) all.push(await node(place, room));
  await expect.poll(() => all.map(isComplete)).toEqual(all.map(() => true));
  // The first round of the sync ends with a poll.
  await expect.poll(() => holders(all).map(({ content }) => content.status().phase)).toEqual(['following']);
  room.requests();
  return { all: all as [Node, Node, ...Node[]], place, room };
}

const holders = (all: readonly Node[]): Node[] => all.filter(({ cluster }) => cluster.node.epoch !== null);

describe('the nodes of a cluster', () => {
  it('copy the archive from WordPress once, and a later node copies it from PostgreSQL alone', async () => {
    const { all, place, room } = await nodes(3, newsroom(30));
    expect(holders(all)).toHaveLength(1);
    expect(all.map(({ title }) => title(30))).toEqual(Array(3).fill('Headline 30'));
    const late = await node(place, room);
    await expect.poll(() => isComplete(late)).toBe(true);
    expect(late.title(30)).toBe('Headline 30');
    expect(late.content.followed.revision()).toBe(all[0].content.followed.revision());
    expect(room.requests()).toEqual([]);
  });

  it('fetch an edit once, whichever node the webhook reaches, and show it before it is answered', async () => {
    const { all, room } = await nodes(4);
    const [holder] = holders(all);
    const follower = all.find((each) => each !== holder);
    for (const [at, receiver] of [holder, follower].entries()) {
      room.put(1, { title: { rendered: `Edit ${at}` } });
      const answer = await receiver?.cluster.receive(webhook(1));
      expect(answer).toMatchObject({ status: 200, body: { ok: true } });
      expect(all.map(({ title }) => title(1))).toEqual(Array(4).fill(`Edit ${at}`));
      expect(room.requests()).toEqual(['/wp-json/wp/v2/articles/1']);
    }
  });

  it('have removed what is withdrawn before the webhook is answered', async () => {
    const { all, room } = await nodes(3);
    room.put(2, { status: 'draft' });
    const follower = all.find(({ cluster }) => cluster.node.epoch === null);
    expect((await follower?.cluster.receive(webhook(2, 'unpublish')))?.status).toBe(200);
    for (const { title, changes } of all) {
      expect(title(2)).toBeUndefined();
      expect(changes.some(({ withdrawnTags }) => withdrawnTags?.includes('article:2'))).toBe(true);
    }
  });

  it('refuse a webhook without a valid signature by themselves', async () => {
    const { all, room } = await nodes(2);
    const forged = { ...webhook(1), rawBody: '{"event":"update","type":"articles","id":1}' };
    for (const { cluster } of all) expect((await cluster.receive(forged)).status).toBe(401);
    expect(all.map(({ cluster }) => cluster.stats().passedOn)).toEqual([0, 0]);
    expect(room.requests()).toEqual([]);
  });

  it('tell each other of changes that no document explains, such as prices', async () => {
    const { all } = await nodes(3);
    const counted = () => all.map(({ changes }) => changes.filter(({ tags }) => tags.has('prices')).length);
    all[2]?.cluster.publish(new Set(['prices']), 'any');
    await expect.poll(counted).toEqual([1, 1, 1]);
    // Every node finds this by itself; one publishes it.
    for (const { cluster } of all) cluster.publish(new Set(['prices']), 'holder');
    await expect.poll(counted).toEqual([2, 2, 2]);
  });
});

describe('when the node that syncs', () => {
  it('stops, another one goes on at once with its cursors', async () => {
    const { all, room } = await nodes(3);
    const [first] = holders(all);
    await first?.stop();
    const left = all.filter((each) => each !== first);
    await expect.poll(() => holders(left).length).toBe(1);
    room.put(1, { title: { rendered: 'After the handover' } });
    const follower = left.find(({ cluster }) => cluster.node.epoch === null);
    expect((await follower?.cluster.receive(webhook(1)))?.status).toBe(200);
    expect(left.map(({ title }) => title(1))).toEqual(Array(2).fill('After the handover'));
    expect(room.requests().filter((path) => path.endsWith('/articles/1'))).toHaveLength(1);
  });

  it('loses its connection in the middle of an edit, the edit is not lost', async () => {
    const { all, place, room } = await nodes(3);
    const [first] = holders(all);
    room.put(1, { title: { rendered: 'In the middle' } });
    const follower = all.find((each) => each !== first);
    const answering = follower?.cluster.receive(webhook(1));
    await runSql('select pg_terminate_backend(pid) from content_log where pid is not null', place.databaseUrl ?? '');
    const answer = await answering;
    // 503: WordPress sends it again.
    if (answer?.status === 503) expect((await follower?.cluster.receive(webhook(1)))?.status).toBe(200);
    await expect.poll(() => all.map(({ title }) => title(1))).toEqual(Array(3).fill('In the middle'));
    await expect.poll(() => holders(all).length).toBe(1);
  });
});

describe('while PostgreSQL is down', () => {
  const own = prepare('postgres', { ownServer: true });

  it('nodes show what they have, refuse webhooks so that they come again, and know that they miss changes', async () => {
    const { all, room } = await nodes(2, newsroom(), await own.place());
    await own.cluster().stop();
    try {
      await expect.poll(() => all.map(({ cluster }) => cluster.node.hears)).toEqual([false, false]);
      room.put(1, { title: { rendered: 'Meanwhile' } });
      for (const { cluster } of all) expect((await cluster.receive(webhook(1))).status).toBe(503);
      expect(all.map(({ title }) => title(1))).not.toContain('Meanwhile');
    } finally {
      await own.cluster().start();
    }
    await expect.poll(() => holders(all).length).toBe(1);
    await expect.poll(async () => (await all[1].cluster.receive(webhook(1))).status).toBe(200);
    await expect.poll(() => all.map(({ title }) => title(1))).toEqual(['Meanwhile', 'Meanwhile']);
    await expect.poll(() => all.map(({ cluster }) => cluster.node.hears)).toEqual([true, true]);
  });
});
