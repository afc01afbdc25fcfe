import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { silent } from '../../lib/logging.ts';
import { type ContentStore, openContentStore } from '../store/content-store.server.ts';
import { createReader } from '../store/reader.server.ts';
import { storeDocument, withdrawDocument } from '../store/write.server.ts';
import { createIndexWork, mergeSome, reindexSome } from './index.server.ts';

let store: ContentStore;
beforeEach(() => {
  vi.useFakeTimers();
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
  const named = (title: string, at: number) =>
    storeDocument(store, fixtureDocument({ type: 'authors', id: 5, slug: 'a5', title }), { at, clock: 0 });
  named('Orla Quist', 1);
  for (let id = 10; id < 20; id++) {
    const story = fixtureDocument({ type: 'articles', id, slug: `s${id}`, authorId: 5 });
    storeDocument(store, story, { at: id, clock: 0 });
  }
  named('Bram Yewdale', 100);
});
afterEach(() => {
  store.close();
  vi.useRealTimers();
});

const found = () => createReader(store).search('Yewdale').total;

it('reindexing waits until there has been no change for a second, and ends when all is indexed', () => {
  const reindexer = createIndexWork(silent, () => reindexSome(store), 1000);
  for (let change = 0; change < 20; change++) {
    reindexer.postpone();
    vi.advanceTimersByTime(900);
  }
  expect(found()).toBe(0);
  vi.advanceTimersByTime(2000);
  expect(found()).toBe(10);
  expect(vi.getTimerCount()).toBe(0);
});

it('reindexing goes on during endless changes, and not after it is stopped', () => {
  const reindexer = createIndexWork(silent, () => reindexSome(store), 1000);
  for (let change = 0; change < 3100; change++) {
    reindexer.postpone();
    vi.advanceTimersByTime(100);
  }
  expect(found()).toBe(10);
  reindexer.stop();
  reindexer.postpone();
  expect(vi.getTimerCount()).toBe(0);
});

it('index segments are merged in steps, and searches find the same stories afterward', () => {
  // Each piece of the index has blocks of its own.
  const blocks = (): number => Number(store.prepare('SELECT count(*) AS n FROM search_data').get()?.n);
  while (reindexSome(store));
  while (mergeSome(store));
  const joined = blocks();
  for (let at = 0; at < 7; at++) {
    const story = fixtureDocument({ type: 'articles', id: 10, slug: 's10', authorId: 5, title: `Quarry ${at}` });
    storeDocument(store, story, { at: 1000 + at, clock: 0 });
  }
  expect(blocks()).toBeGreaterThan(joined + 6);
  let steps = 0;
  while (mergeSome(store)) steps++;
  expect(steps).toBeGreaterThan(0);
  expect(blocks()).toBeLessThan(joined + 4);
  expect(
    createReader(store)
      .search('Quarry')
      .items.map(({ id }) => id),
  ).toEqual([10]);
  expect(found()).toBe(10);
});

it('stories are found by an author who comes after them, and no longer by one who is withdrawn', () => {
  const stories = (name: string) => createReader(store).search(name).total;
  for (const id of [30, 31])
    storeDocument(store, fixtureDocument({ type: 'articles', id, slug: `s${id}`, authorId: 6 }), { at: id, clock: 0 });
  const author = fixtureDocument({ type: 'authors', id: 6, slug: 'a6', title: 'Ines Vandermolen' });
  storeDocument(store, author, { at: 200, clock: 0 });
  while (reindexSome(store));
  expect(stories('Vandermolen')).toBe(2);
  withdrawDocument(store, 6, { at: 300, clock: 0 });
  while (reindexSome(store));
  expect(stories('Vandermolen')).toBe(0);
});

it('an author without stories causes no reindexing', () => {
  while (reindexSome(store));
  const author = fixtureDocument({ type: 'authors', id: 7, slug: 'a7', title: 'Piet Bakker' });
  storeDocument(store, author, { at: 200, clock: 0 });
  expect(reindexSome(store)).toBe(false);
});
