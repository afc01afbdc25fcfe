import { afterEach, describe, expect, it, test } from 'vitest';
import { fixtureStore } from '../../../tests/fixtures/content.ts';
import type { ContentStore } from '../../content/store/content-store.server.ts';
import { createReader } from '../../content/store/reader.server.ts';
import { articleCardOf } from '../cards/wire.ts';
import type { Card, FeaturedStory, TopStories } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import {
  answerOf,
  featuredStories,
  readSearchParameters,
  searchParametersText,
  searchTerms,
  spanOf,
} from './parameters.ts';
import { recordOf } from './record.ts';

const read = (text: string) => readSearchParameters(new URLSearchParams(text));

describe('a search URL', () => {
  it('gives the words, the section and the dates', () => {
    expect(read('q=+bridge+&section=politics&from=2026-01-02&to=2026-01-03&else=1')).toEqual({
      ok: true,
      parameters: { query: 'bridge', section: 'politics', from: '2026-01-02', to: '2026-01-03' },
    });
    expect(read('')).toEqual({ ok: true, parameters: { query: '', section: '', from: '', to: '' } });
  });

  it.each([
    'from=yesterday',
    'to=2026-02-30',
    'from=2026-1-2',
    'to=2026-13-01',
    'from=0',
    'from=2026-01-02&to=2026-01-01',
  ])('is refused with invalid or reversed dates: %s', (text) =>
    expect(read(`q=bridge&${text}`)).toMatchObject({ ok: false, query: 'bridge' }),
  );

  it('contains only the parameters that are set', () => {
    const parameters = { query: 'a & b', section: '', from: '2026-01-02', to: '' };
    expect(searchParametersText(parameters)).toBe('q=a%20%26%20b&from=2026-01-02');
  });
});

it('search dates are days in New York, including the last one and days when clocks change', () => {
  expect(spanOf({ from: '2026-03-08', to: '2026-03-08' })).toEqual({
    since: '2026-03-08T05:00:00.000Z',
    until: '2026-03-09T04:00:00.000Z',
  });
  expect(spanOf({ from: '', to: '2026-12-31' })).toEqual({ until: '2027-01-01T05:00:00.000Z' });
  expect(spanOf({ from: '', to: '' })).toEqual({});
});

const of = (q: string) => searchTerms(new URLSearchParams({ q }));

test('search words are trimmed', () => {
  expect(of('  harbor pilots ')).toBe('harbor pilots');
  expect(searchTerms(new URLSearchParams())).toBe('');
});

test('a long search is cut to 200 characters without splitting an emoji', () => {
  const cut = of(`${'a'.repeat(199)}😀😀`);
  expect(cut).toBe('a'.repeat(199));
  expect(() => encodeURIComponent(cut)).not.toThrow();
  expect(of('a'.repeat(300))).toHaveLength(200);
  expect(of(`${'a'.repeat(198)}😀`)).toBe(`${'a'.repeat(198)}😀`);
});

let store: ContentStore | undefined;
afterEach(() => store?.close());

it('search results link to a picture through the image service, not to its original, which may contain a location', () => {
  store = fixtureStore(1);
  const content = createReader(store);
  const card = content.articles({ limit: 100 }).items.find(({ image }) => image);
  const article = card && content.article(card.slug);
  if (!card?.image || !article) throw new Error('No story has a picture');
  const found = { items: [{ ...card, snippet: '' }], total: 1, added: [] };
  const named = [
    recordOf(article).image_url,
    answerOf(found, 'word', 0, 10).hits[0]?.image_url,
    articleCardOf(card).image?.url,
  ];
  for (const name of named) {
    const { pathname, searchParams } = new URL(name ?? '', 'https://sun.example');
    expect([name?.[0], pathname, searchParams.get('url')]).toEqual(['/', '/image', card.image.url]);
  }
});

test('a search without results shows the editors’ lead story, otherwise the newest, and then the other top stories', () => {
  const card = (id: number) => ({ id }) as Card;
  const featured = (top: Partial<TopStories>, newest: readonly Card[]) =>
    featuredStories(
      {
        topStories: () => ({ featured: null, others: [card(2), card(3)], ids: [], ...top }),
        articles: () => ({ items: newest, total: newest.length }),
      } as Partial<ContentReader> as ContentReader,
      2,
    ).map(({ id }) => id);
  expect(featured({ featured: { id: 9 } as FeaturedStory }, [card(1)])).toEqual([9, 2]);
  expect(featured({}, [card(1)])).toEqual([1, 2]);
  expect(featured({}, [])).toEqual([]);
});
