import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { fixtureDocument } from '../../../tests/fixtures/content.ts';
import { type ContentStore, openContentStore } from '../../content/store/content-store.server.ts';
import { storeSections } from '../../content/store/navigation.server.ts';
import { createReader } from '../../content/store/reader.server.ts';
import { storeDocument, withdrawDocument } from '../../content/store/write.server.ts';
import { silent } from '../../lib/logging.ts';
import { press, type TestPress, tempDir } from '../../press/testing.ts';
import type { RenderPage } from '../http/page-renderer.ts';
import { formerAddress, formerPage } from './former-addresses.ts';
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
    (key, content) => formerPage(content, key),
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

it.each([
  ['/category/1/national', '/category/2/national'],
  ['/category/1/national/feed', '/category/2/national/feed'],
  ['/category/national/feed/a1', '/category/national/feed/a2'],
  ['/2024/05/budget/page/1', '/2024/05/budget/page/2'],
  ['/2024/05/budget/comment-page-1', '/2024/05/budget/comment-page-2'],
  ['/section/nation/a.a', '/section/nation/a.b'],
  ['/article/the-bridge/live?page=2', '/article/the-bridge/live?page=3'],
  ['/article/the-bridge/comments?page=2', '/article/the-bridge/comments?page=3'],
  ['/article/the-bridge/comments/1', '/article/the-bridge/comments/2'],
])(
  'addresses of which anyone can make up any number, such as %s and %s, are redirected and not stored',
  async (...keys) => {
    const fixture = pagesOf(openedFolder());
    for (const key of keys) expect((await fixture.press.get(key, 'public')).status).toBe(301);
    expect(fixture.store.size().pages).toBe(0);
  },
);

it.each(['/2024/05/budget', '/category/national', '/section/nation', '/feed', '/category/national/feed/atom'])(
  'the redirect of %s is stored',
  async (key) => {
    const fixture = pagesOf(openedFolder());
    expect((await fixture.press.get(key, 'public')).status).toBe(301);
    expect(fixture.store.size().pages).toBe(1);
  },
);

function openedFolder(): string {
  const folder = tempDir();
  onTestFinished(folder.remove);
  return folder.dir;
}

/** A press whose only pages are redirects of former addresses; those of comments are the pages' own. */
function pagesOf(dir: string): TestPress {
  const render: RenderPage = async ({ url }) => ({
    status: url.includes('/comments') ? 301 : 404,
    headers: new Headers({ location: '/article/the-new-bridge/comments' }),
    body: Buffer.alloc(0),
  });
  const locals = () => ({ content: reader() }) as unknown as App.Locals;
  const opened = press(dir, {
    render: createPressRender(render, 'https://site.example', locals, undefined, undefined, (key, content) =>
      formerPage(content, key),
    ),
  });
  onTestFinished(opened.close);
  return opened;
}
