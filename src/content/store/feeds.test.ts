/** Feeds and sitemaps, which state when a story was changed, are rendered again after a change. */
import { expect, it, onTestFinished } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import type { LiveCoverage } from '../../lib/content/model.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { buildFeed } from '../../lib/feeds/build.ts';
import { sitemap } from '../../lib/feeds/crawler-files.ts';
import { silent } from '../../lib/logging.ts';
import { openContentStore } from './content-store.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument } from './write.server.ts';

const site = 'https://paper.example';

it.each<[string, (content: ContentReader) => unknown]>([
  ['the feed', (content) => buildFeed(content, site)],
  ['the feed of its author', (content) => buildFeed(content, site, { author: 'ada' })],
  ['its sitemap', (content) => sitemap(content, site, 'articles-1')],
])('an edit of only a story’s text changes %s', (_, read) => {
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

const livePaper = () => {
  const store = openContentStore({ file: ':memory:', origin: null, log: silent });
  onTestFinished(() => store.close());
  let at = 0;
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
      { at: ++at, clock: 0 },
    );
  const entry = (id: number, minute: number, { changed = minute, pinned = false } = {}) => {
    const [date, modified] = [minute, changed].map((each) => `2026-11-20T13:${each}:00Z`);
    const facts = { story: 1, pinned, keyEvent: false };
    return storeDocument(
      store,
      fixtureDocument({ type: 'live-entries', id, slug: `entry-${id}`, date, modified, facts }),
      { at: ++at, clock: 0 },
    );
  };
  const changes = (content: ContentReader) =>
    sitemap(content, site, 'articles-1')
      ?.match(/(?<=<lastmod>)[^<]*/g)
      ?.toSorted();
  return { story, entry, changes, read: () => createReader(store) };
};
const [started, ended] = ['2026-11-20T12:00:00Z', '2026-11-20T14:00:00Z'];

it('a new live entry updates the story’s lastmod in the sitemap', () => {
  const { story, entry, changes, read } = livePaper();
  story(1, { state: 'live', started, ended: null });
  story(2);
  entry(11, 10);
  const made = read();
  expect(changes(made)).toEqual(['2026-11-20T07:00:00-05:00', '2026-11-20T08:10:00-05:00']);
  const { tags } = entry(12, 20);
  expect(changes(read())).toEqual(['2026-11-20T07:00:00-05:00', '2026-11-20T08:20:00-05:00']);
  expect([...made.tags].some((each) => tags.has(each))).toBe(true);
});

it.each([
  ['not the newest', false, 'live'],
  ['pinned', true, 'live'],
  ['not the newest', false, 'ended'],
] as const)(
  'an edit of an entry that is %s (pinned: %s) in coverage that is %s updates the story’s lastmod',
  (_, pinned, state) => {
    const { story, entry, changes, read } = livePaper();
    story(1, { state, started, ended: state === 'ended' ? ended : null });
    entry(11, 10, { pinned });
    entry(12, 20);
    const made = read();
    expect(changes(made)).toEqual(['2026-11-20T08:20:00-05:00']);
    const { tags } = entry(11, 10, { pinned, changed: 40 });
    expect(changes(read())).toEqual(['2026-11-20T08:40:00-05:00']);
    expect([...made.tags].some((each) => tags.has(each))).toBe(true);
  },
);
