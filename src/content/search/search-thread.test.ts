import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { silent } from '../../lib/logging.ts';
import { isSearchBusy } from '../../lib/search/model.ts';
import { type ContentStore, openContentStore } from '../store/content-store.server.ts';
import { createReader } from '../store/reader.server.ts';
import { storeDocument, withdrawDocument } from '../store/write.server.ts';
import { type FoundIds, searchArticles } from './search.server.ts';
import {
  createSearchThread,
  type SearchThread,
  type SearchThreadOptions,
  searchInThread,
} from './search-thread.server.ts';

let folder: string;
let store: ContentStore;
let thread: SearchThread | null = null;
let clock = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'search-thread-'));
  store = openContentStore({ file: join(folder, 'content.sqlite'), origin: null, log: silent });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await thread?.close();
  thread = null;
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const put = (id: number, title: string) =>
  storeDocument(store, fixtureDocument({ type: 'articles', id, title }), { at: ++clock, clock: 0 });

function open(options: Partial<SearchThreadOptions> = {}): SearchThread {
  thread = createSearchThread({
    file: store.file,
    log: silent,
    rebuilds: () => store.rebuilds,
    searchLocally: (text, filter) => searchArticles(store, text, filter),
    ...options,
  });
  return thread;
}

/** Searching in the main thread is an error: a test of the search thread must not fall back on it. */
const here = (): never => {
  throw new Error('searched in the thread of the pages');
};

/** A thread whose answers depend on the query: the query `end` ends it, `slow` takes a while, and anything else finds 7. */
const scripted = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ id, task: { text } }) => {
      if (text === 'end') process.exit(1);
      const answer = () => parentPort.postMessage({ id, result: { hits: [], total: 7, added: [] } });
      if (text === 'slow') setTimeout(answer, 100);
      else answer();
    });
  `)}`,
);
const outcomes = async (asked: readonly Promise<FoundIds>[]): Promise<(number | 'busy' | 'failed')[]> =>
  (await Promise.allSettled(asked)).map((each) =>
    each.status === 'fulfilled' ? each.value.total : isSearchBusy(each.reason) ? 'busy' : 'failed',
  );

describe('the search thread', () => {
  it('finds what a search in the main thread finds, in the current content', async () => {
    for (let id = 1; id <= 30; id++) put(id, id % 3 === 0 ? 'The bridge opens' : `Notice ${id}`);
    const reader = createReader(store, open({ searchLocally: here }));
    const both = async (query: string, filter = {}) => {
      const aside = await reader.searchAsync(query, filter);
      expect(aside).toEqual(createReader(store).search(query, filter));
      return aside.items.map(({ id }) => id);
    };
    expect(await both('bridge', { limit: 3 })).toHaveLength(3);
    expect(await both('brigde', { offset: 8, limit: 10 })).toHaveLength(2);
    expect(await both('"(')).toEqual([]);
    put(31, 'Another bridge');
    expect(await both('another bridge')).toEqual([31]);
    withdrawDocument(store, 31, { at: ++clock, clock: 0 });
    expect(await both('another bridge')).toEqual([]);
    expect(await both('bridge', { section: 'no-such-section' })).toEqual([]);
  });

  it('continues with the new file after the content store was rebuilt', async () => {
    put(1, 'A bridge');
    const reader = createReader(store, open({ searchLocally: here }));
    expect((await reader.searchAsync('bridge')).total).toBe(1);
    store.rebuild('a test');
    expect((await reader.searchAsync('bridge')).total).toBe(0);
    put(2, 'A bridge again');
    expect((await reader.searchAsync('bridge')).items.map(({ id }) => id)).toEqual([2]);
  });

  it('refuses a search that would wait too long, at once or when its turn comes', async () => {
    const full = open({ module: scripted, maxWaiting: 2 });
    expect(await outcomes(['slow', 'a', 'b', 'c', 'd'].map((text) => full.ask(text, {})))).toEqual([
      7,
      7,
      7,
      'busy',
      'busy',
    ]);
    await full.close();
    // A clock of the test's own: on a busy machine the start of the thread alone may take longer than the limit.
    let clock = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => clock);
    const hasty = open({ module: scripted, timeoutMs: 1000 });
    const late = outcomes(['slow', 'b'].map((text) => hasty.ask(text, {})));
    clock += 1001;
    expect(await late).toEqual([7, 'busy']);
  });

  it('fails the search that crashes it, and answers the others', async () => {
    const error = vi.fn();
    const lost = open({ module: scripted, log: { ...silent, error } });
    await lost.ask('a', {});
    expect(await outcomes(['end', 'b'].map((text) => lost.ask(text, {})))).toEqual(['failed', 7]);
    expect(error).toHaveBeenCalledTimes(1);
  });

  it('is replaced by the main thread if it can’t start, and fails open searches when it is closed', async () => {
    put(1, 'A bridge');
    const none = open({ module: new URL('data:text/javascript,throw new Error("no threads")') });
    expect((await none.ask('bridge', {})).total).toBe(1);
    expect((await none.ask('ferry', {})).total).toBe(0);
    await none.close();
    const closed = open({ module: scripted });
    const left = outcomes(['slow', 'a'].map((text) => closed.ask(text, {})));
    await closed.close();
    expect(await left).toEqual(['failed', 'failed']);
    expect(await outcomes([closed.ask('a', {})])).toEqual(['failed']);
  });
});

describe('the cache of search results', () => {
  it('runs one search for identical queries until the content changes', async () => {
    const asked: PromiseWithResolvers<FoundIds>[] = [];
    const fake: SearchThread = {
      ask: () => {
        const answer = Promise.withResolvers<FoundIds>();
        asked.push(answer);
        return answer.promise;
      },
      close: async () => {},
    };
    const ask = () => searchInThread(store, fake, 'bridge', {});
    const found = (total: number): FoundIds => ({ hits: [], total, added: [] });
    const first = [ask(), ask()];
    put(1, 'A bridge');
    const second = ask();
    expect(asked).toHaveLength(2);
    asked[0]?.resolve(found(0));
    asked[1]?.resolve(found(1));
    expect((await Promise.all([...first, second])).map(({ total }) => total)).toEqual([0, 0, 1]);
    expect((await ask()).total).toBe(1);
    expect(asked).toHaveLength(2);
    put(2, 'A bridge');
    const third = ask();
    asked[2]?.reject(new Error('gone'));
    await expect(third).rejects.toThrow('gone');
    void ask();
    // Failed queries aren't cached.
    expect(asked).toHaveLength(4);
  });
});
