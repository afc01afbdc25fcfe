import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { runs } from '../../../tests/world/runs.ts';
import { silent } from '../../lib/logging.ts';
import { type ContentStore, openContentStore } from '../store/content-store.server.ts';
import { storeSections } from '../store/navigation.server.ts';
import { createReader } from '../store/reader.server.ts';
import { storeDocument } from '../store/write.server.ts';
import { readQuery, toMatch } from './words.server.ts';

let store: ContentStore;
beforeAll(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
  const base = { homepageCount: 4, showInMedia: true, color: 'default' as const };
  storeSections(store, [{ ...base, id: 1, slug: 'politics', name: 'Politics', label: 'Politics', position: 1 }]);
  let clock = 0;
  const put = (id: number, title: string, excerpt: string, searchText: string, terms: number[] = []): void => {
    const date = `2026-11-${10 + (id % 10)}T12:00:00Z`;
    storeDocument(store, fixtureDocument({ type: 'articles', id, title, excerpt, searchText, terms, date }), {
      at: ++clock,
      clock: 0,
    });
  };
  put(1, 'A bridge for the harbour', 'Work begins.', 'Nothing else of note here.', [1]);
  put(2, 'Budget passed', 'A bridge is in it.', 'The council sat late.');
  put(3, 'Weather', 'Rain.', 'The bridge stays closed while it rains, and the harbour too.');
  put(4, "O'Brien's café", 'Long-term plans.', 'Naïve readers wrote letters. Running costs rose.');
  for (let id = 100; id < 1400; id++)
    put(id, `Notice ${id}`, 'Tender.', 'The usual commonplace wording.', id < 1200 ? [1] : []);
});
afterAll(() => store.close());
const ids = (query: string, filter = {}): number[] =>
  createReader(store)
    .search(query, filter)
    .items.map(({ id }) => id);

describe('search', () => {
  it('ranks titles above excerpts, and excerpts above bodies', () => expect(ids('bridge')).toEqual([1, 2, 3]));
  it('requires every word of the query', () => expect(ids('bridge harbour')).toEqual([1, 3]));
  it('treats quoted words as a phrase', () => {
    expect(ids('"bridge for the harbour"')).toEqual([1]);
    expect(ids('"harbour bridge"')).toEqual([]);
    // A phone's keyboard writes these.
    expect(ids('“harbour bridge”')).toEqual([]);
    expect(ids('“bridge for the harbour”')).toEqual([1]);
  });
  it('finds other forms of a word, beginnings of words, and words without their accents', () => {
    expect(ids('bridges')).toEqual([1, 2, 3]);
    expect(ids('harb')).toEqual([1, 3]);
    expect(ids('cafe')).toEqual([4]);
    expect(ids("o'brien")).toEqual([4]);
    expect(ids('long-term')).toEqual([4]);
  });
  it('filters by section and date', () => {
    expect(ids('bridge', { section: 'politics' })).toEqual([1]);
    expect(ids('bridge', { since: '2026-11-12T00:00:00Z' })).toEqual([2, 3]);
    expect(ids('bridge', { section: 'nowhere' })).toEqual([]);
    // So many results that they aren't ranked.
    const page = ids('commonplace', { section: 'politics', limit: 100 });
    expect([page.length, page.filter((id) => id >= 1200)]).toEqual([100, []]);
  });
  it('returns a snippet around each match, with the match marked', () => {
    const { items } = createReader(store).search('harbour');
    expect(items.map(({ snippet }) => snippet)).toEqual([
      'A bridge for the \u0001harbour\u0002',
      'The bridge stays closed while it rains, and the \u0001harbour\u0002 too.',
    ]);
  });
  it('pages through 1,300 matches, and returns each exactly once', () => {
    const seen = new Set<number>();
    for (let offset = 0; offset < 1300; offset += 100) {
      const { items, total } = createReader(store).search('commonplace', { offset, limit: 100 });
      expect(total).toBe(1300);
      for (const { id } of items) seen.add(id);
    }
    expect(seen.size).toBe(1300);
  });
  it('never throws, whatever a reader types', () => {
    const operators = fc.constantFrom(
      '"',
      '*',
      '(',
      ')',
      ':',
      '^',
      '-',
      '+',
      ' AND ',
      ' OR ',
      ' NOT ',
      ' NEAR(',
      '{title}',
      'title:',
      "'",
      ';',
      '\0',
      '\\',
      '%',
      'bridge',
      'é',
      '\ud800',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(operators, { maxLength: 12 }).map((parts) => parts.join('')),
        ),
        (query) => {
          const { items, total } = createReader(store).search(query, { limit: 3 });
          expect(items.length).toBeLessThanOrEqual(total);
        },
      ),
      { numRuns: runs(60, 2000) },
    );
  });
});

describe('toMatch', () => {
  const both = (text: string) => {
    const query = readQuery(text);
    return query && [toMatch(query), toMatch(query, { lastAsPrefix: true })];
  };

  it('quotes every term', () => {
    expect(both('bridge NOT harbour')).toEqual([
      '"bridge" AND "NOT" AND "harbour"',
      '"bridge" AND "NOT" AND "harbour" *',
    ]);
    expect(both('"a b" c')).toEqual(['"a b" AND "c"', '"a b" AND "c"']);
    expect(both(' -- ')).toBeNull();
  });

  it('uses at most 12 terms, and 12 words of a phrase', () => {
    expect(readQuery('word '.repeat(100))?.terms).toHaveLength(12);
    expect(readQuery(`"${'w '.repeat(200)}"`)?.terms[0]?.words).toHaveLength(12);
  });
});
