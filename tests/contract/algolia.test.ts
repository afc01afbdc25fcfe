/** Algolia's wire protocol (algolia.com/doc/rest-api/search, docs/services/algolia.md), and its failures. */
import { delay, HttpResponse } from 'msw';
import { describe, expect, test } from 'vitest';
import { withdrawDocument } from '../../src/content/store/write.server.ts';
import { searchAnswer } from '../../src/lib/search/model.ts';
import { answerOf } from '../../src/lib/search/parameters.ts';
import { algolia, json, nextVersion, put, store } from './fixtures/algolia.ts';
import type { Answer } from './stand-in.ts';

const stand = algolia();

const hits = (...ids: readonly (number | string)[]) => ({
  nbHits: 40 + ids.length,
  page: 0,
  nbPages: 5,
  hitsPerPage: 10,
  processingTimeMS: 1,
  query: 'bridge',
  params: '',
  exhaustiveNbHits: true,
  hits: ids.map((id) => ({
    objectID: String(id),
    _snippetResult: {
      standfirst: { value: 'Nothing here', matchLevel: 'none' },
      text: { value: 'of a \u0001bridge\u0002 <b>too</b>', matchLevel: 'full' },
    },
  })),
});

describe('a search with Algolia', () => {
  test('sends Algolia’s path, headers, range and filter', async () => {
    const { find, calls } = stand({ query: [json(hits(2, 1))] });
    const filter = { section: 'politics', since: '2026-01-01T05:00:00.000Z', until: '2026-02-01T05:00:00.000Z' };
    await find('bridge', { ...filter, offset: 20, limit: 10 });
    const [call] = calls.query;
    expect(call?.path).toBe('/1/indexes/stories/query');
    expect(call?.headers.get('x-algolia-application-id')).toBe('APP1');
    expect(call?.headers.get('x-algolia-api-key')).toBe('search-key');
    expect(call?.body).toMatchObject({
      query: 'bridge',
      offset: 20,
      length: 10,
      filters: 'sections:"politics" AND date >= 1767243600 AND date < 1769922000',
    });
  });

  test('escapes the section, which cannot break out of the filter', async () => {
    const { find, calls } = stand({ query: [json(hits())] });
    await find('bridge', { section: 'a" OR sections:"b' });
    expect(calls.query[0]?.body.filters).toBe('sections:"a\\" OR sections:\\"b"');
  });

  test('sends at most 512 bytes of the reader’s text, Algolia’s limit, without splitting a character', async () => {
    const { find, calls } = stand({ query: [json(hits())] });
    for (const text of ['é'.repeat(256), 'é'.repeat(400), '€'.repeat(400)]) await find(text);
    expect(calls.query.map(({ body }) => body.query)).toEqual(['é'.repeat(256), 'é'.repeat(256), '€'.repeat(170)]);
  });

  test('answers in the specified format, in Algolia’s order, with titles from the content store', async () => {
    const { find } = stand({ query: [json(hits(2, 1))] });
    const answer = searchAnswer.parse(answerOf(await find('bridge'), 'bridge', 0, 10));
    expect(answer.nbHits).toBe(42);
    expect(answer.hits.map(({ post_id, post_title, slug }) => [post_id, post_title, slug])).toEqual([
      [2, 'Another bridge', 'another-bridge'],
      [1, 'A bridge', 'a-bridge'],
    ]);
    expect(answer.hits[0]?.snippet).toEqual([
      { text: 'of a ', match: false },
      { text: 'bridge', match: true },
      { text: ' <b>too</b>', match: false },
    ]);
  });

  test('never returns a withdrawn story, even if Algolia still has it', async () => {
    const { find } = stand({ query: [json(hits(2, 1, 'abc'))] });
    withdrawDocument(store, 2, nextVersion());
    const found = await find('bridge');
    expect(found.items.map(({ id }) => id)).toEqual([1]);
    expect(found.total).toBe(42);
  });

  test('never returns Algolia’s text of a story that has become paid', async () => {
    const { find } = stand({ query: [json(hits(2, 1))] });
    const facts = { access: 'subscriber' as const, words: 480, minutes: 2, commentsOpen: true };
    put(2, { title: 'Another bridge', slug: 'another-bridge', facts });
    const { items } = await find('bridge');
    expect(items.map(({ id, snippet }) => [id, snippet])).toEqual([
      [2, ''],
      [1, expect.stringContaining('bridge')],
    ]);
  });

  test('uses the site’s own index past Algolia’s first 1,000 results', async () => {
    const { find, calls } = stand({ query: [json(hits(2, 1))] });
    await find('bridge', { offset: 990, limit: 10 });
    expect(calls.query).toHaveLength(1);
    expect(await find('bridge', { offset: 1000, limit: 10 })).toMatchObject({ items: [], total: 2 });
    expect(calls.query).toHaveLength(1);
  });
});

describe('a failing Algolia', () => {
  test.each<[string, Answer]>([
    ['status 403', json({ message: 'Invalid Application-ID or API key', status: 403 }, 403)],
    ['status 404', json({ message: 'Index stories does not exist', status: 404 }, 404)],
    ['status 429', json({ message: 'Too many requests', status: 429 }, 429)],
    ['status 500', () => new HttpResponse('<h1>Oops</h1>', { status: 500, headers: { 'content-type': 'text/html' } })],
    [
      'an HTML page instead of JSON',
      () => new HttpResponse('<h1>Hello</h1>', { headers: { 'content-type': 'text/html' } }),
    ],
    ['JSON of an unexpected shape', json({ results: [] })],
    ['a network error', () => HttpResponse.error()],
  ])('is replaced by the site’s own index after %s', async (_, answer) => {
    const { find, search } = stand({ query: [answer] });
    const found = await find('bridge');
    expect(found.items.map(({ id }) => id).sort()).toEqual([1, 2]);
    expect(search.stats()).toMatchObject({ engine: 'algolia', fallbacks: 1 });
    expect(search.stats().problem).not.toBeNull();
  });

  test('is replaced by the site’s own index when it does not answer in time', async () => {
    const slow: Answer = async () => {
      await delay('infinite');
      return HttpResponse.json({});
    };
    const { find, search } = stand({ query: [slow], timeoutMs: 20 });
    expect((await find('bridge')).total).toBe(2);
    expect(search.stats().problem).toBe('no answer within 20 ms');
  });

  test('is not asked for 15 seconds after three failures, then asked again', async () => {
    const down = json({}, 503);
    const { find, calls, now, search } = stand({ query: [down, down, down, json(hits(1)), down, json(hits(1))] });
    for (let turn = 0; turn < 5; turn++) await find('bridge');
    expect(calls.query).toHaveLength(3);
    expect(search.stats().fallbacks).toBe(5);
    now.at += 15_000;
    expect((await find('bridge')).total).toBe(41);
    expect(search.stats().problem).toBeNull();
    // The next failure is the first of a new series.
    await find('bridge');
    expect(await find('bridge')).toMatchObject({ total: 41 });
    expect(calls.query).toHaveLength(6);
  });
});
