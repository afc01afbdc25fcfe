/** What the site sends to Algolia’s index. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HttpResponse } from 'msw';
import { describe, expect, test, vi } from 'vitest';
import { updateRestrictedSections } from '../../src/content/store/access.server.ts';
import { storeSections } from '../../src/content/store/navigation.server.ts';
import { createReader } from '../../src/content/store/reader.server.ts';
import { storeDocument, withdrawDocument } from '../../src/content/store/write.server.ts';
import type { ContentReader } from '../../src/lib/content/reader.ts';
import { publication } from '../../src/publication.ts';
import { fixtureDocument } from '../fixtures/content.ts';
import { algolia, type Call, folder, json, nextVersion, put, store } from './fixtures/algolia.ts';
import type { Answer } from './stand-in.ts';

const stand = algolia();

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
    withdrawDocument(store, 2, nextVersion());
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
    withdrawDocument(store, 2, nextVersion());
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
        nextVersion(),
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
      expect(await text(withdrawDocument(store, 100, nextVersion()).tags)).not.toContain('marigold');
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
