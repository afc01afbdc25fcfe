import { expect, it, vi } from 'vitest';
import { createChangeFeed } from './change-feed.ts';

const change = { tags: new Set(['article:1']), withdrawn: [] };

it('the change feed calls subscribers in order before publish returns, and returns the addresses that they made fresh', async () => {
  const feed = createChangeFeed();
  const calls: string[] = [];
  feed.follow({
    changed() {
      calls.push('pictures');
      return undefined;
    },
  });
  expect(await feed.publish(change)).toBeUndefined();
  calls.length = 0;
  feed.follow({
    changed: async () => {
      calls.push('press');
      return ['/article/a', '/'];
    },
  });
  const fresh = feed.publish(change);
  expect(calls).toEqual(['pictures', 'press']);
  expect(await fresh).toEqual(['/article/a', '/']);
});

it('the change feed is durable only while all its subscribers are', () => {
  const feed = createChangeFeed();
  const durable = vi.fn(() => true);
  feed.follow({ changed: () => undefined });
  feed.follow({ changed: () => undefined, durable });
  expect(feed.durable()).toBe(true);
  durable.mockReturnValue(false);
  expect(feed.durable()).toBe(false);
});
