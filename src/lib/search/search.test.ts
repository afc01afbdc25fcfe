import { expect, it } from 'vitest';
import { silent } from '../logging.ts';
import type { HostedFeed } from './model.ts';
import { createSearch } from './search.server.ts';

it('logs a failure of a hosted engine and does not throw it at the caller', () => {
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
    hosted: { query: async () => ({ ok: false, problem: 'away' }), feed, reach: 1000 },
    log: { ...silent, error: (_, text) => void said.push(text ?? '') },
  });
  search.changed(['article:1']);
  expect(said).toEqual(['A change could not be queued for the hosted search']);
});
