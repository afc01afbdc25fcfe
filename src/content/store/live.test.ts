import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fixtureAuthors, fixtureDocument } from '../../../tests/fixtures/content.ts';
import type { AccessLevel, LiveCoverage } from '../../lib/content/model.ts';
import { silent } from '../../lib/logging.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { indexNewEntries } from './live-search.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

let store: ContentStore;
let clock = 0;
beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
});
afterEach(() => store.close());

const coverage: LiveCoverage = { state: 'live', started: '2026-11-25T10:00:00Z', ended: null };
const at = () => ({ at: ++clock, clock: 0 });
const story = (id: number, live: LiveCoverage | null = coverage, access: AccessLevel = 'free') =>
  storeDocument(
    store,
    fixtureDocument({
      type: 'articles',
      id,
      slug: `story-${id}`,
      facts: { access, words: 9, minutes: 1, ...(live && { live }) },
    }),
    at(),
  );
interface Part {
  readonly story?: number;
  readonly minute?: number;
  readonly pinned?: boolean;
  readonly keyEvent?: boolean;
  readonly title?: string;
  readonly html?: string;
}
const entryOf = (id: number, part: Part = {}) => {
  const {
    story: of = 1,
    minute = id,
    pinned = false,
    keyEvent = false,
    title = `Entry ${id}`,
    html = `<p>${id}</p>`,
  } = part;
  const date = `2026-11-25T11:${String(minute).padStart(2, '0')}:00Z`;
  const facts = { story: of, pinned, keyEvent };
  return fixtureDocument({
    type: 'live-entries',
    id,
    slug: `e-${id}`,
    title,
    bodyHtml: html,
    date,
    modified: date,
    facts,
  });
};
const put = (id: number, part: Part = {}) => storeDocument(store, entryOf(id, part), at());
const read = () => createReader(store);
const ids = (list?: 'story' | 'pinned' | 'key') =>
  read()
    .liveEntries(1, { list })
    .items.map(({ id }) => id);

it('live entries are listed newest first, page by page, and by ID if their times are equal', () => {
  story(1);
  for (const id of [11, 13, 12]) put(id);
  put(14, { minute: 13 });
  put(99, { story: 2 });
  expect(ids()).toEqual([14, 13, 12, 11]);
  expect(read().liveEntries(1, { offset: 1, limit: 2 })).toMatchObject({ total: 4, items: [{ id: 13 }, { id: 12 }] });
  const entry = read().liveEntry(12);
  expect(entry && read().livePlace(entry)).toBe(2);
});

it('pinned live entries are listed separately, and the key events include both', () => {
  story(1);
  put(11, { keyEvent: true });
  put(12, { pinned: true, keyEvent: true });
  expect([ids(), ids('pinned'), ids('key')]).toEqual([[11], [12], [12, 11]]);
  put(12);
  expect([ids(), ids('pinned'), ids('key')]).toEqual([[12, 11], [], [11]]);
});

it('a new live entry changes only itself and its story', () => {
  story(1);
  expect([...put(11).tags].sort()).toEqual(['entry:11', 'live:1', 'slug:live-entries:e-11']);
  expect([...put(11, { title: 'New' }).tags].sort()).toEqual(['entry:11', 'live:1']);
  expect(put(11, { title: 'New' }).tags.size).toBe(0);
  const moved = put(11, { story: 2, title: 'New' });
  expect([...moved.tags].sort()).toEqual(['entry:11', 'live:1', 'live:2']);
});

it('the state of a live story depends on its current entries, not on how they arrived', () => {
  story(1);
  const empty = read().liveState(1);
  put(11);
  const one = read().liveState(1);
  put(12);
  const both = read().liveState(1);
  put(12, { html: '<p>Changed</p>' });
  const changed = read().liveState(1);
  expect(new Set([empty, one, both, changed]).size).toBe(4);
  withdrawDocument(store, 12, at());
  expect(read().liveState(1)).toBe(one);
  withdrawDocument(store, 11, at());
  expect(read().liveState(1)).toBe(empty);
  put(12);
  put(11);
  expect(read().liveState(1)).toBe(both);
});

it('an older answer changes neither a live entry nor the story’s state', () => {
  story(1);
  const late = at();
  put(11, { title: 'Newer' });
  const state = read().liveState(1);
  expect(
    storeDocument(store, { ...entryOf(11, { title: 'Older' }), modified: '2026-11-25T11:00:00Z' }, late).status,
  ).toBe('stale');
  expect([read().liveState(1), read().liveEntry(11)?.title]).toEqual([state, 'Newer']);
});

it('a withdrawn live entry disappears, as do a withdrawn story’s entries until it returns', () => {
  story(1);
  put(11);
  put(12);
  const { tags } = withdrawDocument(store, 12, at());
  expect([...tags].sort()).toEqual(['entry:12', 'live:1', 'slug:live-entries:e-12']);
  expect([ids(), read().liveEntry(12)]).toEqual([[11], null]);
  withdrawDocument(store, 1, at());
  expect([read().liveEntry(11), read().liveStories()]).toEqual([null, []]);
  story(1);
  expect(read().liveEntry(11)?.id).toBe(11);
});

it('liveStories returns the stories that are live now, with access level and path', () => {
  story(1, coverage, 'subscriber');
  story(2, { ...coverage, state: 'ended', ended: '2026-11-25T12:00:00Z' });
  story(3, null);
  put(11);
  expect(read().liveStories()).toEqual([
    { id: 1, path: '/article/story-1', access: 'subscriber', state: read().liveState(1) },
  ]);
  expect(read().article('story-2')?.live?.ended).toBe('2026-11-25T12:00:00Z');
  expect(read().article('story-3')?.live).toBeNull();
  put(31, { story: 3 });
  expect(read().liveEntry(31)).toBeNull();
});

it('a live entry shows its author, and gets a new version when what it shows changes', () => {
  story(1);
  const [author] = fixtureAuthors;
  storeDocument(
    store,
    fixtureDocument({ type: 'authors', id: author.id, slug: author.slug, title: author.name }),
    at(),
  );
  put(11);
  const before = read().liveEntry(11)?.version;
  storeDocument(store, { ...entryOf(11), authorId: author.id }, at());
  const reader = read();
  expect(reader.liveEntry(11)).toMatchObject({ author: { name: author.name } });
  expect(reader.liveEntry(11)?.version).not.toBe(before);
  expect([...reader.tags]).toEqual(expect.arrayContaining(['entry:11', `byline:${author.id}`, 'article:1']));
});

it('the position of an entry among 10,000 live entries is counted through the primary key', () => {
  story(1);
  store.transaction(() => {
    for (let id = 1000; id < 11_000; id++) put(id, { minute: id % 60 });
  });
  const page = read().liveEntries(1, { offset: 9980, limit: 20 });
  expect([page.total, page.items.length]).toEqual([10_000, 20]);
  const entry = read().liveEntry(5019);
  if (!entry) throw new Error('The entry is missing.');
  const reader = read();
  const prepare = vi.spyOn(store, 'prepare');
  const listed = Array.from({ length: 10_000 }, (_, index) => 1000 + index);
  const newer = listed.filter((id) => id % 60 > 5019 % 60 || (id % 60 === 5019 % 60 && id > 5019));
  expect(reader.livePlace(entry)).toBe(newer.length);
  const queries = prepare.mock.calls.map(([sql]) => sql);
  expect(queries).toHaveLength(1);
  const plan = store.prepare(`EXPLAIN QUERY PLAN ${queries[0]}`).all('live-entries:story:1', entry.date, entry.id);
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining('PRIMARY KEY (list=? AND (date,id)')]);
});

it('a card says that its story is live, and changes when coverage begins or ends', () => {
  const card = () => read().articles({ ids: [1] }).items[0];
  story(1, null);
  expect(card()).not.toHaveProperty('isLive');
  expect([...story(1).tags]).toContain('card:1');
  expect(card()?.isLive).toBe(true);
  // Cards don't show when the coverage began.
  expect([...story(1, { ...coverage, started: '2026-11-25T09:00:00Z' }).tags]).not.toContain('card:1');
  expect([...story(1, { ...coverage, state: 'ended' }).tags]).toContain('card:1');
  expect(card()).not.toHaveProperty('isLive');
});

describe('search in live coverage', () => {
  const found = (words: string) => {
    while (indexNewEntries(store));
    return read()
      .search(words, {})
      .items.map(({ id }) => id);
  };

  it('finds a story by the current text of its entries', () => {
    story(1);
    put(11, { title: 'Heliotrope', html: '<p>The <em>quorum</em> is there.</p>' });
    expect([found('heliotrope'), found('quorum')]).toEqual([[1], [1]]);
    put(11, { title: 'Heliotrope', html: '<p>All of them stayed.</p>' });
    expect([found('quorum'), found('stayed')]).toEqual([[], [1]]);
    put(11, { story: 2, title: 'Heliotrope' });
    expect(found('heliotrope')).toEqual([]);
    story(2);
    expect(found('heliotrope')).toEqual([2]);
  });

  it('drops a withdrawn entry at once', () => {
    story(1);
    put(11, { title: 'Heliotrope' });
    expect(found('heliotrope')).toEqual([1]);
    withdrawDocument(store, 11, at());
    expect(read().search('heliotrope', {}).items).toEqual([]);
    expect(store.prepare("SELECT docs FROM words WHERE word = 'heliotrope'").get()).toBeUndefined();
  });

  it('finds entries that arrived before their story, and entries of ended coverage', () => {
    put(11, { title: 'Heliotrope' });
    expect(found('heliotrope')).toEqual([]);
    story(1, { ...coverage, state: 'ended' });
    expect(found('heliotrope')).toEqual([1]);
    story(1, null);
    expect(found('heliotrope')).toEqual([]);
  });

  it('never contains the entries of a registered or paid story', () => {
    story(1, coverage, 'subscriber');
    put(11, { title: 'Heliotrope' });
    expect(found('heliotrope')).toEqual([]);
    story(1);
    expect(found('heliotrope')).toEqual([1]);
    story(1, coverage, 'registered');
    put(12, { title: 'Heliotrope again' });
    expect(found('heliotrope')).toEqual([]);
  });

  it('contains only the newest entries of a long story, and indexes several new ones at once', () => {
    story(1);
    store.transaction(() => {
      for (let id = 100; id < 160; id++)
        put(id, { minute: id - 100, title: `Entry w${id}`, html: `<p>${'word '.repeat(400)}</p>` });
    });
    expect([indexNewEntries(store), indexNewEntries(store)]).toEqual([true, false]);
    expect([found('w159'), found('w145'), found('w100')]).toEqual([[1], [1], []]);
    const { length } = String(store.prepare('SELECT body FROM search').get()?.body);
    expect(length).toBeLessThan(45_000);
  });
});

it('a recording in a live entry has the access level of its story', () => {
  story(1, coverage, 'subscriber');
  put(11, { html: '<audio src="https://cms.example/a.mp3"></audio>' });
  const reader = createReader(store);
  expect(reader.audio(11, 1)).toEqual({
    slug: 'story-1',
    access: 'subscriber',
    url: 'https://cms.example/a.mp3',
    type: '',
  });
  expect([...reader.tags]).toEqual(expect.arrayContaining(['entry:11', 'article:1']));
  expect([reader.audio(11, 0), reader.audio(11, 2), reader.audio(12, 1)]).toEqual([null, null, null]);
});
