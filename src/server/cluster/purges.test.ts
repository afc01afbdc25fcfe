import { expect, it, onTestFinished, vi } from 'vitest';
import { createPurges } from './purges.ts';

function fixture() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const node = { epoch: null as number | null, isConnected: true, waitForAllNodes: async () => true };
  const confirmPurges = vi.fn(async (_revision: number, _epoch: number) => {});
  const purges = createPurges(node, { confirmPurges });
  const lead = (epoch: number): void => {
    node.epoch = epoch;
    purges.begin(epoch);
  };
  return { node, purges, lead, confirmPurges };
}

it('a node purges a change that the holder may have purged before this node showed it', async () => {
  const { node, purges } = fixture();
  const arrived = () => purges.arrived(1);
  expect(await arrived().freshEverywhere()).toBe(false);
  const slow = arrived();
  await vi.advanceTimersByTimeAsync(6000);
  expect(await slow.freshEverywhere()).toBe(true);

  const disconnected = arrived();
  node.isConnected = false;
  expect(await disconnected.freshEverywhere()).toBe(true);
  const missed = arrived();
  node.isConnected = true;
  expect(await missed.freshEverywhere()).toBe(true);
});

it('the holder records a purge when the CDN has confirmed it and all earlier ones', async () => {
  const { purges, lead, confirmPurges } = fixture();
  lead(7);
  const [first, second] = [purges.arrived(2), purges.arrived(3)];
  second.purged();
  await purges.repeat({ revision: 1, tags: [] });
  await vi.advanceTimersByTimeAsync(0);
  expect(confirmPurges.mock.calls).toEqual([[1, 7]]);
  first.purged();
  await vi.advanceTimersByTimeAsync(0);
  expect(confirmPurges.mock.calls).toEqual([
    [1, 7],
    [2, 7],
    [3, 7],
  ]);
});

it('nothing counts as purged before the purges of the previous holder are repeated', async () => {
  const { purges, lead, confirmPurges } = fixture();
  const sent = Promise.withResolvers<void>();
  const purge = vi.fn((_tags: readonly string[]) => sent.promise);
  purges.repeatWith(purge);
  lead(7);
  purges.arrived(2).purged();
  void purges.repeat({ revision: 1, tags: ['card:1'] });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(purge.mock.calls).toEqual([[['card:1']]]);
  expect(confirmPurges).not.toHaveBeenCalled();
  sent.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(confirmPurges.mock.calls).toEqual([
    [1, 7],
    [2, 7],
  ]);
});

it('a holder that has lost the lease purges what arrived before, and repeats nothing', async () => {
  const { node, purges, lead, confirmPurges } = fixture();
  const purge = vi.fn(async () => {});
  purges.repeatWith(purge);
  lead(7);
  const arrived = purges.arrived(2);
  node.epoch = null;
  await purges.repeat({ revision: 1, tags: ['card:1'] });
  expect(purge).not.toHaveBeenCalled();
  expect(await arrived.freshEverywhere()).toBe(true);
  expect(await purges.arrived(3).freshEverywhere()).toBe(false);
  arrived.purged();
  await vi.advanceTimersByTimeAsync(0);
  expect(confirmPurges).not.toHaveBeenCalled();
});
