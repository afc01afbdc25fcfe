/** Market prices of a cluster: requested by one node, shown by all. */
import { afterEach, expect, it } from 'vitest';
import { follower, holders, openNodes, stopNodes } from '../../../tests/world/cluster-nodes.ts';
import { prepare } from '../../../tests/world/databases.ts';
import { publication } from '../../publication.ts';

const engines = prepare('postgres');
afterEach(stopNodes);

it('market prices are requested once for all nodes, by the lease holder or the node that succeeds it', async () => {
  let now = Date.now();
  let requests = 0;
  let price = 100;
  const provider = {
    async quotes() {
      requests++;
      return new Map([['SPX', { price, change: 1, percent: 1 }]]);
    },
  };
  const { all } = await openNodes(engines, 3, { of: () => ({ provider, now: () => now }) });
  const prices = () => all.map(({ ticker }) => ticker.known()[0]?.price);
  const repaints = () => all.map(({ changes }) => changes.filter(({ tags }) => tags.has('ticker')).length);
  await expect.poll(prices).toEqual([100, 100, 100]);
  await expect.poll(repaints).toEqual([1, 1, 1]);
  expect(requests).toBe(1);

  // Readers of any node want newer prices a minute later: one request, and pages stay as they are.
  now += publication.ticker.everySeconds * 1000;
  price = 101;
  await Promise.all([...all, ...all].map(({ ticker }) => ticker.quotes()));
  await expect.poll(prices).toEqual([101, 101, 101]);
  expect(requests).toBe(2);
  expect(repaints()).toEqual([1, 1, 1]);

  // A reader of another node alone.
  now += publication.ticker.everySeconds * 1000;
  price = 102;
  await follower(all).ticker.quotes();
  await expect.poll(prices).toEqual([102, 102, 102]);
  expect(requests).toBe(3);

  // A node that becomes the holder continues at once.
  const [first] = holders(all);
  const left = all.filter((each) => each !== first);
  now += publication.ticker.everySeconds * 1000;
  price = 103;
  await first?.stop();
  await expect.poll(() => left.map(({ ticker }) => ticker.known()[0]?.price)).toEqual([103, 103]);
  await expect
    .poll(() => left.map(({ changes }) => changes.filter(({ tags }) => tags.has('ticker')).length))
    .toEqual([2, 2]);
  expect(requests).toBe(4);
});
