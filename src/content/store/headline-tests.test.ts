import { afterEach, beforeEach, expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import type { HeadlineTest } from '../../lib/content/model.ts';
import { silent } from '../../lib/logging.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

let store: ContentStore;
let clock = 0;
const at = () => ({ at: ++clock, clock: 0 });
beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
});
afterEach(() => store.close());

const test = (part: Partial<HeadlineTest> = {}): HeadlineTest => ({
  id: '0123456789abcdef',
  state: 'running',
  started: '2026-11-25T12:00:00Z',
  others: [{ title: 'Second', image: null }],
  ...part,
});
const put = (given: HeadlineTest | null, part: object = {}) => {
  const facts = { access: 'default' as const, words: 9, minutes: 1, ...(given && { test: given }) };
  return storeDocument(
    store,
    fixtureDocument({ type: 'articles', id: 1, slug: 'story', title: 'Own', facts, ...part }),
    at(),
  );
};

it('a card has its story’s headline test, and keeps the story’s own title', () => {
  put(test());
  const reader = createReader(store);
  const [card] = reader.articles({}).items;
  expect([card?.title, card?.test]).toEqual(['Own', test()]);
  expect(reader.tags).toContain('headline-tests');
  expect(reader.article('story')?.title).toBe('Own');
});

it('a page without a running headline test does not carry the tag headline-tests', () => {
  for (const given of [null, test({ state: 'won' })]) {
    put(given);
    const reader = createReader(store);
    reader.articles({});
    expect(reader.tags).not.toContain('headline-tests');
  }
});

it('the list of tested stories contains a story while its headline test runs', () => {
  const tested = () =>
    createReader(store)
      .testedStories()
      .map(({ id }) => id);
  put(null);
  expect(tested()).toEqual([]);
  put(test());
  expect(tested()).toEqual([1]);
  put(test({ others: [{ title: 'Other', image: null }] }), { date: '2026-11-24T10:00:00Z' });
  expect(tested()).toEqual([1]);
  put(test({ state: 'won' }));
  expect(tested()).toEqual([]);
  put(test());
  withdrawDocument(store, 1, at());
  expect(tested()).toEqual([]);
});

it('starting, changing or ending a headline test changes the story’s card', () => {
  put(null);
  for (const given of [test(), test({ others: [{ title: 'Other', image: null }] }), test({ state: 'won' }), null]) {
    expect([...put(given).tags]).toContain('card:1');
    expect([...put(given).tags]).not.toContain('card:1');
  }
});
