/** Algolia's wire protocol (algolia.com/doc/rest-api/search, docs/services/algolia.md), and its failures. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { delay, HttpResponse, http } from 'msw';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { IngestedDocument } from '../../src/content/ingest/document.ts';
import { updateRestrictedSections } from '../../src/content/store/access.server.ts';
import { type ContentStore, openContentStore } from '../../src/content/store/content-store.server.ts';
import { storeSections } from '../../src/content/store/navigation.server.ts';
import { createReader } from '../../src/content/store/reader.server.ts';
import { storeDocument, withdrawDocument } from '../../src/content/store/write.server.ts';
import type { ContentReader } from '../../src/lib/content/reader.ts';
import { silent } from '../../src/lib/logging.ts';
import { openAlgolia } from '../../src/lib/search/algolia.server.ts';
import type { AlgoliaAccess } from '../../src/lib/search/model.ts';
import { searchAnswer } from '../../src/lib/search/model.ts';
import { answerOf } from '../../src/lib/search/parameters.ts';

import { createSearch } from '../../src/lib/search/search.server.ts';
import { publication } from '../../src/publication.ts';
import { fixtureDocument } from '../fixtures/content.ts';
import { type Answer, standIn } from './stand-in.ts';

const { server, closing, next } = standIn();
const url = 'https://algolia.stand-in.test';
const access: AlgoliaAccess = { appId: 'APP1', searchKey: 'search-key', writeKey: null, index: 'stories', url };

let store: ContentStore;
let folder: string;
let clock = 0;
const put = (id: number, part: Partial<IngestedDocument> = {}) =>
  storeDocument(store, fixtureDocument({ type: 'articles', id, ...part }), { at: ++clock, clock: 0 });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'algolia-'));
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
  const base = { homepageCount: 4, showInMedia: true, color: 'default' as const };
  storeSections(store, [{ ...base, id: 1, slug: 'politics', name: 'Politics', label: 'Politics', position: 1 }]);
  put(1, { title: 'A bridge', slug: 'a-bridge', terms: [1] });
  put(2, { title: 'Another bridge', slug: 'another-bridge' });
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const json =
  (body: object, status = 200): Answer =>
  () =>
    HttpResponse.json(body, { status });
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

interface Call {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

interface StandOptions {
  readonly query?: readonly Answer[];
  readonly batch?: readonly Answer[];
  readonly writeKey?: string | null;
  readonly timeoutMs?: number;
  readonly reader?: () => ContentReader;
  readonly batchSize?: number;
}

function stand({
  query = [],
  batch = [],
  writeKey = null,
  timeoutMs = 20_000,
  reader = () => createReader(store),
  batchSize = 2,
}: StandOptions) {
  const calls: { query: Call[]; batch: Call[] } = { query: [], batch: [] };
  server.use(
    http.post(`${url}/1/indexes/stories/:what`, async ({ request, params }) => {
      const what = params.what as 'query' | 'batch';
      const answer = next(what === 'query' ? query : batch, calls[what].length);
      const body = (await request.json()) as Record<string, unknown>;
      calls[what].push({ path: new URL(request.url).pathname, headers: request.headers, body });
      return answer(body);
    }),
  );
  const log = { ...silent, warn: vi.fn(), error: vi.fn() };
  const now = { at: 0 };
  const hosted = openAlgolia({
    access: { ...access, writeKey },
    timeoutMs,
    dataDir: folder,
    log,
    reader,
    tuning: { collectMs: 5, backOffMs: [1, 5], misconfiguredMs: 5, closeMs: 50, batchSize },
  });
  const search = createSearch({ hosted, log, now: () => now.at });
  closing({ close: () => search.stop() });
  const find = (text: string, filter = {}) => search.find(createReader(store), text, filter);
  return { search, hosted, find, calls, log, now };
}

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
    withdrawDocument(store, 2, { at: ++clock, clock: 0 });
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

describe('the feed to Algolia’s index', () => {
  const taken = json({ taskID: 1, objectIDs: [] });
  const actions = (calls: readonly Call[]) =>
    calls.flatMap(({ body }) => body.requests as { action: string; body: Record<string, unknown> }[]);

  test('fills a new index once, in batches, with the write key', async () => {
    put(3, { title: 'A third one' });
    const first = stand({ batch: [taken], writeKey: 'write-key' });
    first.search.start();
    await first.hosted.feed?.idle();
    expect(first.calls.batch.map(({ path }) => path)).toEqual(Array(2).fill('/1/indexes/stories/batch'));
    expect(first.calls.batch[0]?.headers.get('x-algolia-api-key')).toBe('write-key');
    expect(
      actions(first.calls.batch)
        .map(({ action, body }) => [action, body.objectID])
        .sort(),
    ).toEqual([
      ['updateObject', '1'],
      ['updateObject', '2'],
      ['updateObject', '3'],
    ]);
    expect(actions(first.calls.batch).find(({ body }) => body.objectID === '1')?.body).toEqual({
      objectID: '1',
      slug: 'a-bridge',
      post_id: 1,
      post_title: 'A bridge',
      url: '/article/a-bridge',
      image_url: expect.stringMatching(/^\/image\?url=[^&]*a-bridge\.jpg&width=/),
      author: { post_title: '' },
      standfirst: 'Standfirst of a-bridge.',
      sections: ['politics'],
      date: Date.parse('2026-11-20T12:00:00Z') / 1000,
      text: 'The council met on Tuesday to speak of a-bridge. It agreed after two hours.',
    });
    await first.search.stop();

    const second = stand({ batch: [taken], writeKey: 'write-key' });
    second.search.start();
    await second.hosted.feed?.idle();
    expect(second.calls.batch).toEqual([]);
  });

  test('fills the index again if the last start could not queue every story', async () => {
    const ids = Array.from({ length: 250 }, (_, index) => 101 + index);
    for (const id of ids) put(id, { slug: `story-${id}` });
    const failing = (): ContentReader => {
      const reader = createReader(store);
      const articles: ContentReader['articles'] = (query) => {
        if (query?.offset === 200) throw new Error('The disk is full');
        return reader.articles(query);
      };
      return Object.assign(Object.create(reader), { articles });
    };
    const first = stand({ batch: [taken], writeKey: 'write-key', reader: failing, batchSize: 50 });
    first.search.start();
    await vi.waitFor(() => expect(actions(first.calls.batch)).toHaveLength(200));
    expect(first.log.error).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(first.search.stats().pending).toBe(0));
    await first.search.stop();
    const second = stand({ batch: [taken], writeKey: 'write-key', batchSize: 50 });
    second.search.start();
    await second.hosted.feed?.idle();
    expect(new Set(actions(second.calls.batch).map(({ body }) => body.objectID)).size).toBe(252);
  });

  test('fills the index again when the access rules of sections change', async () => {
    put(1, { terms: [1], openingHtml: '<p>For all.</p>', bodyHtml: '<p>For all.</p><p>Paid words.</p>' });
    const first = stand({ batch: [taken], writeKey: 'write-key' });
    first.search.start();
    await first.hosted.feed?.idle();
    await first.search.stop();
    const rules = publication.access.sections as Record<string, 'subscriber'>;
    rules.politics = 'subscriber';
    updateRestrictedSections(store);
    try {
      const second = stand({ batch: [taken], writeKey: 'write-key' });
      second.search.start();
      await second.hosted.feed?.idle();
      expect(actions(second.calls.batch).find(({ body }) => body.objectID === '1')?.body.text).toBe('For all.');
      await second.search.stop();
      const third = stand({ batch: [taken], writeKey: 'write-key' });
      third.search.start();
      await third.hosted.feed?.idle();
      expect(third.calls.batch).toEqual([]);
    } finally {
      delete rules.politics;
    }
  });

  test('sends only the present state of a story that changed several times, and sends deletions', async () => {
    const { search, hosted, calls } = stand({ batch: [taken], writeKey: 'write-key' });
    search.changed(['article:1', 'card:1', 'section:politics', 'latest']);
    put(1, { title: 'Changed since', slug: 'a-bridge' });
    withdrawDocument(store, 2, { at: ++clock, clock: 0 });
    search.changed(['article:2', 'article:1']);
    await hosted.feed?.idle();
    expect(actions(calls.batch).map(({ action, body }) => [action, body.objectID, body.post_title])).toEqual([
      ['updateObject', '1', 'Changed since'],
      ['deleteObject', '2', undefined],
    ]);
  });

  test('sends an author’s story again when the author’s name changes', async () => {
    const author = { id: 9, name: 'Ann', slug: 'ann', excerpt: '', image: null };
    put(1, { authorId: 9, author });
    const { search, hosted, calls } = stand({ batch: [taken], writeKey: 'write-key' });
    search.changed(['byline:9']);
    await hosted.feed?.idle();
    expect(actions(calls.batch).map(({ body }) => body.author)).toEqual([{ post_title: 'Ann' }]);
  });

  test('sends every story of an author or a section when its name or slug changes', async () => {
    const author = { id: 9, name: 'Ann', slug: 'ann', excerpt: '', image: null };
    const ids = Array.from({ length: 60 }, (_, index) => 101 + index);
    for (const id of ids) put(id, { slug: `story-${id}`, authorId: 9, author, terms: [1] });
    const { search, hosted, calls } = stand({ batch: [taken], writeKey: 'write-key' });
    const sent = () => actions(calls.batch.splice(0)).map(({ body }) => Number(body.objectID));
    search.changed(['byline:9']);
    await hosted.feed?.idle();
    expect(sent().sort((a, b) => a - b)).toEqual(ids);
    search.changed(['section:politics', 'navigation']);
    await hosted.feed?.idle();
    expect(sent().sort((a, b) => a - b)).toEqual([1, ...ids]);
  });

  test('sends a section’s stories when its slug changes, but not when only its list of stories does', async () => {
    const { search, hosted, calls } = stand({ batch: [taken], writeKey: 'write-key' });
    search.changed(['section:politics', 'latest']);
    await hosted.feed?.idle();
    expect(calls.batch).toEqual([]);
    const base = { homepageCount: 4, showInMedia: true, color: 'default' as const };
    search.changed(
      storeSections(store, [{ ...base, id: 1, slug: 'power', name: 'Power', label: 'Power', position: 1 }]),
    );
    await hosted.feed?.idle();
    expect(actions(calls.batch).map(({ body }) => [body.objectID, body.sections])).toEqual([['1', ['power']]]);
  });

  test('never sends the paid part of a story', async () => {
    const facts = { access: 'subscriber' as const, words: 480, minutes: 2, commentsOpen: true };
    put(1, { facts, openingHtml: '<p>For every reader.</p>', bodyHtml: '<p>For every reader.</p><p>Paid words.</p>' });
    const { search, hosted, calls } = stand({ batch: [taken], writeKey: 'write-key' });
    search.changed(['article:1']);
    await hosted.feed?.idle();
    expect(actions(calls.batch)[0]?.body.text).toBe('For every reader.');
    expect(JSON.stringify(calls.batch.map(({ body }) => body))).not.toContain('Paid words');
  });

  test('tries again until it succeeds, also after a wrong key is corrected', async () => {
    const { search, hosted, calls, log } = stand({
      batch: [
        json({}, 503),
        json({}, 429),
        json({ message: 'Method not allowed with this API key', status: 403 }, 403),
        taken,
      ],
      writeKey: 'write-key',
    });
    search.changed(['article:1']);
    await hosted.feed?.idle();
    expect(calls.batch).toHaveLength(4);
    expect(log.error.mock.calls.flat().join()).toContain('setting is wrong');
    expect(search.stats()).toMatchObject({ pending: 0, failed: 0, problem: null });
  });

  test('sends after a restart what was not accepted before, including withdrawals', async () => {
    const first = stand({ batch: [taken], writeKey: 'write-key' });
    first.search.start();
    await first.hosted.feed?.idle();
    await first.search.stop();

    const down = stand({ batch: [json({}, 503)], writeKey: 'write-key' });
    withdrawDocument(store, 2, { at: ++clock, clock: 0 });
    down.search.changed(['article:2']);
    await down.search.stop();
    expect(readdirSync(folder).some((name) => name.endsWith('-open'))).toBe(true);

    const second = stand({ batch: [taken], writeKey: 'write-key' });
    second.search.start();
    await second.hosted.feed?.idle();
    expect(actions(second.calls.batch)).toEqual([{ action: 'deleteObject', body: { objectID: '2' } }]);
    expect(readdirSync(folder).some((name) => name.endsWith('-open'))).toBe(false);
  });

  test('does not let its record of unsent stories grow with each restart while Algolia is down, and sends each once', async () => {
    const open = () => readdirSync(folder).find((name) => name.endsWith('-open'));
    for (let restart = 0; restart < 4; restart++) {
      const away = stand({ batch: [json({}, 503)], writeKey: 'write-key' });
      away.search.start();
      await expect.poll(() => away.calls.batch.length).toBeGreaterThan(0);
      await away.search.stop();
      const ids = readFileSync(join(folder, open() ?? ''), 'utf8')
        .trim()
        .split('\n');
      // Both stories, which each later start also queues again to fill the index.
      expect(ids.toSorted()).toEqual(restart === 0 ? ['1', '2'] : ['1', '1', '2', '2']);
    }
    const back = stand({ batch: [taken], writeKey: 'write-key' });
    back.search.start();
    await back.hosted.feed?.idle();
    expect(
      actions(back.calls.batch)
        .map(({ body }) => body.objectID)
        .toSorted(),
    ).toEqual(['1', '2']);
    expect(open()).toBeUndefined();
  });

  /** Algolia's answer to a batch in which one record is over the plan's size: none of its records is taken. */
  const sized =
    (most: number): Answer =>
    (body) => {
      const { requests } = body as { requests: { body: object }[] };
      const place = requests.findIndex(({ body }) => Buffer.byteLength(JSON.stringify(body)) > most);
      if (place < 0) return HttpResponse.json({ taskID: 1, objectIDs: [] });
      const message = `Record at the position ${place} is too big. Please have a look at our documentation`;
      return HttpResponse.json({ message, status: 400 }, { status: 400 });
    };

  test('cuts a record by bytes, so that a long story in any script fits the smallest plan', async () => {
    put(1, { title: 'A bridge', slug: 'a-bridge', bodyHtml: `<p>${'"мост" '.repeat(3000)}</p>` });
    const { search, hosted, calls } = stand({ batch: [sized(10_000)], writeKey: 'write-key' });
    search.start();
    await hosted.feed?.idle();
    const sent = actions(calls.batch).find(({ body }) => body.objectID === '1')?.body;
    expect(String(sent?.text)).toMatch(/мост/);
    expect(Buffer.byteLength(JSON.stringify(sent))).toBeGreaterThan(9000);
    expect(hosted.feed?.stats()).toEqual({ pending: 0, failed: 0, problem: null });
  });

  describe('for a live story', () => {
    const entry = (id: number, words: string, story = 1) =>
      storeDocument(
        store,
        fixtureDocument({
          type: 'live-entries',
          id,
          title: `Update ${id}`,
          slug: `update-${id}`,
          date: `2026-11-25T${String(Math.floor(id / 60)).padStart(2, '0')}:${String(id % 60).padStart(2, '0')}:00Z`,
          bodyHtml: `<p>${words}</p>`,
          facts: { story, pinned: false, keyEvent: false },
        }),
        { at: ++clock, clock: 0 },
      );
    const facts = (access: 'free' | 'subscriber') => ({
      access,
      words: 480,
      minutes: 2,
      live: { state: 'live' as const, started: null, ended: null },
    });

    test('sends the newest entries within the size of a record, once for many quick changes', async () => {
      put(1, {
        title: 'A bridge',
        slug: 'a-bridge',
        facts: facts('free'),
        bodyHtml: `<p>${'"own" '.repeat(3000)}</p>`,
      });
      const { search, hosted, calls } = stand({ batch: [sized(10_000)], writeKey: 'write-key' });
      for (let id = 100; id < 160; id++) search.changed(entry(id, `${'"wörter" '.repeat(30)}w${id}`).tags);
      await hosted.feed?.idle();
      const sent = actions(calls.batch);
      expect(sent).toHaveLength(1);
      const [record] = sent.map(({ body }) => body);
      expect(Buffer.byteLength(JSON.stringify(record))).toBeGreaterThan(9000);
      // The text of the story and its entries share the space; the newest entries come first.
      for (const words of ['"own"', 'Update 159', 'w159', 'w150']) expect(String(record?.text)).toContain(words);
      expect(String(record?.text)).not.toContain('w100');
      expect(hosted.feed?.stats()).toEqual({ pending: 0, failed: 0, problem: null });
    });

    test('sends the new text of a changed entry, and drops a withdrawn entry', async () => {
      put(1, { title: 'A bridge', slug: 'a-bridge', facts: facts('free') });
      const { search, hosted, calls } = stand({ batch: [taken], writeKey: 'write-key' });
      const text = async (tags: Iterable<string>) => {
        search.changed(tags);
        await hosted.feed?.idle();
        return String(actions(calls.batch).at(-1)?.body.text);
      };
      expect(await text(entry(100, 'heliotrope').tags)).toContain('heliotrope');
      expect(await text(entry(100, 'marigold').tags)).toMatch(/^(?!.*heliotrope).*marigold/s);
      expect(await text(withdrawDocument(store, 100, { at: ++clock, clock: 0 }).tags)).not.toContain('marigold');
    });

    test('sends no text of entries if the story is restricted', async () => {
      put(1, { facts: facts('subscriber'), openingHtml: '<p>For all.</p>', bodyHtml: '<p>For all.</p><p>Paid.</p>' });
      const { search, hosted, calls } = stand({ batch: [taken], writeKey: 'write-key' });
      search.changed(entry(100, 'heliotrope').tags);
      await hosted.feed?.idle();
      expect(actions(calls.batch).map(({ body }) => body.text)).toEqual(['For all.']);
    });
  });

  test('halves a refused batch, so that one bad record does not hold back the others', async () => {
    put(3, { title: 'A third', slug: 'third', bodyHtml: `<p>${'long '.repeat(200)}</p>` });
    const { search, hosted, calls, log } = stand({ batch: [sized(600)], writeKey: 'write-key', batchSize: 3 });
    search.start();
    await hosted.feed?.idle();
    const sent = calls.batch.map((call) => actions([call]).map(({ body }) => String(body.objectID)));
    expect(sent[0]?.toSorted()).toEqual(['1', '2', '3']);
    expect(sent).toContainEqual(['3']);
    // The two others are in batches without it, which Algolia takes.
    expect(
      sent
        .filter((ids) => !ids.includes('3'))
        .flat()
        .toSorted(),
    ).toEqual(['1', '2']);
    expect(hosted.feed?.stats()).toMatchObject({ pending: 0, failed: 1 });
    expect(log.error).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ notices: 1, first: '3' }),
      expect.stringContaining('refused'),
    );
  });

  test('sends after a restart only the refused record, not the whole index again', async () => {
    put(3, { title: 'A third', slug: 'third', bodyHtml: `<p>${'long '.repeat(200)}</p>` });
    const start = async (answer: Answer) => {
      const { search, hosted, calls } = stand({ batch: [answer], writeKey: 'write-key' });
      search.start();
      await hosted.feed?.idle();
      await search.stop();
      return actions(calls.batch).map(({ body }) => body.objectID);
    };
    expect(new Set(await start(sized(600)))).toEqual(new Set(['1', '2', '3']));
    expect(await start(sized(600))).toEqual(['3']);
    expect(await start(taken)).toEqual(['3']);
    expect(await start(taken)).toEqual([]);
  });

  test('is off without a write key', async () => {
    const { search, hosted, calls } = stand({});
    search.start();
    search.changed(['article:1']);
    expect(hosted.feed).toBeNull();
    expect(calls.batch).toEqual([]);
  });
});
