import { afterEach, beforeEach, expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { silent } from '../../lib/logging.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

let store: ContentStore;
let clock = 0;
const at = () => ({ at: ++clock, clock: 0 });
beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
  putAuthor('Ada Moss');
  putStory('First headline');
});
afterEach(() => store.close());

const putAuthor = (title: string) =>
  storeDocument(store, fixtureDocument({ type: 'authors', id: 7, slug: 'ada', title }), at());
const putStory = (title: string) =>
  storeDocument(store, fixtureDocument({ type: 'articles', id: 1, slug: 'story', title, authorId: 7 }), at());
const read = () => {
  const reader = createReader(store);
  const [card] = reader.articles({ ids: [1] }).items;
  return { card, tags: [...reader.tags].sort() };
};

it('a card is read from the database once, and each reader records the same tags', () => {
  const first = read();
  const again = read();
  expect(again.card).toBe(first.card);
  expect(again.tags).toEqual(first.tags);
  expect(first.tags).toEqual(['byline:7', 'card:1', 'navigation']);
});

it('a cached card is replaced when its article, its author or the sections change', () => {
  expect(read().card?.title).toBe('First headline');
  putStory('Second headline');
  expect(read().card?.title).toBe('Second headline');
  putAuthor('Ada Moss-Lee');
  expect(read().card?.byline.authors[0]?.name).toBe('Ada Moss-Lee');
  const before = read().card;
  store.invalidateCaches();
  expect(read().card).not.toBe(before);
});

it('a withdrawn article has no card, and a republished one has a new card', () => {
  read();
  withdrawDocument(store, 1, at());
  expect(read().card).toBeUndefined();
  putStory('Back again');
  expect(read().card?.title).toBe('Back again');
});

it('a card that was read inside a transaction is dropped when the transaction is rolled back', () => {
  expect(() =>
    store.transaction(() => {
      putStory('Never published');
      expect(read().card?.title).toBe('Never published');
      throw new Error('undone');
    }),
  ).toThrow('undone');
  expect(read().card?.title).toBe('First headline');
});

it('the card cache holds 2,000 cards, and drops the oldest one for the next', () => {
  const before = read().card;
  for (let id = 1000; id < 3000; id++) {
    storeDocument(store, fixtureDocument({ type: 'articles', id, slug: `story-${id}` }), at());
    createReader(store).articles({ ids: [id] });
  }
  expect(read().card).not.toBe(before);
  expect(read().card).toEqual(before);
});
