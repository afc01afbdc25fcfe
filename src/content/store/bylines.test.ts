import { afterEach, beforeEach, expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { silent } from '../../lib/logging.ts';
import type { BylineFacts } from '../ingest/document.ts';
import { reindexSome } from '../search/index.server.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

let store: ContentStore;
let clock = 0;
const at = () => ({ at: ++clock, clock: 0 });
beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
  for (const [id, name] of [
    [7, 'Ada Moss'],
    [8, 'Ben Lee'],
    [9, 'Cy Park'],
  ] as const)
    putAuthor(id, name);
});
afterEach(() => store.close());

const putAuthor = (id: number, title: string, facts = {}) =>
  storeDocument(store, fixtureDocument({ type: 'authors', id, slug: `writer-${id}`, title, facts }), at());
const story = (byline: Partial<BylineFacts>, part = {}) => {
  const all = { authors: [], contributors: [], agency: null, ...byline };
  return fixtureDocument({
    type: 'articles',
    id: 1,
    slug: 'story',
    authorId: all.authors[0] ?? null,
    facts: { access: 'default', words: 9, minutes: 1, byline: all },
    ...part,
  });
};
const put = (byline: Partial<BylineFacts>, part = {}) => storeDocument(store, story(byline, part), at());
const named = (people: readonly { name: string }[] | undefined) => people?.map(({ name }) => name);
const total = (authorId: number) => createReader(store).articles({ authorId }).total;
const found = (query: string) => createReader(store).search(query).total;

it('a card and its story name all authors, contributors and the agency in the editors’ order', () => {
  put({ authors: [8, 7], contributors: [9], agency: { name: 'Associated Press', url: '' } });
  const [card] = createReader(store).articles({}).items;
  expect([named(card?.byline.authors), named(card?.byline.contributors), card?.byline.agency?.name]).toEqual([
    ['Ben Lee', 'Ada Moss'],
    ['Cy Park'],
    'Associated Press',
  ]);
  const article = createReader(store).article('story');
  expect(article?.byline.authors[0]).toMatchObject({ name: 'Ben Lee', excerpt: expect.any(String) });
  expect(named(article?.byline.contributors)).toEqual(['Cy Park']);
});

it('a story is listed under each of its authors and contributors, and no longer under a removed one', () => {
  const tagsOf = (change: { tags: ReadonlySet<string> }) =>
    [...change.tags].filter((tag) => tag.startsWith('author:')).sort();
  expect(tagsOf(put({ authors: [7, 8], contributors: [9] }))).toEqual(['author:7', 'author:8', 'author:9']);
  expect([7, 8, 9].map(total)).toEqual([1, 1, 1]);
  expect(createReader(store).articles({ ids: [1], authorId: 9 }).total).toBe(1);
  expect(tagsOf(put({ authors: [7], contributors: [9] }))).toEqual(['author:8']);
  expect([7, 8, 9].map(total)).toEqual([1, 0, 1]);
  // Swapping authors and contributors changes the card, not the lists.
  const moved = put({ authors: [9], contributors: [7] });
  expect([tagsOf(moved), moved.tags.has('card:1')]).toEqual([[], true]);
  withdrawDocument(store, 1, at());
  expect([7, 8, 9].map(total)).toEqual([0, 0, 0]);
});

it('a page with a story carries the tags of everyone in the byline, even of a missing author', () => {
  put({ authors: [7, 77], contributors: [9] });
  const tagsOf = (read: (reader: ReturnType<typeof createReader>) => unknown) => {
    const reader = createReader(store);
    read(reader);
    return [...reader.tags].filter((tag) => /^(?:byline|profile):/.test(tag)).sort();
  };
  expect(tagsOf((reader) => reader.articles({}))).toEqual(['byline:7', 'byline:77', 'byline:9']);
  expect(tagsOf((reader) => reader.article('story'))).toEqual(['byline:7', 'byline:77', 'byline:9', 'profile:7']);
  expect(putAuthor(77, 'Late Comer').tags.has('byline:77')).toBe(true);
  expect(named(createReader(store).article('story')?.byline.authors)).toEqual(['Ada Moss', 'Late Comer']);
});

it.each([
  ['a story', 'articles'],
  ['a video', 'video'],
  ['a crossword', 'crosswords'],
  ['an entry of live coverage', 'live-entries'],
] as const)('%s has its author’s name as soon as the author is published', (_, type) => {
  const read = () => {
    const reader = createReader(store);
    const found = {
      articles: () => reader.article('late')?.byline.authors[0],
      video: () => reader.video('late')?.author,
      crosswords: () => reader.crossword('late')?.author,
      'live-entries': () => reader.liveEntry(1)?.author,
    }[type]();
    return { name: found?.name ?? null, tags: reader.tags };
  };
  put({}, { id: 2, facts: { live: { state: 'live', started: null, ended: null } } });
  const facts = type === 'live-entries' ? { story: 2 } : {};
  storeDocument(store, fixtureDocument({ type, id: 1, slug: 'late', authorId: 77, facts }), at());
  const before = read();
  expect(before.name).toBeNull();
  const change = putAuthor(77, 'Late Comer');
  expect(before.tags.intersection(change.tags).size).toBeGreaterThan(0);
  expect(read().name).toBe('Late Comer');
});

it('a deleted author is left out of a byline, and the others stay', () => {
  put({ authors: [7, 8], contributors: [9] });
  const change = withdrawDocument(store, 7, at(), 'authors');
  expect(change.tags.has('byline:7')).toBe(true);
  withdrawDocument(store, 9, at(), 'authors');
  const article = createReader(store).article('story');
  expect([named(article?.byline.authors), named(article?.byline.contributors)]).toEqual([['Ben Lee'], []]);
});

it('search finds a story by every name in its byline, also after a name has changed', () => {
  put({ authors: [7, 8], contributors: [9], agency: { name: 'Meridian Wire', url: '' } });
  expect(['Moss', 'Lee', 'Park', 'Meridian'].map(found)).toEqual([1, 1, 1, 1]);
  for (const [id, name] of [
    [8, 'Ben Quist'],
    [9, 'Cy Yewdale'],
  ] as const)
    putAuthor(id, name);
  while (reindexSome(store));
  expect(['Moss', 'Lee', 'Quist', 'Park', 'Yewdale', 'Meridian'].map(found)).toEqual([1, 0, 1, 0, 1, 1]);
});

it('authors who are known only from a story have pages, which their own documents replace', () => {
  const embedded = (id: number, name: string) => ({ id, name, slug: `writer-${id}`, excerpt: '', image: null });
  put(
    { authors: [21, 22], contributors: [23] },
    { author: embedded(21, 'Uma'), others: [embedded(22, 'Vic'), embedded(23, 'Wes')] },
  );
  const pages = () => [21, 22, 23].map((id) => createReader(store).author(`writer-${id}`)?.name);
  expect(pages()).toEqual(['Uma', 'Vic', 'Wes']);
  putAuthor(22, 'Victor');
  expect(pages()).toEqual(['Uma', 'Victor', 'Wes']);
});

it('an author’s role changes only the author’s own pages', () => {
  expect(createReader(store).author('writer-7')?.role).toBeUndefined();
  expect([...putAuthor(7, 'Ada Moss', { role: 'Critic' }).tags]).toEqual(['profile:7']);
  expect(createReader(store).author('writer-7')?.role).toBe('Critic');
});
