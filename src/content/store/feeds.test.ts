/** That feeds and sitemaps, which say when a story was changed, are made again when it was. */
import { expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import type { LiveCoverage } from '../../lib/content/model.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { buildFeed } from '../../lib/feeds/build.ts';
import { sitemap } from '../../lib/feeds/sitemap.ts';
import { silent } from '../../lib/logging.ts';
import { openContentStore } from './content-store.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument } from './write.server.ts';

const site = 'https://paper.example';

it.each<[string, (content: ContentReader) => unknown]>([
  ['the feed', (content) => buildFeed(content, site)],
  ['the feed of its author', (content) => buildFeed(content, site, { author: 'ada' })],
  ['its sitemap', (content) => sitemap(content, site, 'articles-1')],
])('a story whose text alone is changed changes %s', (_, read) => {
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  storeDocument(store, fixtureDocument({ type: 'authors', id: 5, slug: 'ada' }), { at: 1, clock: 0 });
  const story = (modified: string, bodyHtml: string) =>
    fixtureDocument({ type: 'articles', id: 1, slug: 'a', authorId: 5, modified, bodyHtml });
  storeDocument(store, story('2026-11-20T12:00:00Z', '<p>Before.</p>'), { at: 2, clock: 0 });
  const made = createReader(store);
  const before = JSON.stringify(read(made));
  const { tags } = storeDocument(store, story('2026-11-20T13:00:00Z', '<p>After.</p>'), { at: 3, clock: 0 });
  expect(JSON.stringify(read(createReader(store)))).not.toBe(before);
  expect([...made.tags].some((each) => tags.has(each))).toBe(true);
  store.close();
});

it('an entry of a live story changes when the sitemap says that the story was changed', () => {
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  const story = (id: number, live?: LiveCoverage) =>
    storeDocument(
      store,
      fixtureDocument({
        type: 'articles',
        id,
        slug: `story-${id}`,
        modified: '2026-11-20T12:00:00Z',
        facts: { access: 'free', words: 9, minutes: 1, ...(live && { live }) },
      }),
      { at: id, clock: 0 },
    );
  const entry = (id: number, of: number, minute: number) => {
    const date = `2026-11-20T13:${minute}:00Z`;
    const facts = { story: of, pinned: false, keyEvent: false };
    return storeDocument(
      store,
      fixtureDocument({ type: 'live-entries', id, slug: `entry-${id}`, date, modified: date, facts }),
      { at: id, clock: 0 },
    );
  };
  story(1, { state: 'live', started: '2026-11-20T12:00:00Z', ended: null });
  story(2);
  entry(11, 1, 10);
  const made = createReader(store);
  const changes = (content: ContentReader) =>
    sitemap(content, site, 'articles-1')
      ?.match(/(?<=<lastmod>)[^<]*/g)
      ?.toSorted();
  expect(changes(made)).toEqual(['2026-11-20T07:00:00-05:00', '2026-11-20T08:10:00-05:00']);
  const { tags } = entry(12, 1, 20);
  expect(changes(createReader(store))).toEqual(['2026-11-20T07:00:00-05:00', '2026-11-20T08:20:00-05:00']);
  expect([...made.tags].some((each) => tags.has(each))).toBe(true);
  store.close();
});
