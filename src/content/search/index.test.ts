import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import type { SearchFilter } from '../../lib/content/reader.ts';
import { silent } from '../../lib/logging.ts';
import type { IngestedDocument } from '../ingest/document.ts';
import { type ContentStore, openContentStore } from '../store/content-store.server.ts';
import { storeSections } from '../store/navigation.server.ts';
import { createReader } from '../store/reader.server.ts';
import { storeDocument, withdrawDocument } from '../store/write.server.ts';

let store: ContentStore;
let clock = 0;
const put = (id: number, part: Partial<IngestedDocument> = {}) =>
  storeDocument(store, fixtureDocument({ type: 'articles', id, ...part }), { at: ++clock, clock: 0 });
const search = (query: string, filter: SearchFilter = {}) => createReader(store).search(query, filter);
const ids = (query: string, filter: SearchFilter = {}): number[] => search(query, filter).items.map(({ id }) => id);
const docs = (word: string): number =>
  Number(store.prepare('SELECT docs FROM words WHERE word = ?').get(word)?.docs ?? 0);

beforeAll(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
  const base = { homepageCount: 4, showInMedia: true, color: 'default' as const };
  storeSections(store, [{ ...base, id: 1, slug: 'politics', name: 'Politics', label: 'Politics', position: 1 }]);
});
afterAll(() => store.close());

describe('search results by date', () => {
  it('are ordered and filtered by publication date, also after it has changed', () => {
    put(30, { title: 'Ferry', searchText: 'x', date: '2026-01-01T00:00:00Z' });
    put(10, { title: 'Ferry', searchText: 'x', date: '2026-03-01T00:00:00Z' });
    put(20, { title: 'Ferry', searchText: 'x', date: '1891-02-01T00:00:00Z' });
    expect(ids('ferry')).toEqual([10, 30, 20]);
    put(20, { title: 'Ferry', searchText: 'x', date: '2026-02-01T00:00:00Z' });
    expect(ids('ferry')).toEqual([10, 20, 30]);
    expect(ids('ferry', { since: '2026-01-15T00:00:00Z', until: '2026-03-01T00:00:00Z' })).toEqual([20]);
    expect(ids('ferry', { since: '2026-03-01T00:00:00Z' })).toEqual([10]);
    expect(ids('ferry', { until: '1950-01-01T00:00:00Z' })).toEqual([]);
    // The day after 9999-12-31, and midnight of New York on the first day of all.
    expect(ids('ferry', { until: '+010000-01-01T05:00:00.000Z' })).toEqual([10, 20, 30]);
    expect(ids('ferry', { since: '-000001-12-31T04:56:02.000Z' })).toEqual([10, 20, 30]);
  });

  it('can include 300 stories that were published at the same time', () => {
    for (let id = 5000; id < 5300; id++) put(id, { title: 'Archived', date: '2001-01-01T00:00:00Z', excerpt: 'Old.' });
    expect(search('archived').total).toBe(300);
    expect(new Set(ids('archived', { limit: 300 })).size).toBe(300);
    for (let id = 5000; id < 5300; id++) withdrawDocument(store, id, { at: ++clock, clock: 0 });
    expect(search('archived').total).toBe(0);
  });
});

describe('the section filter of search', () => {
  it('finds stories by their current section, and can’t be triggered by typed text', () => {
    put(40, { title: 'Quarry', terms: [1] });
    expect(ids('quarry', { section: 'politics' })).toEqual([40]);
    put(40, { title: 'Quarry', terms: [] });
    expect(ids('quarry', { section: 'politics' })).toEqual([]);
    put(40, { title: 'Quarry', terms: [1] });
    for (const typed of ['\ue0001', '1', '"\ue0001"', 'facets : 1']) expect(ids(typed), typed).not.toContain(40);
  });
});

describe('a misspelled word in a search', () => {
  beforeAll(() => {
    put(50, { title: 'Harbour dredged', searchText: 'Philadelphia is far.', excerpt: 'Mud.' });
    put(51, { title: 'Harbour opens', searchText: 'A lighthouse, too.', excerpt: 'Ships.' });
  });

  it.each([
    ['hrabour', 'two letters swapped'],
    ['harbuor', 'two letters swapped'],
    ['harrbour', 'one letter too many'],
    ['harbur', 'one letter missing'],
    ['harbpur', 'one wrong letter'],
    ['narbour', 'a wrong first letter'],
  ])('is corrected to “harbour”: %s (%s)', (typed) => {
    expect(search(typed)).toMatchObject({ total: 2, added: ['harbour'] });
    expect(search(`${typed} opens`).items.map(({ id }) => id)).toEqual([51]);
  });

  it('may have two mistakes if it is long', () => {
    expect(search('Philidelpha')).toMatchObject({ total: 1, added: ['philadelphia'] });
    expect(search('ligthhuose').items.map(({ id }) => id)).toEqual([51]);
  });

  it('is corrected up to four times in a query, but not five times', () => {
    put(52, { title: 'Cathedral Magnolia Sapphire Telegraph Umbrella' });
    expect(search('catehdral mangolia saphire telegarph umbrella').items.map(({ id }) => id)).toEqual([52]);
    expect(search('umbrella catehdral mangolia saphire telegarph').total).toBe(1);
    expect(search('catehdral mangolia saphire telegarph umbrela').total).toBe(0);
  });

  it('is not corrected if it is found as typed, is short or quoted, or is a number', () => {
    expect(search('harbour').added).toEqual([]);
    expect(search('harb').added).toEqual([]);
    expect(search('xhips')).toMatchObject({ total: 1, added: ['ships'] });
    expect(search('mug')).toMatchObject({ total: 0, added: [] });
    expect(search('"hrabour"')).toMatchObject({ total: 0, added: [] });
    expect(search('19999')).toMatchObject({ total: 0, added: [] });
  });
});

describe('the vocabulary for spelling corrections', () => {
  it('contains only words of the current stories', () => {
    put(60, { title: 'Zeppelin', searchText: 'zeppelin quagmire' });
    put(61, { title: 'Zeppelin again', searchText: 'another' });
    expect(docs('zeppelin')).toBe(2);
    put(60, { title: 'Balloon', searchText: 'quagmire' });
    expect([docs('zeppelin'), docs('quagmire'), docs('balloon')]).toEqual([1, 1, 1]);
    withdrawDocument(store, 60, { at: ++clock, clock: 0 });
    withdrawDocument(store, 61, { at: ++clock, clock: 0 });
    expect([docs('zeppelin'), docs('quagmire'), docs('balloon')]).toEqual([0, 0, 0]);
    expect(search('quagmyre')).toMatchObject({ total: 0, added: [] });
  });

  it('counts a word once for each story, in whichever of its texts the word is', () => {
    put(60, { title: 'Zeppelin', searchText: 'zeppelin quagmire' });
    put(60, { title: 'Quagmire', searchText: 'zeppelin quagmire' });
    expect([docs('zeppelin'), docs('quagmire')]).toEqual([1, 1]);
    put(60, { title: 'Quagmire again', searchText: 'balloon' });
    expect([docs('zeppelin'), docs('quagmire'), docs('balloon')]).toEqual([0, 1, 1]);
  });

  it('contains no words from the paid part of a story', () => {
    const facts = { access: 'subscriber' as const, words: 480, minutes: 2, commentsOpen: true };
    put(62, {
      openingHtml: '<p>Open words.</p>',
      bodyHtml: '<p>Open words.</p><p>Xylograph.</p>',
      facts,
      searchText: 'xylograph',
    });
    expect([docs('xylograph'), docs('words')]).toEqual([0, 1]);
    expect(search('xylographs')).toMatchObject({ total: 0, added: [] });
    expect(search('xylogrpah')).toMatchObject({ total: 0, added: [] });
  });
});

describe('cached search results', () => {
  it('are dropped when a story is stored or withdrawn', () => {
    expect(ids('carillon')).toEqual([]);
    put(70, { title: 'Carillon' });
    expect(ids('carillon')).toEqual([70]);
    withdrawDocument(store, 70, { at: ++clock, clock: 0 });
    expect(ids('carillon')).toEqual([]);
  });
});

describe('search among 1,500 stories', () => {
  beforeAll(() => {
    store.transaction(() => {
      for (let id = 10_000; id < 11_500; id++) {
        const date = new Date(Date.UTC(2020, 0, 1) + id * 3_600_000).toISOString();
        const title = id % 500 === 0 ? 'Commonplace' : id % 300 === 0 ? 'The bishop' : `Notice ${id}`;
        const excerpt = id % 700 === 0 ? 'Commonplace standfirst.' : 'Tender.';
        put(id, { title, excerpt, date, searchText: 'The usual commonplace wording of the day.' });
      }
    });
  });

  it('ranks matches in titles first, then those in excerpts, newest first in each group', () => {
    const found = search('commonplace', { limit: 8 });
    expect(found.total).toBe(1500);
    expect(found.items.map(({ id }) => id)).toEqual([11_000, 10_500, 10_000, 11_200, 11_499, 11_498, 11_497, 11_496]);
    expect(ids('commonplace', { offset: 2, limit: 4 })).toEqual([10_000, 11_200, 11_499, 11_498]);
    expect(ids('commonplace', { offset: 4, limit: 2 })).toEqual([11_499, 11_498]);
    expect(ids('commonplace', { offset: 1499, limit: 10 })).toHaveLength(1);
    expect(ids('commonplace', { offset: 1500, limit: 10 })).toEqual([]);
  });

  it('ignores a word that nearly every story contains', () => {
    expect(search('the bishop usual').total).toBe(search('bishop').total);
    expect(search('the wording').total).toBe(1500);
    expect(search('wording of the day the usual commonplace').total).toBe(1500);
  });
});
