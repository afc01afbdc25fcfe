import { expect, it } from 'vitest';
import { silent } from '../../lib/logging.ts';
import type { PageStore } from '../store/page-store.server.ts';
import { StoreUnavailable } from '../store/sqlite-file.server.ts';
import { createTagChanges } from './cache-state.ts';
import { encode } from './compressor.server.ts';
import { createLru } from './lru.ts';
import { createPageCache } from './page-cache.server.ts';

it('no change is lost, however many there are until the store can record them', () => {
  let full = true;
  const recorded = { tags: new Set<string>(), withdrawn: new Set<string>() };
  const store: Partial<PageStore> = {
    onReset() {},
    foreignWrites: () => 1,
    latest: () => 0,
    tagged: () => [],
    change(tags, withdrawn) {
      if (full) throw new StoreUnavailable('database or disk is full');
      for (const tag of tags) recorded.tags.add(tag);
      for (const tag of withdrawn) recorded.withdrawn.add(tag);
      return { seq: 1, withdrawn: [], affected: [] };
    },
  };
  const cache = createPageCache({
    store: store as PageStore,
    lru: createLru(1000),
    changes: createTagChanges(null),
    headersOf: (page) => page.headers,
    encode: async (...given) => encode(...given),
    log: silent,
    now: Date.now,
    everything: null,
    unwrittenBytes: 0,
  });
  for (let n = 0; n < 10_003; n++) cache.change([`article:${n}`], [`audio:${n}`]);
  expect(cache.recorded).toBe(false);
  full = false;
  cache.catchUp();
  expect(cache.recorded).toBe(true);
  expect(recorded.tags.size).toBe(10_003);
  expect(recorded.withdrawn.size).toBe(10_003);
});
