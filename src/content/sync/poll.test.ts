import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type FakeWordPress,
  fakeWordPress,
  restError,
  wireComment,
  wirePost,
  wireSection,
} from '../../../tests/fixtures/wordpress.ts';
import { runs } from '../../../tests/world/runs.ts';
import { silent } from '../../lib/logging.ts';
import { createLocalIngester } from '../ingest/ingester.server.ts';
import { documentTypes, openContentStore } from '../store/content-store.server.ts';
import { storedSections } from '../store/navigation.server.ts';
import { createReader } from '../store/reader.server.ts';
import { createClient } from '../wire/client.server.ts';
import { createApplier } from './apply.server.ts';
import { createNotifier } from './notifier.server.ts';
import { createPoll, type Poll } from './poll.server.ts';
import { createRefresh } from './refresh.server.ts';

const hour = 3600;
let wordpress: FakeWordPress;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 21, 12) });
  wordpress = fakeWordPress();
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
});
afterEach(() => void vi.useRealTimers());

const pass = (seconds: number): void => void vi.setSystemTime(Date.now() + seconds * 1000);
/** An instant as WordPress stamps it, by WordPress's clock. */
const stamp = (ahead = 0): string =>
  new Date(Date.now() + (wordpress.clockAhead + ahead) * 1000).toISOString().slice(0, 19);
/** Saves a document as an editor does; its date is so old that only the modification date shows the change. */
const save = (id: number, title: string, modified_gmt = stamp()): void =>
  void wordpress.put('articles', {
    id,
    ...wirePost({ id, date_gmt: '2026-01-01T00:00:00', modified_gmt, title: { rendered: title } }),
  });

/** The poll alone, without the slow walk that would find everything eventually. @param user signs in to WordPress */
function polling(user?: string): {
  poll: Poll;
  titles: () => Record<number, string>;
  comments: () => number[];
  sections: () => number[];
  ingested: () => number;
  rejected: () => string[];
} {
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  const now = (): number => Date.now();
  const client = createClient({ url: wordpress.url, user, password: user, fetch: wordpress.fetch, now, backOffMs: 1 });
  const ingester = createLocalIngester({
    wordpress: wordpress.url,
    site: 'https://sun.example',
    frameHosts: [],
    measure: async () => null,
  });
  const notifier = createNotifier({ store, log: silent });
  const applier = createApplier({ store, client, ingester, log: silent, now, notifier });
  const context = { store, client, applier, ingester, log: silent, now, siteUrl: 'https://sun.example' };
  const whole = { ...context, signal: new AbortController().signal };
  const titles = (): Record<number, string> =>
    Object.fromEntries(
      createReader(store)
        .articles({ limit: 1000 })
        .items.map(({ id, title }) => [id, title]),
    );
  const ids = (sql: string): number[] =>
    store
      .prepare(sql)
      .all()
      .map((row) => Number(row.id));
  return {
    poll: createPoll(whole, createRefresh(whole)),
    titles,
    comments: () => ids('SELECT id FROM comments ORDER BY id'),
    sections: () => storedSections(store).map(({ id }) => id),
    ingested: () => applier.counts.stored,
    rejected: () => {
      const rows = store.prepare('SELECT type, id FROM rejected ORDER BY id, type').all();
      return rows.map(({ type, id }) => `${type}/${id}`);
    },
  };
}

/** So many newer stories that the query for the newest does not return the others. */
const fill = (): void => {
  for (let id = 900; id < 930; id++)
    wordpress.put('articles', { id, ...wirePost({ id, date_gmt: '2026-11-01T00:00:00' }) });
};

it('a poll asks for one page of each list, even with 250 articles', async () => {
  const { poll } = polling();
  for (let id = 1; id <= 250; id++) save(id, `Story ${id}`, stamp(-id * hour));
  await poll.run();
  wordpress.requests.length = 0;
  await poll.run();
  const order = (path: string) => new URLSearchParams(path.split('?')[1]).get('orderby');
  const lists = wordpress.requests.map((path) => [path.split('/').at(-1)?.split('?')[0], order(path)].join(' by '));
  const byDate = ['articles', 'live-entries', 'video', 'crosswords', 'podcasts'];
  expect(lists.toSorted()).toEqual(
    [
      'alert by ',
      'menus by ',
      'categories by id',
      'comments by date_gmt',
      ...documentTypes.map((type) => `${type} by modified`),
      ...byDate.map((type) => `${type} by date`),
    ].toSorted(),
  );
});

describe('what WordPress says was withdrawn', () => {
  const withdrawn = (id: number, type = 'articles', event = 'unpublish'): void => {
    const row = (wordpress.changes ?? []).length + 1;
    wordpress.changes?.push({ row, delivery: `delivery-${row}`, event, type, id, slug: '' });
  };
  const unpublish = (id: number): void => {
    wordpress.put('articles', { id, ...wirePost({ id, status: 'draft', date_gmt: '2026-01-01T00:00:00' }) });
    withdrawn(id);
  };

  it('is withdrawn by the next poll, with comments, and is requested once', async () => {
    fill();
    for (const id of [1, 2]) save(id, 'Old');
    for (const id of [8, 9]) wordpress.put('comments', { id, ...wireComment({ id, post: 2 }) });
    const { poll, titles, comments } = polling('site');
    await poll.run();
    pass(60);
    unpublish(1);
    wordpress.remove('comments', 8);
    withdrawn(8, 'comments', 'comment');
    withdrawn(2, 'articles', 'update');
    await poll.run();
    expect([titles()[1], titles()[2], comments()]).toEqual([undefined, 'Old', [9]]);
    wordpress.requests.length = 0;
    await poll.run();
    expect(wordpress.requests.filter((path) => /include=|articles\/\d|comments\/\d/.test(path))).toEqual([]);
  });

  it.each([
    ['has no list of changes', null],
    ['doesn’t let the site read it', restError(403, 'rest_forbidden')],
    ['fails to make it', restError(500, 'broken')],
  ])('is left to the walk if WordPress %s, and the poll continues', async (_, answer) => {
    save(1, 'One');
    if (answer) wordpress.intercept = ({ url }) => (url.includes('/newsroom/v1/changes') ? answer.clone() : null);
    else wordpress.changes = null;
    const { poll, titles } = polling('site');
    await poll.run();
    expect(titles()).toEqual({ 1: 'One' });
  });
});

describe('what a poll cannot read', () => {
  const isAsked = ({ url }: Request, id: number): boolean => {
    const { pathname, searchParams } = new URL(url);
    return pathname.endsWith(`/articles/${id}`) || (searchParams.get('include') ?? '').split(',').includes(String(id));
  };

  it('a single broken story is set aside, and the others on its page are stored', async () => {
    for (let id = 1; id <= 3; id++) save(id, 'One');
    const { poll, titles, rejected } = polling();
    await poll.run();
    pass(60);
    for (let id = 1; id <= 3; id++) save(id, 'Two');
    wordpress.intercept = (request) => (isAsked(request, 2) ? restError(500, 'broken') : null);
    pass(60);
    await poll.run();
    expect(titles()).toEqual({ 1: 'Two', 2: 'One', 3: 'Two' });
    expect(rejected()).toEqual(['articles/2']);
    wordpress.requests.length = 0;
    pass(60);
    await poll.run();
    expect(wordpress.requests.filter((path) => /articles\/2\b|include=/.test(path))).toEqual([]);
    wordpress.intercept = null;
    save(2, 'Three');
    pass(60);
    await poll.run();
    expect([titles()[2], rejected()]).toEqual(['Three', []]);
  });

  it('a story whose live coverage has an unknown state is set aside and stays as it was', async () => {
    save(1, 'One');
    const { poll, titles, rejected } = polling();
    await poll.run();
    pass(60);
    wordpress.put('articles', { ...wirePost({ id: 1, live: { state: 'paused' } }), id: 1, modified_gmt: stamp() });
    await poll.run();
    expect([titles(), rejected()]).toEqual([{ 1: 'One' }, ['articles/1']]);
  });

  it('no story is set aside while WordPress is down', async () => {
    for (let id = 1; id <= 3; id++) save(id, 'One');
    const { poll, titles, rejected } = polling();
    await poll.run();
    pass(60);
    for (let id = 1; id <= 3; id++) save(id, 'Two');
    wordpress.intercept = ({ url }) =>
      /\/v2\/[a-z-]+\?(?!.*\binclude=)/.test(url) ? null : restError(500, 'it is down');
    await expect(poll.walk(1, new Set())).rejects.toThrow(/articles\/1\b.* 500/);
    expect([titles(), rejected()]).toEqual([{ 1: 'One', 2: 'One', 3: 'One' }, []]);
    wordpress.intercept = null;
    await poll.run();
    expect(titles()).toEqual({ 1: 'Two', 2: 'Two', 3: 'Two' });
  });

  it('an unreadable section is set aside and stays as it was until it is readable again', async () => {
    wordpress.put('categories', { id: 4, ...wireSection(4, 'money', 2) });
    const { poll, sections, rejected } = polling();
    await poll.run();
    for (const id of [4, 6]) {
      wordpress.put('categories', { ...wireSection(id, `section-${id}`, 4), id, name: { rendered: 'Money' } });
    }
    wordpress.put('categories', { id: 5, ...wireSection(5, 'sports', 3) });
    await poll.run();
    expect([sections(), rejected()]).toEqual([
      [3, 4, 5],
      ['categories/4', 'categories/6'],
    ]);
    wordpress.put('categories', { id: 4, ...wireSection(4, 'money', 2) });
    await poll.run();
    expect([sections(), rejected()]).toEqual([[3, 4, 5], ['categories/6']]);
    wordpress.remove('categories', 6);
    await poll.run();
    expect([sections(), rejected()]).toEqual([[3, 4, 5], []]);
  });

  it('unreadable menus, alerts and comments are set aside until a later answer is readable', async () => {
    save(1, 'One');
    const { poll, rejected, comments } = polling();
    wordpress.menus = [{ location: 7 }];
    wordpress.alert = { text: 7 };
    for (const id of [8, 9]) wordpress.put('comments', { ...wireComment({ id, post: 1 }), id, content: 7 });
    await poll.run();
    expect([rejected(), comments()]).toEqual([['alerts/0', 'menus/0', 'comments/8', 'comments/9'], []]);
    wordpress.menus = [];
    wordpress.alert = null;
    wordpress.put('comments', { id: 8, ...wireComment({ id: 8, post: 1 }) });
    wordpress.put('comments', { id: 9, ...wireComment({ id: 9, post: 1, status: 'spam' }) });
    await poll.run();
    await poll.walk(1, new Set());
    expect([rejected(), comments()]).toEqual([[], [8]]);
  });
});

describe('a poll finds an edit', () => {
  it.each([
    ['while WordPress’s clock is an hour fast, and after it is corrected', hour, 0],
    ['while WordPress’s clock is an hour slow, and after it is corrected', -hour, 0],
    ['after WordPress’s clock is set back an hour', 0, -hour],
    ['after WordPress’s clock is set ahead an hour', 0, hour],
  ])('%s', async (_, first, then) => {
    fill();
    wordpress.clockAhead = first;
    save(1, 'One');
    const { poll, titles } = polling();
    await poll.run();
    pass(30);
    save(1, 'Two');
    await poll.run();
    expect(titles()[1]).toBe('Two');
    pass(1);
    wordpress.clockAhead = then;
    pass(1);
    save(1, 'Three');
    pass(600);
    await poll.run();
    expect(titles()[1]).toBe('Three');
    pass(60);
    save(1, 'Four');
    pass(3 * hour);
    await poll.run();
    expect(titles()[1]).toBe('Four');
  });

  it('among documents that an import dated in the future, and fetches those only once', async () => {
    fill();
    for (let id = 100; id < 130; id++) save(id, 'Imported', '2031-01-01T00:00:00');
    save(1, 'One');
    const { poll, titles, ingested } = polling();
    await poll.run();
    pass(30);
    save(1, 'Two');
    pass(5);
    await poll.run();
    expect(titles()[1]).toBe('Two');
    const before = ingested();
    wordpress.requests.length = 0;
    await poll.run();
    expect(wordpress.requests.filter((request) => request.includes('include='))).toEqual([]);
    expect(ingested()).toBe(before);
    save(100, 'Edited');
    await poll.run();
    expect(titles()[100]).toBe('Edited');
  });

  it('whatever WordPress’s clock and the modification date say, with one edit between two polls', async () => {
    const step = fc.record({
      wait: fc.constantFrom(1, 30, 700, 2 * hour),
      ahead: fc.constantFrom(-hour, 0, hour),
      id: fc.integer({ min: 1, max: 3 }),
      /** Stamped by an import, years ahead. */
      future: fc.boolean(),
      later: fc.constantFrom(1, 60, 5 * hour),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
        wordpress.store.articles.clear();
        wordpress.clockAhead = 0;
        fill();
        const { poll, titles } = polling();
        await poll.run();
        let version = 0;
        for (const { wait, ahead, id, future, later } of steps) {
          pass(wait);
          wordpress.clockAhead = ahead;
          const title = `Version ${++version}`;
          save(id, title, stamp(future ? 5 * 365 * 24 * hour : 0));
          pass(later);
          await poll.run();
          expect(titles()[id], JSON.stringify(steps)).toBe(title);
        }
      }),
      { numRuns: runs(8, 60) },
    );
  });
});

describe('a poll of long lists', () => {
  const keys = (list: string, order: string): (string | null)[] =>
    wordpress.requests
      .filter((path) => path.startsWith(`/wp/v2/${list}?`) && path.includes(`orderby=${order}`))
      .map((path) => new URL(path, 'http://wordpress.example').searchParams.get('after_key'));

  it('finds every change, even within one second, while stories are changed and withdrawn', async () => {
    fill();
    const { poll, titles } = polling();
    await poll.run();
    pass(600);
    for (let id = 1; id <= 250; id++) save(id, 'One', stamp(-Math.floor(id / 120)));
    wordpress.requests.length = 0;
    let page = 0;
    wordpress.intercept = ({ url }) => {
      if (!url.includes('orderby=modified') || !url.includes('/articles') || ++page !== 2) return null;
      // By modification date, these were on the pages before the second one.
      for (let id = 240; id <= 250; id++) wordpress.remove('articles', id);
      for (const id of [200, 201]) save(id, 'Two');
      return null;
    };
    await poll.run();
    expect([1, 119, 120, 199, 200, 201, 239].map((id) => titles()[id])).toEqual([
      ...['One', 'One', 'One', 'One'],
      ...['Two', 'Two', 'One'],
    ]);
    const stories = Object.keys(titles()).filter((id) => Number(id) < 240);
    expect(stories).toHaveLength(239);
    expect(keys('articles', 'modified')).toEqual([null, `${stamp(-1)},178`, expect.stringMatching(/,\d+$/u)]);
  });

  it('finds new comments while others are approved and removed, and a walk over all ids finds the rest', async () => {
    save(1, 'One');
    const comment = (id: number, seconds = 0): void =>
      void wordpress.put('comments', { id, ...wireComment({ id, post: 1, date_gmt: stamp(seconds) }) });
    const { poll, comments } = polling();
    await poll.run();
    for (let id = 1; id <= 250; id++) comment(id, Math.floor(id / 60));
    wordpress.requests.length = 0;
    let page = 0;
    wordpress.intercept = ({ url }) => {
      if (!url.includes('/comments') || ++page !== 2) return null;
      for (let id = 241; id <= 250; id++) wordpress.remove('comments', id);
      comment(251, 10);
      return null;
    };
    await poll.run();
    expect(comments().filter((id) => id <= 240)).toEqual(Array.from({ length: 240 }, (_, at) => 1 + at));
    expect(keys('comments', 'date_gmt')).toEqual([null, `${stamp(2)},151`, `${stamp(0)},51`]);
    wordpress.requests.length = 0;
    while (!(await poll.walk(1, new Set([...documentTypes]))));
    expect(comments()).toEqual([...Array.from({ length: 240 }, (_, at) => 1 + at), 251]);
    expect(keys('comments', 'id')).toEqual([null, '100', '200']);
  });

  it('keeps every other section when categories are deleted between two pages', async () => {
    for (let id = 10; id < 260; id++) wordpress.put('categories', { id, ...wireSection(id, `section-${id}`, id) });
    const { poll, sections } = polling();
    let page = 0;
    wordpress.intercept = ({ url }) => {
      if (url.includes('/categories') && ++page === 2) for (const id of [10, 11]) wordpress.remove('categories', id);
      return null;
    };
    await poll.run();
    expect(sections().filter((id) => id > 11)).toEqual([...Array.from({ length: 248 }, (_, at) => 12 + at)]);
    expect(keys('categories', 'id')).toEqual([null, '108', '208']);
  });
});

describe('the walk over all ids', () => {
  const all = (poll: Poll): Promise<boolean> => poll.walk(1000, new Set());
  const walked = (): string[] =>
    wordpress.requests.filter((path) => path.startsWith('/wp/v2/articles?') && path.includes('orderby=id'));
  const keys = (name: string): (string | null)[] =>
    walked().map((path) => new URL(path, 'http://wordpress.example').searchParams.get(name));

  it('pages by key, and by offset when the plugin ignores the parameter', async () => {
    for (let id = 1; id <= 350; id++) save(id, 'One');
    const { poll, titles } = polling();
    expect(await all(poll)).toBe(true);
    expect(Object.keys(titles())).toHaveLength(350);
    expect(keys('after_key')).toEqual([null, '100', '200', '300']);
    wordpress.requests.length = 0;
    wordpress.pagesByKey = false;
    save(350, 'Two');
    expect(await all(poll)).toBe(true);
    expect(titles()[350]).toBe('Two');
    // The first answer shows it, and is not asked for again.
    expect(keys('after_key')).toEqual([null, '100', null, null, null]);
    expect(keys('offset')).toEqual(['0', null, '100', '200', '300']);
    wordpress.requests.length = 0;
    expect(await all(poll)).toBe(true);
    expect(keys('offset')).toEqual(['0', '100', '200', '300']);
    wordpress.pagesByKey = true;
  });

  it('misses nothing when documents are removed and added between two pages', async () => {
    for (let id = 1; id <= 250; id++) save(id, 'One');
    const { poll, titles } = polling();
    await all(poll);
    // Changed with an old modification date, which a poll doesn't notice: only the walk finds it.
    for (const id of [101, 150, 250]) save(id, 'Two', '2020-01-01T00:00:00');
    const finished = new Set<string>();
    await poll.walk(1, finished);
    for (let id = 1; id <= 60; id++) wordpress.remove('articles', id);
    save(260, 'New');
    while (!(await poll.walk(1, finished)));
    expect([101, 150, 250, 260].map((id) => titles()[id])).toEqual(['Two', 'Two', 'Two', 'New']);
    await all(poll);
    expect(Object.keys(titles()).map(Number)).toEqual(Array.from({ length: 190 }, (_, at) => 61 + at).concat(260));
  });
});
