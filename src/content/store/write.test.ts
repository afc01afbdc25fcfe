import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { runs } from '../../../tests/world/runs.ts';
import { silent } from '../../lib/logging.ts';
import { reindexSome } from '../search/index.server.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { storeSections } from './navigation.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

let store: ContentStore;
beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
});
afterEach(() => store.close());

const section = (id: number) => ({
  id,
  slug: `s${id}`,
  name: `S${id}`,
  label: `S${id}`,
  homepageCount: 4,
  showInMedia: true,
  position: id,
  color: 'default' as const,
});
const version = (modified: string, title = modified) =>
  fixtureDocument({ type: 'articles', id: 1, slug: 'a', title, modified });
const at = (time: number) => ({ at: time, clock: 0 });
const title = (): string | undefined => createReader(store).article('a')?.title;

describe('an author’s new name', () => {
  it('is found by search after the author’s stories are reindexed in steps', () => {
    const named = (title: string, at: number) =>
      storeDocument(store, fixtureDocument({ type: 'authors', id: 5, slug: 'a5', title }), { at, clock: 0 });
    named('Orla Quist', 1);
    for (let id = 10; id < 35; id++) {
      storeDocument(store, fixtureDocument({ type: 'articles', id, slug: `s${id}`, authorId: 5 }), {
        at: id,
        clock: 0,
      });
    }
    named('Bram Yewdale', 100);
    const found = (words: string): number => createReader(store).search(words).total;
    expect([found('Quist'), found('Yewdale')]).toEqual([25, 0]);
    let steps = 0;
    while (reindexSome(store, 10)) steps++;
    expect(steps).toBe(3);
    expect([found('Quist'), found('Yewdale')]).toEqual([0, 25]);
  });
});

it('a story that editors turn into a video is no longer a story', () => {
  storeSections(store, [section(1)]);
  const story = fixtureDocument({ type: 'articles', id: 1, slug: 'a', title: 'Heliotrope', terms: [1] });
  storeDocument(store, story, at(10));
  expect(createReader(store).search('heliotrope').total).toBe(1);
  const film = fixtureDocument({ type: 'video', id: 1, slug: 'a', title: 'Heliotrope', terms: [1] });
  const { tags } = storeDocument(store, film, at(20));
  expect([...tags]).toEqual(
    expect.arrayContaining(['article:1', 'card:1', 'latest', 'section:s1', 'slug:articles:a', 'video:1', 'videos']),
  );
  const reader = createReader(store);
  expect([reader.article('a'), reader.articles({}).total, reader.search('heliotrope').total]).toEqual([null, 0, 0]);
  expect([reader.videos({}).items.map(({ id }) => id), reader.resolveSlug('articles', 'a').kind]).toEqual([
    [1],
    'gone',
  ]);
});

it('a late withdrawal of the story that a video was leaves the video, and one of the video removes it', () => {
  storeDocument(store, fixtureDocument({ type: 'articles', id: 12, slug: 'a' }), at(10));
  storeDocument(store, fixtureDocument({ type: 'video', id: 12, slug: 'a' }), at(20));
  const late = withdrawDocument(store, 12, at(30), 'articles');
  expect([late.status, late.tags.size]).toEqual(['stale', 0]);
  expect(createReader(store).video('a')?.id).toBe(12);
  expect(withdrawDocument(store, 12, at(40), 'video').status).toBe('withdrawn');
  expect(createReader(store).video('a')).toBeNull();
  // Before the new type arrives, the former one is withdrawn as usual.
  storeDocument(store, fixtureDocument({ type: 'articles', id: 13, slug: 'b' }), at(50));
  expect(withdrawDocument(store, 13, at(60), 'articles').status).toBe('withdrawn');
  expect(storeDocument(store, fixtureDocument({ type: 'video', id: 13, slug: 'b' }), at(70)).status).toBe('created');
});

describe('an answer from WordPress', () => {
  it('wins if it was requested later, even with an older version (a restored revision)', () => {
    storeDocument(store, version('2026-11-20T12:00:00Z'), at(10));
    expect(storeDocument(store, version('2026-11-19T12:00:00Z'), at(20)).status).toBe('changed');
    expect(title()).toBe('2026-11-19T12:00:00Z');
  });

  it('is stale if it was requested earlier and arrives later', () => {
    storeDocument(store, version('2026-11-20T12:00:00Z', 'new'), at(20));
    expect(storeDocument(store, version('2026-11-20T12:00:00Z', 'old'), at(10)).status).toBe('stale');
    expect(title()).toBe('new');
  });

  it('wins if it was requested earlier but was modified later', () => {
    storeDocument(store, version('2026-11-20T12:00:00Z', 'old'), at(20));
    expect(storeDocument(store, version('2026-11-20T12:00:05Z', 'new'), at(10)).status).toBe('changed');
    expect(title()).toBe('new');
  });

  it('restores a withdrawn document only if it was requested after the withdrawal', () => {
    storeDocument(store, version('2026-11-20T12:00:00Z'), at(10));
    expect(withdrawDocument(store, 1, at(20)).status).toBe('withdrawn');
    expect(storeDocument(store, version('2026-11-20T12:00:00Z'), at(15)).status).toBe('stale');
    expect(title()).toBeUndefined();
    expect(storeDocument(store, version('2026-11-20T12:00:00Z'), at(30)).status).toBe('created');
    expect(withdrawDocument(store, 1, at(25)).status).toBe('stale');
    expect(title()).toBeDefined();
  });
});

describe('authors', () => {
  const author = { id: 9, name: 'Ada', slug: 'ada', excerpt: '', image: null };
  it('are taken from the article until their own document arrives', () => {
    storeDocument(store, fixtureDocument({ type: 'articles', id: 1, slug: 'a', authorId: 9, author }), at(1));
    expect(createReader(store).author('ada')?.name).toBe('Ada');
    storeDocument(store, fixtureDocument({ type: 'authors', id: 9, slug: 'ada', title: 'Ada Own' }), at(2));
    storeDocument(
      store,
      fixtureDocument({ type: 'articles', id: 1, slug: 'a', authorId: 9, author, title: 'x' }),
      at(3),
    );
    expect(createReader(store).article('a')?.byline.authors[0]?.name).toBe('Ada Own');
  });

  it('are found by search under the name in their own document', () => {
    storeDocument(store, fixtureDocument({ type: 'articles', id: 1, slug: 'a', authorId: 9, author }), at(1));
    storeDocument(store, fixtureDocument({ type: 'authors', id: 9, slug: 'ada', title: 'Grace Hopper' }), at(2));
    while (reindexSome(store));
    expect(
      createReader(store)
        .search('hopper')
        .items.map(({ id }) => id),
    ).toEqual([1]);
    expect(createReader(store).search('ada').total).toBe(0);
  });
});

it('totals and lists match the documents after any sequence of writes and withdrawals', () => {
  storeSections(store, [section(1), section(2), section(3)]);
  const day = fc.integer({ min: 1, max: 28 }).map((number) => `2026-11-${String(number).padStart(2, '0')}T12:00:00Z`);
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('store' as const),
      id: fc.integer({ min: 1, max: 8 }),
      date: day,
      terms: fc.subarray([1, 2, 3]),
      people: fc.shuffledSubarray([91, 92, 93]),
      authors: fc.integer({ min: 0, max: 3 }),
    }),
    fc.record({ kind: fc.constant('withdraw' as const), id: fc.integer({ min: 1, max: 8 }) }),
  );
  let clock = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const held = new Map<number, { date: string; terms: number[]; people: number[] }>();
      for (let id = 1; id <= 8; id++) withdrawDocument(store, id, at(++clock));
      for (const each of steps) {
        if (each.kind === 'withdraw') {
          withdrawDocument(store, each.id, at(++clock));
          held.delete(each.id);
          continue;
        }
        const { id, date, terms, people } = each;
        const [authors, contributors] = [people.slice(0, each.authors), people.slice(each.authors)];
        const facts =
          people.length === authors.length && people.length < 2
            ? {}
            : { byline: { authors, contributors, agency: null } };
        const document = fixtureDocument({ type: 'articles', id, date, terms, authorId: authors[0] ?? null, facts });
        storeDocument(store, document, at(++clock));
        held.set(id, { date, terms, people });
      }
      const expected = (keep: (one: { terms: number[]; people: number[] }) => boolean): number[] =>
        [...held]
          .filter(([, one]) => keep(one))
          .sort(([a, one], [b, other]) => (one.date < other.date ? 1 : one.date > other.date ? -1 : b - a))
          .map(([id]) => id);
      const reader = createReader(store);
      const check = (filter: Parameters<typeof reader.articles>[0], ids: number[]): void => {
        const { items, total } = reader.articles({ ...filter, limit: 100 });
        expect(items.map(({ id }) => id)).toEqual(ids);
        expect(total).toBe(ids.length);
      };
      check(
        {},
        expected(() => true),
      );
      for (const term of [1, 2, 3])
        check(
          { section: `s${term}` },
          expected(({ terms }) => terms.includes(term)),
        );
      check(
        { authorId: 91 },
        expected(({ people }) => people.includes(91)),
      );
      check(
        { authorId: 91, section: 's2' },
        expected(({ people, terms }) => people.includes(91) && terms.includes(2)),
      );
      check(
        { exclude: [1, 2, 99] },
        expected(() => true).filter((id) => id > 2),
      );
    }),
    { numRuns: runs(20, 200) },
  );
});
