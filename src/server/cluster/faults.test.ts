/** Nodes of a cluster whose connections to PostgreSQL are slow or frozen, and whose clocks are wrong. */
import { afterEach, expect, it } from 'vitest';
import { follower, holders, type Node, openNodes, stopNodes, webhook } from '../../../tests/world/cluster-nodes.ts';
import { prepare } from '../../../tests/world/databases.ts';
import { runSql } from '../../../tests/world/postgres.ts';
import { proving } from '../../../tests/world/runs.ts';
import { type SlowProxy, startSlowProxy } from '../../../tests/world/slow-proxy.ts';

const engines = prepare('postgres');
const proxies: SlowProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies) {
    proxy.delay(0);
    proxy.thaw();
  }
  await stopNodes();
  for (const proxy of proxies.splice(0)) proxy.close();
});

/** A proxy in front of a database. @returns it, and the database's address through it */
async function behindProxy(databaseUrl: string | null | undefined) {
  const url = new URL(databaseUrl ?? '');
  const proxy = await startSlowProxy(Number(url.port));
  proxies.push(proxy);
  url.port = String(proxy.port);
  return { proxy, url: url.href };
}

it('a node that wrongly believes that it holds the lease appends nothing', async () => {
  const place = await engines.migratedPlace();
  const own = [0, 1, 2].map(() => behindProxy(place.databaseUrl));
  const listening = await Promise.all(own);
  const { all, room } = await openNodes(engines, 3, { place, of: (at) => ({ listenUrl: listening[at]?.url ?? '' }) });
  const first = holders(all)[0] as Node;
  const others = all.filter((each) => each !== first);
  listening[all.indexOf(first)]?.proxy.freeze();
  await expect.poll(() => holders(others).length).toBe(1);
  // The first node doesn't know that it has lost the lease.
  expect(holders(all)).toHaveLength(2);
  room.put(1, { title: { rendered: 'By two' } });
  expect((await first.cluster.receive(webhook(1))).status).toBe(503);
  expect(all.map(({ title }) => title(1))).not.toContain('By two');
  expect((await follower(others).cluster.receive(webhook(1))).status).toBe(200);
  await expect.poll(() => all.map(({ title }) => title(1))).toEqual(Array(3).fill('By two'));
  for (const { proxy } of listening) proxy.thaw();
  await expect.poll(() => holders(all).length).toBe(1);
});

it.each(proving ? [300, 1000, 2000] : [300, 1000])(
  'edits and withdrawals reach all nodes when PostgreSQL answers %i ms late',
  async (late) => {
    const { proxy, url } = await behindProxy((await engines.migratedPlace()).databaseUrl);
    const { all, room } = await openNodes(engines, 2, {
      place: { dataDir: '', databaseUrl: url },
      of: () => ({ goneMs: 5000, webhookMs: 9000 }),
    });
    proxy.delay(late / 2);
    room.put(1, { title: { rendered: 'Late' } });
    room.put(2, { status: 'draft' });
    const hooks = [webhook(1), webhook(2, 'unpublish')];
    const receiver = follower(all);
    const send = async (): Promise<number[]> => {
      // WordPress sends a webhook again until it is answered.
      const answers = await Promise.all(hooks.map((hook) => receiver.cluster.receive(hook)));
      return answers.map(({ status }) => (status === 409 ? 200 : status));
    };
    await expect.poll(send).toEqual([200, 200]);
    await expect.poll(() => all.map(({ title }) => [title(1), title(2)])).toEqual(Array(2).fill(['Late', undefined]));
    expect(holders(all)).toHaveLength(1);
    if (late <= 300) expect(all.map(({ cluster }) => cluster.node.isConnected)).toEqual([true, true]);
  },
);

it('nodes whose clocks are an hour apart follow each other, whichever holds the lease', async () => {
  const hours = [0, 1, -1];
  const { all, place, room } = await openNodes(engines, 3, {
    of: (at) => ({ now: () => Date.now() + (hours[at] ?? 0) * 3_600_000 }),
  });
  // The clock of one node agrees with WordPress's; the others refuse webhooks, and say why.
  const [right, ...wrong] = all;
  for (const { cluster } of wrong) expect((await cluster.receive(webhook(1))).status).toBe(412);
  for (let turn = 0; turn < 4; turn++) {
    const [leader] = holders(all);
    room.put(1, { title: { rendered: `Turn ${turn}` } });
    room.put(2, turn % 2 ? {} : { status: 'draft' });
    // WordPress sends a webhook again until it is answered: a former holder may not have noticed yet that it lost the lease.
    for (const id of [1, 2]) await expect.poll(async () => (await right.cluster.receive(webhook(id))).status).toBe(200);
    const expected = [`Turn ${turn}`, turn % 2 ? expect.any(String) : undefined];
    expect(all.map(({ title }) => [title(1), title(2)])).toEqual(Array(3).fill(expected));
    await runSql('select pg_terminate_backend(pid) from content_log where pid is not null', place.databaseUrl ?? '');
    await expect.poll(() => holders(all).filter((each) => each !== leader).length).toBe(1);
  }
});
