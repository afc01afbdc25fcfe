/** Nodes that can't reach PostgreSQL, and ask WordPress what was withdrawn. */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { wireComment, wireSection } from '../../../tests/fixtures/wordpress.ts';
import {
  follower,
  holders,
  type Node,
  newsroom,
  openNode,
  openNodes,
  stopNodes,
  webhook,
} from '../../../tests/world/cluster-nodes.ts';
import { prepare } from '../../../tests/world/databases.ts';
import { type SlowProxy, startSlowProxy } from '../../../tests/world/slow-proxy.ts';
import { type Logger, silent } from '../../lib/logging.ts';
import { type MissedWithdrawals, wantedContent, watchForMissedWithdrawals } from './missed-withdrawals.ts';
import { createSharedPages, type SharedPagesOptions } from './shared-pages.ts';

const engines = prepare('postgres');
const proxies: SlowProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies) proxy.thaw();
  await stopNodes();
  for (const proxy of proxies.splice(0)) proxy.close();
});

type Newsroom = ReturnType<typeof newsroom>;

/** Lists a change as the plugin does. */
function list(room: Newsroom, type: string, id: number, event: string): void {
  room.changes?.push({ row: room.changes.length + 1, delivery: randomUUID(), event, type, id, slug: '' });
}

/** Changes a story, and lists the change. */
function change(room: Newsroom, id: number, part: Parameters<Newsroom['put']>[1], event = 'update'): void {
  room.put(id, part);
  list(room, 'articles', id, event);
}

const asked = (requests: readonly string[]): boolean => requests.some((path) => path.endsWith('/changes'));
const access = (node: Node, id: number) => node.content.reader().article(`a-${id}`)?.access;
const withdrawnTags = ({ changes }: Node) => changes.flatMap((each) => each.withdrawnTags ?? []);

/** Three nodes, of which only the last one connects through a proxy and has its own access to WordPress. */
async function openCutNode() {
  const room = newsroom(4);
  room.store.categories.set(4, { id: 4, ...wireSection(4, 'opinion', 2) });
  for (const id of [11, 12]) room.store.comments.set(id, { id, ...wireComment({ id, post: 1 }) });
  // Without the pool of the suite: each node has its own connections.
  const { dataDir, databaseUrl } = await engines.migratedPlace();
  const url = new URL(databaseUrl ?? '');
  const proxy = await startSlowProxy(Number(url.port));
  proxies.push(proxy);
  url.port = String(proxy.port);
  const own = { requests: [] as string[], isAway: false };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    own.requests.push(new URL(String(input)).pathname);
    if (own.isAway) throw new Error('WordPress is away');
    return room.fetch(input, init);
  };
  const { all } = await openNodes(engines, 3, {
    room,
    place: { dataDir, databaseUrl },
    of: (at) => (at === 2 ? { fetch, databaseUrl: url.href } : {}),
  });
  const others = all.slice(0, 2);
  const node = all[2] as Node;
  return { room, proxy, own, node, others, all };
}

/** Sends a webhook to the connected nodes until it is answered. */
async function deliver(others: readonly Node[], id: number, event?: string): Promise<void> {
  await expect.poll(() => holders(others).length).toBe(1);
  await expect.poll(async () => (await follower(others).cluster.receive(webhook(id, event))).status).toBe(200);
}

describe('a node that alone has lost its connection to PostgreSQL', () => {
  it('hides stories that are withdrawn or made paid, keeps the rest, and catches up when it reconnects', async () => {
    const { room, proxy, own, node, others, all } = await openCutNode();
    proxy.freeze();
    await expect.poll(() => node.cluster.node.cutOffMs !== null).toBe(true);
    change(room, 1, { title: { rendered: 'A plain edit' } });
    change(room, 2, { status: 'draft' }, 'unpublish');
    change(room, 3, { access: 'subscriber' });
    for (const id of [1, 2, 3]) await deliver(others, id);
    await expect.poll(() => [node.title(2), access(node, 3)]).toEqual([undefined, 'subscriber']);
    expect(withdrawnTags(node)).toEqual(['article:2', 'article:3']);
    expect([node.title(1), node.title(4)]).toEqual(['Headline 1', 'Headline 4']);
    expect(node.content.followed.ahead()).toHaveLength(2);
    proxy.thaw();
    await expect.poll(() => all.map(({ cluster }) => cluster.node.isConnected)).toEqual([true, true, true]);
    await expect.poll(() => node.title(1)).toBe('A plain edit');
    expect([node.title(2), access(node, 3)]).toEqual([undefined, 'subscriber']);
    // The log's entry may have the same second as this node's answer; then the holder fetches the story again.
    await expect.poll(() => node.content.followed.ahead()).toEqual([]);
    expect([node.title(2), access(node, 3)]).toEqual([undefined, 'subscriber']);
    own.requests = [];
    change(room, 4, { title: { rendered: 'Afterwards' } });
    await deliver(all, 4);
    expect(all.map(({ title }) => title(4))).toEqual(Array(3).fill('Afterwards'));
    expect(asked(own.requests)).toBe(false);
  });

  it('keeps showing its content while WordPress is down too, and withdraws once WordPress answers', async () => {
    const { room, proxy, own, node, others } = await openCutNode();
    own.isAway = true;
    proxy.freeze();
    change(room, 2, { status: 'draft' }, 'unpublish');
    await deliver(others, 2, 'unpublish');
    await expect.poll(() => asked(own.requests)).toBe(true);
    expect([node.title(1), node.title(2)]).toEqual(['Headline 1', 'Headline 2']);
    own.isAway = false;
    // A webhook that the node can't pass on shows that WordPress is up.
    const refused = node.cluster.receive(webhook(2, 'unpublish'));
    await expect.poll(() => node.title(2)).toBeUndefined();
    // The node learns at once that it can't pass the webhook on.
    proxy.close();
    expect((await refused).status).toBe(503);
    expect(node.title(1)).toBe('Headline 1');
  });

  it('stops showing a comment that was removed and a section that was deleted', async () => {
    const { room, proxy, node, others, all } = await openCutNode();
    const shown = ({ content }: Node) => [
      content
        .reader()
        .comments(1, {})
        .items.map(({ id }) => id),
      content.reader().section('politics')?.slug,
    ];
    expect(all.map(shown)).toEqual(Array(3).fill([[12, 11], 'politics']));
    proxy.freeze();
    await expect.poll(() => node.cluster.node.cutOffMs !== null).toBe(true);
    room.store.comments.delete(11);
    list(room, 'comments', 11, 'comment');
    room.store.categories.set(3, { id: 3, ...wireSection(3, 'politics', null) });
    room.store.categories.set(4, { id: 4, ...wireSection(4, 'opinion', 2), name: 'Views' });
    list(room, 'categories', 3, 'term');
    await expect.poll(() => shown(node)).toEqual([[12], undefined]);
    expect(node.content.reader().section('opinion')?.label).toBe('Opinion');
    // The others have received neither: they learn of both from this node.
    expect(others.map(shown)).toEqual(Array(2).fill([[12, 11], 'politics']));
    proxy.thaw();
    await expect.poll(() => all.map(shown)).toEqual(Array(3).fill([[12], undefined]));
    await expect.poll(() => node.content.followed.ahead()).toEqual([]);
    expect(all.map(({ content }) => content.reader().section('opinion')?.label)).toEqual(Array(3).fill('Views'));
  });

  it('shows a withdrawn story again after WordPress has republished it', async () => {
    const { room, proxy, node, others, all } = await openCutNode();
    proxy.freeze();
    change(room, 2, { status: 'draft' }, 'unpublish');
    await expect.poll(() => node.title(2)).toBeUndefined();
    // The others have received neither.
    room.put(2, {});
    expect(others.map(({ title }) => title(2))).toEqual(['Headline 2', 'Headline 2']);
    proxy.thaw();
    await expect.poll(() => all.map(({ title }) => title(2))).toEqual(Array(3).fill('Headline 2'));
    await expect.poll(() => node.content.followed.ahead()).toEqual([]);
  });
});

describe('while PostgreSQL is down for all nodes', () => {
  const alone = prepare('postgres', { ownServer: true });

  it('they keep their content, hide what WordPress withdraws, and put it in the content log once PostgreSQL is back', async () => {
    const place = await alone.place();
    const { all, room } = await openNodes(alone, 2, { place });
    await alone.cluster().stop();
    try {
      await expect.poll(() => asked(room.requests())).toBe(true);
      const seen = all.map(({ changes }) => changes.length);
      await expect.poll(() => asked(room.requests())).toBe(true);
      expect(all.map(({ title }) => [title(1), title(2)])).toEqual(Array(2).fill(['Headline 1', 'Headline 2']));
      expect(all.map(({ changes }) => changes.length)).toEqual(seen);
      change(room, 1, { title: { rendered: 'Meanwhile' } });
      change(room, 2, { status: 'draft' }, 'unpublish');
      expect((await all[0].cluster.receive(webhook(2, 'unpublish'))).status).toBe(503);
      await expect.poll(() => all.map(({ title }) => title(2))).toEqual([undefined, undefined]);
      expect(all.map(({ title }) => title(1))).toEqual(['Headline 1', 'Headline 1']);
    } finally {
      await alone.cluster().start();
    }
    await expect.poll(() => all.map(({ cluster }) => cluster.node.isConnected)).toEqual([true, true]);
    await expect.poll(() => all.map(({ content }) => content.followed.ahead())).toEqual([[], []]);
    expect(all.map(({ title }) => title(2))).toEqual([undefined, undefined]);
    const late = await openNode(alone, { ...place, room });
    await expect.poll(() => late.title(1)).toBeDefined();
    expect(late.title(2)).toBeUndefined();
  });
});

describe('polling WordPress for missed withdrawals', () => {
  /** @param withdrawMissed WordPress's answer to a question about the last seconds */
  function watch(withdrawMissed: (seconds: number) => Promise<number>) {
    const state = {
      warnings: [] as string[],
      sent: [] as { wanted: string }[],
      past: [] as number[],
      revision: 7,
      /** How often the node was asked whether it is cut off. */
      looks: 0,
      cutOffMs: null as number | null,
      node: {
        isConnected: true,
        get cutOffMs() {
          state.looks++;
          return state.cutOffMs;
        },
        send: async (message: object) => void state.sent.push(message as { wanted: string }),
      },
    };
    const content = {
      withdrawMissed: (seconds: number) => {
        state.past.push(seconds);
        return withdrawMissed(seconds);
      },
      followed: { revision: () => state.revision, ahead: () => [{ type: 'articles' as const, id: 12 }] },
    };
    const log: Logger = { ...silent, warn: (_context, message) => void state.warnings.push(message) };
    const { node } = state;
    const watcher = watchForMissedWithdrawals({ node, content: content as never, log, everyMs: 5 });
    watchers.push(watcher);
    return Object.assign(state, { webhookCame: () => watcher.webhookCame() });
  }
  const watchers: MissedWithdrawals[] = [];
  afterEach(async () => void (await Promise.all(watchers.splice(0).map((watcher) => watcher.stop()))));

  it('happens only while the node is disconnected, and only if it has content', async () => {
    const state = watch(async () => 0);
    const severalLooks = async (): Promise<void> => {
      const before = state.looks;
      state.webhookCame();
      await expect.poll(() => state.looks - before).toBeGreaterThan(4);
    };
    await severalLooks();
    expect(state.past).toEqual([]);
    state.revision = 0;
    state.node.isConnected = false;
    state.cutOffMs = Number.POSITIVE_INFINITY;
    await severalLooks();
    expect(state.past).toEqual([]);
    state.revision = 7;
    await expect.poll(() => state.past.length).toBeGreaterThan(0);
  });

  it('logs a failure once, and asks for everything until the first answer, then for the changes since', async () => {
    let answers = 0;
    const state = watch(async () => {
      if (++answers < 4) throw new Error('WordPress has no such route');
      return 0;
    });
    state.node.isConnected = false;
    state.cutOffMs = Number.POSITIVE_INFINITY;
    await expect.poll(() => state.past.length).toBeGreaterThan(5);
    expect(state.warnings).toHaveLength(1);
    expect(state.past.slice(0, 4)).toEqual(Array(4).fill(Number.POSITIVE_INFINITY));
    expect(state.past[4]).toBeLessThan(3600);
  });

  it('is replaced on a connected node by reports of the documents that are ahead of the content log', async () => {
    const { sent, past } = watch(async () => 0);
    await expect.poll(() => sent.length).toBeGreaterThan(1);
    expect(sent.map(({ wanted }) => wantedContent(wanted))).toEqual(sent.map(() => ({ type: 'articles', id: 12 })));
    expect(past).toEqual([]);
  });
});

it('a process that was asleep and finds the content log late only once does not poll WordPress', async () => {
  let looks = 0;
  const asked: number[] = [];
  const node = {
    isConnected: false,
    get cutOffMs() {
      return ++looks % 2 === 1 ? 60_000 : null;
    },
    send: async () => {},
  };
  const content = {
    withdrawMissed: async (seconds: number) => asked.push(seconds),
    followed: { revision: () => 7, ahead: () => [] },
  };
  const watch = watchForMissedWithdrawals({ node, content: content as never, log: silent, everyMs: 5 });
  try {
    await expect.poll(() => looks).toBeGreaterThan(6);
    expect(asked).toEqual([]);
  } finally {
    await watch.stop();
  }
});

it('a node that is ahead of the content log renders pages itself instead of sharing them', async () => {
  const warnings: string[] = [];
  const log: Logger = { ...silent, warn: (_context, message) => void warnings.push(message) };
  let isAhead = true;
  // A query to this database fails and is logged.
  const db = {} as SharedPagesOptions['db'];
  const pages = createSharedPages({
    db,
    version: 1,
    build: 'b',
    node: 'n',
    log,
    revision: () => 1,
    isAhead: () => isAhead,
    everything: 'site',
  });
  expect((await pages.take({ key: '/', variant: '' } as never)).shared).toBeNull();
  expect([pages.stats().alone, warnings.length]).toEqual([1, 0]);
  isAhead = false;
  await pages.take({ key: '/', variant: '' } as never);
  expect([pages.stats().alone, warnings.length]).toEqual([2, 1]);
});
