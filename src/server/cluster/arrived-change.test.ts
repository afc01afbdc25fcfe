import { expect, it, onTestFinished, vi } from 'vitest';
import { createConditions } from '../../lib/jobs/conditions.ts';
import { arrivedChange } from './arrived-change.ts';

it('a node purges a change that the holder may have purged before this node showed it', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const node = { epoch: null, isConnected: true, waitForAllNodes: async () => true };
  const arrived = () => arrivedChange(node, 1, createConditions());
  const inTime = arrived().freshEverywhere();
  const slow = arrived();
  await vi.advanceTimersByTimeAsync(6000);
  expect(await slow.freshEverywhere()).toBe(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await inTime).toBe(false);

  const disconnected = arrived();
  node.isConnected = false;
  expect(await disconnected.freshEverywhere()).toBe(true);
  const missed = arrived();
  node.isConnected = true;
  expect(await missed.freshEverywhere()).toBe(true);
});
