import { afterEach, beforeEach, expect, it } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { type ContentStore, openContentStore } from '../../content/store/content-store.server.ts';
import { storeSections } from '../../content/store/navigation.server.ts';
import { createReader } from '../../content/store/reader.server.ts';
import { storeDocument, withdrawDocument } from '../../content/store/write.server.ts';
import { silent } from '../../lib/logging.ts';
import { formerAddress } from './former-addresses.ts';
import { pageKeys } from './page-keys.ts';
import { createPressRender } from './render-page.ts';

let store: ContentStore;
let at = 0;
const put = (id: number, slug: string, oldSlugs: readonly string[]) =>
  storeDocument(store, fixtureDocument({ type: 'articles', id, slug, oldSlugs }), { at: ++at, clock: 0 });
const reader = () => createReader(store);

beforeEach(() => {
  store = openContentStore({ file: ':memory:', origin: null, log: silent });
  storeDocument(store, fixtureDocument({ type: 'authors', id: 5, slug: 'ada' }), { at: ++at, clock: 0 });
  put(12, 'budget', ['/2024/05/budget', '/2024/05/the-budget']);
  put(13, 'budget-2', ['/2025/01/budget']);
  put(14, 'שלום', ['/2024/05/%d7%a9%d7%9c%d7%95%d7%9d']);
  put(15, 'review', ['/games/review']);
  put(16, 'the-new-bridge', ['the-bridge']);
  const section = { name: 'N', label: 'L', homepageCount: 4, showInMedia: false, color: 'default' as const };
  storeSections(store, [
    { ...section, id: 3, slug: 'national', position: 1, former: ['nation', 'brooklyn'] },
    { ...section, id: 4, slug: 'brooklyn', position: null, former: ['kings'] },
    { ...section, id: 5, slug: 'ספורט', position: 2, former: ['משחקים'] },
  ]);
});
afterEach(() => store.close());

it.each([
  ['/2024/05/budget', '/article/budget'],
  ['/2024/05/the-budget', '/article/budget'],
  ['/2025/01/budget', '/article/budget-2'],
  ['/2024/05/%D7%A9%D7%9C%D7%95%D7%9D', `/article/%d7%a9%d7%9c%d7%95%d7%9d`],
  ['/2024/05/budget/amp', '/article/budget'],
  ['/2024/05/budget/comment-page-3', '/article/budget'],
  ['/category/national', '/section/national'],
  ['/category/national/cities/brooklyn', '/section/national'],
  ['/2024/06/budget', null],
  ['/2024/05', null],
  ['/category/brooklyn', null],
  ['/category/nation', '/section/national'],
  ['/section/nation', '/section/national'],
  // Further updates of a live story whose slug has changed.
  ['/article/the-bridge/live', '/article/the-new-bridge'],
  ['/article/budget/live', null],
  ['/section/%D7%9E%D7%A9%D7%97%D7%A7%D7%99%D7%9D', '/section/%d7%a1%d7%a4%d7%95%d7%a8%d7%98'],
  ['/section/nation/rss.xml', '/section/national/rss.xml'],
  ['/section/nation/of/all', null],
  ['/section/brooklyn', null],
  ['/section/kings', null],
  ['/section/nowhere', null],
  ['/', null],
  // Feed readers keep the addresses of feeds for years.
  ['/feed', '/rss.xml'],
  ['/feed/rss2', '/rss.xml'],
  ['/feed/atom', '/atom.xml'],
  ['/category/national/cities/feed', '/section/national/rss.xml'],
  ['/category/nation/feed/atom', '/section/national/atom.xml'],
  ['/author/ada/feed', '/author/ada/rss.xml'],
  ['/author/unknown/feed', null],
  ['/comments/feed', null],
  ['/2024/05/budget/feed', '/article/budget'],
  ['/wp-sitemap.xml', '/sitemap.xml'],
  ['/sitemap_index.xml', '/sitemap.xml'],
])('the former site’s address %s maps to %s', (path, address) => {
  expect(formerAddress(reader(), path)).toBe(address);
});

it.each([
  ['/2024/05/budget/', '/article/budget'],
  ['/2024/05/Budget/?utm_source=x', '/article/budget'],
  ['/2024/05/%d7%a9%d7%9c%d7%95%d7%9d', `/article/%d7%a9%d7%9c%d7%95%d7%9d`],
  ['/?p=12', '/article/budget'],
  ['/feed/', '/rss.xml'],
  ['/category/national/feed/', '/section/national/rss.xml'],
  ['/?utm_source=x&p=13', '/article/budget-2'],
  ['/topics/national/', '/section/national'],
  ['/games/review/', '/article/review'],
])('%s is redirected in one step to %s', (target, location) => {
  const keyOf = pageKeys(reader, [{ from: '/topics/*', to: '/category/*', status: 301 }]);
  expect(keyOf('GET', target)).toEqual({ kind: 'redirect', location, status: 301 });
});

it.each([
  ['/?p=99', { kind: 'page', key: '/' }],
  ['/?p=12x', { kind: 'page', key: '/' }],
  ['/about/', { kind: 'redirect', location: '/about' }],
  ['/article/budget/', { kind: 'redirect', location: '/article/budget' }],
  ['/2024/06/budget/', { kind: 'redirect', location: '/2024/06/budget' }],
])('%s is not treated as a former address', (target, result) => {
  expect(pageKeys(reader)('GET', target)).toMatchObject(result);
});

it('the press redirects a former address without a page, and updates that when the story moves or is withdrawn', async () => {
  const missing = { status: 404, headers: new Headers(), body: Buffer.alloc(0) };
  const locals = () => ({ content: reader() }) as unknown as App.Locals;
  const render = createPressRender(
    async () => missing,
    'https://site.example',
    locals,
    undefined,
    undefined,
    (key, content) => formerAddress(content, key),
  );
  const moved = await render('/games/review', 'public');
  expect([moved.status, new Headers(moved.headers as HeadersInit).get('location')]).toEqual([301, '/article/review']);
  const touched = (tags: ReadonlySet<string>) => [...tags].some((tag) => new Set(moved.tags).has(tag));
  expect(touched(put(15, 'the-review', []).tags)).toBe(true);
  const again = await render('/games/review', 'public');
  expect(new Headers(again.headers as HeadersInit).get('location')).toBe('/article/the-review');
  expect(touched(withdrawDocument(store, 15, { at: ++at, clock: 0 }).tags)).toBe(true);
  expect((await render('/games/review', 'public')).status).toBe(404);
});
