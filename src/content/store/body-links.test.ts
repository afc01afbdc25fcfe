import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { silent } from '../../lib/logging.ts';
import { resolveLinks } from './body-links.ts';
import { type ContentStore, openContentStore } from './content-store.server.ts';
import { storeSections } from './navigation.server.ts';
import { createReader } from './reader.server.ts';
import { storeDocument, withdrawDocument } from './write.server.ts';

const cms = 'https://cms.example';
let store: ContentStore;
let at = 0;
const fetched = () => ({ at: ++at, clock: 0 });
const put = (type: 'articles' | 'authors' | 'crosswords' | 'pages', id: number, slug: string, bodyHtml = '') =>
  storeDocument(store, fixtureDocument({ type, id, slug, bodyHtml }), fetched());
/** A link as ingest stores it: the address on this site, if there may be one, and WordPress's own address. */
const stored = (here: string, there: string, words = 'words'): string =>
  `<p>See <a href="${here}" data-wordpress="${there}">${words}</a>.</p>`;

beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
  put('articles', 12, 'budget');
  put('authors', 20, 'ada');
  put('pages', 30, 'about');
  put('crosswords', 40, 'mini');
  const section = { name: 'N', label: 'L', homepageCount: 4, showInMedia: false, color: 'default' as const };
  storeSections(store, [
    { ...section, id: 3, slug: 'politics', position: 1, former: ['power', 'uncategorized'] },
    { ...section, id: 4, slug: 'uncategorized', position: null },
  ]);
});
afterEach(() => store.close());

describe('a link to WordPress in a body', () => {
  it.each([
    ['an article', '/article/budget', `${cms}/articles/budget/`, '/article/budget'],
    [
      'an anchor in an article',
      '/article/budget#user-content-a',
      `${cms}/articles/budget/#a`,
      '/article/budget#user-content-a',
    ],
    [
      'an anchor that has the prefix',
      `${cms}/?p=12#user-content-a`,
      `${cms}/?p=12#user-content-a`,
      '/article/budget#user-content-a',
    ],
    ['comments', '/article/budget#comments', `${cms}/articles/budget/#comments`, '/article/budget#comments'],
    ['a comment', '/article/budget#comment-5', `${cms}/articles/budget/#comment-5`, '/article/budget#comment-5'],
    ['an article by its id', `${cms}/?p=12`, `${cms}/?p=12`, '/article/budget'],
    ['an author of the site', '/author/ada', `${cms}/author/ada/`, '/author/ada'],
    ['a section', '/section/politics', `${cms}/category/politics/`, '/section/politics'],
    ['a section by its former slug', '/section/power', `${cms}/category/power/`, '/section/politics'],
    ['a section by its id', `${cms}/?cat=3`, `${cms}/?cat=3`, '/section/politics'],
    ['a crossword', '/games/mini', `${cms}/crosswords/mini/`, '/games/mini'],
    ['all crosswords', '/games', `${cms}/crosswords/`, '/games'],
    ['a page of the site', '/about', `${cms}/company/about/`, '/about'],
    ['a page by its id', `${cms}/?page_id=30`, `${cms}/?page_id=30`, '/about'],
  ])('leads to the site’s own page: %s', (_, here, there, href) => {
    expect(resolveLinks(stored(here, there), store)).toBe(`<p>See <a href="${href}">words</a>.</p>`);
  });

  it('leads to the article that had this permalink before WordPress was adopted', () => {
    const oldSlugs = ['/2024/05/budget'];
    storeDocument(store, fixtureDocument({ type: 'articles', id: 12, slug: 'budget', oldSlugs }), fetched());
    const there = `${cms}/2024/05/budget/#table`;
    expect(resolveLinks(stored(there, there), store)).toContain('href="/article/budget#user-content-table"');
  });

  const absent: [string, string, string][] = [
    ['a category that is not a section', '/section/uncategorized', `${cms}/category/uncategorized/`],
    ['a user’s archive', '/author/admin', `${cms}/author/admin/`],
    ['a page that the site does not have', '/masthead', `${cms}/masthead/`],
    ['a plain WordPress post', '/hello-world', `${cms}/hello-world/`],
    ['a tag archive', `${cms}/tag/budget/`, `${cms}/tag/budget/`],
    ['an attachment', `${cms}/?attachment_id=9`, `${cms}/?attachment_id=9`],
    ['a monthly archive', `${cms}/2026/11/`, `${cms}/2026/11/`],
    ['an article that does not exist', '/article/nowhere', `${cms}/articles/nowhere/`],
  ];
  it.each(absent)('becomes plain text when its target is missing and WordPress is not public: %s', (_, here, there) => {
    expect(resolveLinks(stored(here, there, '<em>words</em>'), store)).toBe('<p>See <em>words</em>.</p>');
  });
  it.each(absent)(
    'stays a link to WordPress when its target is missing and WordPress is public: %s',
    (_, here, there) => {
      store.setMeta('wordpress-public', 'true');
      expect(resolveLinks(stored(here, there), store)).toBe(
        `<p>See <a href="${there}" rel="noopener noreferrer">words</a>.</p>`,
      );
    },
  );

  it('keeps its other attributes, and links to other sites stay unchanged', () => {
    const html = `<a title="a > b &quot;c&quot;" href="/article/budget" id="x" data-wordpress="${cms}/articles/budget/?a=1&amp;b=2">w</a> <a href="https://other.example/">o</a>`;
    expect(resolveLinks(html, store)).toBe(
      '<a href="/article/budget" title="a > b &quot;c&quot;" id="x">w</a> <a href="https://other.example/">o</a>',
    );
  });

  it('is resolved when a page is read, and the page is invalidated when the target appears, moves or disappears', () => {
    put('articles', 50, 'linking', stored('/article/later', `${cms}/articles/later/`));
    const read = () => {
      const reader = createReader(store);
      const html = reader.article('linking')?.bodyHtml;
      return { html, tags: reader.tags };
    };
    const touches = (tags: ReadonlySet<string>, page: ReadonlySet<string>) => [...tags].some((each) => page.has(each));
    const before = read();
    expect(before.html).toBe('<p>See words.</p>');
    const come = put('articles', 51, 'later');
    expect(touches(come.tags, before.tags)).toBe(true);
    const linked = read();
    expect(linked.html).toContain('href="/article/later"');
    const moved = put('articles', 51, 'much-later');
    expect(touches(moved.tags, linked.tags)).toBe(true);
    const there = read();
    expect(there.html).toContain('href="/article/much-later"');
    const gone = withdrawDocument(store, 51, fetched());
    expect(touches(gone.tags, there.tags)).toBe(true);
    expect(read().html).toBe('<p>See words.</p>');
  });

  it.each([
    ['articles', 'article'],
    ['video', 'media'],
    ['authors', 'author'],
    ['podcasts', 'podcast'],
    ['crosswords', 'games'],
  ] as const)('by ID invalidates its page when its target is published: %s', (type, prefix) => {
    const address = `${cms}/?post_type=${type}&p=60`;
    const tags = new Set<string>();
    const link = () =>
      resolveLinks(stored(address.replace('&', '&amp;'), address.replace('&', '&amp;')), store, (each) =>
        tags.add(each),
      );
    expect(link()).toBe('<p>See words.</p>');
    const { tags: changed } = storeDocument(store, fixtureDocument({ type, id: 60, slug: 'x' }), fetched());
    expect([...changed].some((each) => tags.has(each))).toBe(true);
    expect(link()).toContain(`href="/${prefix}/x"`);
  });
});
