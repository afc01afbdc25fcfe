import { expect, it, onTestFinished, vi } from 'vitest';
import type { ContentReader } from '../content/reader.ts';
import { silent } from '../logging.ts';
import type { HostedFeed } from './model.ts';
import { createSearch } from './search.server.ts';

it('a failure to queue a change for the hosted search engine is logged and not thrown', () => {
  const said: string[] = [];
  const feed: HostedFeed = {
    changed() {
      throw new Error('ENOSPC: no space left on device');
    },
    stats: () => ({ pending: 0, failed: 0, problem: null }),
    start: () => {},
    stop: async () => {},
    idle: async () => {},
  };
  const search = createSearch({
    hosted: { query: async () => ({ ok: false, problem: 'away' }), feed, mostHits: 1000 },
    log: { ...silent, error: (_, text) => void said.push(text ?? '') },
  });
  search.changed(['article:1']);
  expect(said).toEqual(['A change could not be queued for the hosted search']);
});

it('a failed hosted search engine is tried again after 15 seconds even if the clock was set back', async () => {
  const ahead = Date.now() + 86_400_000;
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: ahead });
  onTestFinished(() => void vi.useRealTimers());
  const query = vi.fn(async () => ({ ok: false as const, problem: 'away' }));
  const search = createSearch({ hosted: { query, feed: null, mostHits: 1000 }, log: silent });
  const content = { searchAsync: async () => ({ items: [], total: 0, added: [] }) } as unknown as ContentReader;
  for (let time = 0; time < 4; time++) await search.find(content, 'bridge', {});
  expect(query).toHaveBeenCalledTimes(3);
  vi.setSystemTime(ahead - 86_400_000);
  vi.advanceTimersByTime(15_000);
  await search.find(content, 'bridge', {});
  expect(query).toHaveBeenCalledTimes(4);
});

it('a page beyond the engine’s last hit isn’t counted as a fallback', async () => {
  const query = vi.fn(async () => ({ ok: false as const, problem: 'away' }));
  const search = createSearch({ hosted: { query, feed: null, mostHits: 1000 }, log: silent });
  const content = { searchAsync: async () => ({ items: [], total: 0, added: [] }) } as unknown as ContentReader;
  await search.find(content, 'bridge', { offset: 1000, limit: 10 });
  expect([query.mock.calls.length, search.stats().fallbacks]).toEqual([0, 0]);
  await search.find(content, 'bridge', { offset: 990, limit: 10 });
  expect([query.mock.calls.length, search.stats().fallbacks]).toEqual([1, 1]);
});
