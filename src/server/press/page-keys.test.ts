import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { canonicalSlug } from '../../content/wire/values.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { fixedPages, fragmentLists } from '../../lib/http/fixed-pages.ts';
import { textPages } from '../../lib/static/builtin.ts';
import { isBelow } from '../commands/prerender.ts';
import { allKeys, existsIn, giftPage, isUnknownDocument, pageKeys, readRedirects } from './page-keys.ts';

const reader = () =>
  ({
    section: (slug: string) => (slug === 'politics' ? {} : null),
    exists: (type: string, slug: string) => type === 'articles' && slug === 'a-story',
    resolveSlug: (_type: string, slug: string) => ({ kind: slug === 'gone-story' ? 'gone' : 'unknown' }),
  }) as unknown as ContentReader;
const keyOf = pageKeys(reader);

it.each([
  ['/article/none', true],
  ['/article/none/comments?page=2', true],
  ['/section/none?page=2', true],
  ['/article/a-story', false],
  ['/article/a-story/comments', false],
  ['/article/gone-story', false],
  ['/section/politics', false],
  ['/none', true],
  ['/wp-login.php', true],
  ['/article', true],
  ['/rss.xml', false],
  ['/site.webmanifest', false],
  ['/about', false],
  ['/newsletter-signUp', false],
  ['/latest?page=2', false],
  // The pages themselves decide whether these exist.
  ['/article/N%C3%B6ne', false],
  ['/article/None', false],
  ['/games', false],
  ['/', false],
  ['/none/at-all', false],
])('%s is known not to exist without rendering: %s', (key, unknown) => {
  expect(isUnknownDocument(reader(), key)).toBe(unknown);
});

it.each([
  ['/', '/'],
  ['/?utm_source=x', '/'],
  ['/latest?page=2&x=1', '/latest?page=2'],
  ['/section/politics?page=3', '/section/politics?page=3'],
  ['/media?page=2&section=culture', '/media?section=culture&page=2'],
  ['/article/a-story?page=2', '/article/a-story'],
  ['/article/a-story/comments?page=2', '/article/a-story/comments?page=2'],
  ['/about?page=2', '/about'],
  ['/newsletter?problem=email&x=1', '/newsletter?problem=email'],
  ['/newsletter?problem=anything', '/newsletter'],
  // A slug has one spelling, that of WordPress, whichever a client sends; it may be long.
  ['/article/%D0%B2%D1%8B%D0%B1%D0%BE%D1%80%D1%8B', `/article/${canonicalSlug('выборы')}`],
  [`/media?section=${'%d1%8f'.repeat(60)}`, `/media?section=${'%D1%8F'.repeat(60)}`],
])('%s has the page key %s', (target, key) => {
  expect(keyOf('GET', target)).toMatchObject({ kind: 'page', key });
});

it.each([
  '/api/v1/x',
  '/image?url=a&width=640',
  '/search?q=a',
  '/preview?x',
  '/-/press',
  '/metrics',
  '/news-sitemap.xml',
  '/blaize/account',
  '/blaize/oauth/google/callback?code=x',
  '/zephr/media/user/session',
  '/account/link-sent',
  '/dashboard/account',
  '/sound/12/0.mp3?key=x',
  '/podcast/how-it-works/private/Abc_-9.xml',
  '/profile',
  '/socialLogin?return=/about',
])('%s is never stored', (target) => {
  expect(keyOf('GET', target).kind).toBe('uncached');
});

it('a page that is never stored has one address too, but API calls and form posts are not redirected', () => {
  for (const target of ['/search/?q=a+b', '//search?q=a+b', '/Search/?q=a+b']) {
    expect(keyOf('GET', target)).toEqual({ kind: 'redirect', location: '/search?q=a+b', status: 301 });
  }
  expect(keyOf('GET', '/profile/')).toMatchObject({ kind: 'redirect', location: '/profile' });
  expect(keyOf('GET', '/api/v1/articles/search/?q=a')).toMatchObject({ kind: 'uncached' });
  expect(keyOf('POST', '/profile/')).toMatchObject({ kind: 'uncached', path: '/profile' });
});

it.each([
  ['/Article/A-Story', '/article/a-story'],
  ['/ARTICLE/gone-story', '/article/gone-story'],
  ['/Section/Politics/RSS.xml', '/section/politics/rss.xml'],
  ['/newsletter-signup', '/newsletter-signUp'],
  ['/SOCIALLOGIN/', '/socialLogin'],
  ['/Pricing', '/pricing'],
  ['/about/', '/about'],
  ['/article/a-story/', '/article/a-story'],
  ['/article/no-such/', '/article/no-such'],
  ['/Section/Politics/?page=2', '/section/politics?page=2'],
  // A proxy that restricts one of these to operators names only this spelling.
  ['/metrics/', '/metrics'],
  ['//readyz/?complete', '/readyz?complete'],
  ['/healthz/.', '/healthz'],
])('%s redirects to %s', (target, location) => {
  expect(keyOf('GET', target)).toEqual({ kind: 'redirect', location, status: 301 });
});

it('other spellings of a missing page are not redirected', () => {
  expect(keyOf('GET', '/article/No-Such')).toMatchObject({ kind: 'page', key: '/article/No-Such' });
});

it.each([
  '/live/*',
  '/live/2019/*',
  '/account/login',
  '/image',
  '/gift/*',
  '/search',
  '/push/a',
  '/sound/*',
  '/api/v1',
])('a redirect of %s is reported as unused, because the site uses the address', (from) => {
  const onUnused = vi.fn();
  const rule = { from, to: '/latest', status: 301 } as const;
  pageKeys(reader, [rule], onUnused);
  expect(onUnused.mock.calls).toEqual([[rule]]);
});

it('the publisher’s redirects are read, and every invalid line is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'redirects-'));
  const file = join(folder, 'list.txt');
  try {
    writeFileSync(file, '# Moved\n\n/old /new\n/a/* https://b.example/* 302\r\n/gone - 410\n');
    expect(readRedirects(file)).toEqual([
      { from: '/old', to: '/new', status: 301 },
      { from: '/a/*', to: 'https://b.example/*', status: 302 },
      { from: '/gone', to: '-', status: 410 },
    ]);
    writeFileSync(file, '/old\n/a /b 303\n/c /d 301 now\n/e /f');
    expect(() => readRedirects(file)).toThrow(/line 1: .*\n.*line 2: .*\n.*line 3: /);
    expect(() => readRedirects(join(folder, 'none.txt'))).toThrow(/cannot be read/);
    expect(() =>
      pageKeys(reader, [
        { from: '/a', to: '/a', status: 301 },
        { from: '/b', to: 'c', status: 301 },
      ]),
    ).toThrow(/\/b leads to c/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('a gift link covers the further pages of its live story, and no other page', () => {
  expect(giftPage('/article/a-story/live?page=2')).toBe('/article/a-story');
  for (const own of [
    '/article/a-story',
    '/article/a-story/live',
    '/article/a-story/live/7',
    '/article/a-story/live?page=2&page=3',
    '/article/a-story/live?page=',
    '/article/a-story/comments?page=2',
    '/article/a-story/transcript',
    '/x/article/a-story/live?page=2',
    '/article/x/../a-story/live?page=2',
  ])
    expect(giftPage(own)).toBe(own);
});

it('page keys below a path are found', () => {
  const keys = [
    '/',
    '/section/politics',
    '/section/politics?page=2',
    '/section/politics/rss.xml',
    '/section/politicsx',
  ];
  expect(keys.filter((key) => isBelow(key, ['/section/politics/']))).toEqual(keys.slice(1, 4));
  expect(keys.filter((key) => isBelow(key, ['/']))).toEqual(keys);
  expect(keys.filter((key) => isBelow(key, []))).toEqual(keys);
});

it('the list of fixed pages has every page with an address of its own, and no other', () => {
  const pages = join(import.meta.dirname, '../../pages');
  const elsewhere = /^\/(?:404|500|preview|-|account|blaize|fragments)(?:\/|$)|\[/;
  const paths = globSync('**/*.astro', { cwd: pages })
    .map((file) => `/${file.replace(/\.astro$/, '').replace(/(?:^|\/)index$/, '')}`)
    .filter((path) => !elsewhere.test(path));
  const text = [...textPages.keys()].map((slug) => `/${slug}`);
  expect(fixedPages.map(({ path }) => path).toSorted()).toEqual([...paths, ...text].toSorted());
});

it('every fixed page that is cached is listed once for rendering ahead of readers', () => {
  const none = () => ({ items: [], total: 0 });
  const content = {
    sections: () => [],
    authors: () => [],
    podcasts: () => [],
    articles: none,
    videos: none,
    crosswords: none,
  } as unknown as ContentReader;
  const keys = [...allKeys(() => content)];
  for (const { path, uncached } of fixedPages)
    expect(
      keys.filter((key) => key === path),
      path,
    ).toHaveLength(uncached ? 0 : 1);
});

it('every fragment is known, so that other spellings of its address are redirected', () => {
  const fragments = join(import.meta.dirname, '../../pages/fragments');
  const examples: Readonly<Record<string, readonly string[]>> = {
    '[list]': fragmentLists,
    '[kind]/[slug]': ['section/politics'],
    'live/[entry]': ['live/7'],
  };
  const content = { section: () => ({}), liveEntry: () => ({}) } as unknown as ContentReader;
  const files = globSync('**/*.astro', { cwd: fragments }).map((file) => file.replace(/\.astro$/, ''));
  expect(files.filter((file) => !(file in examples))).toEqual([]);
  const paths = files.flatMap((file) => examples[file] ?? []).map((path) => `/fragments/${path}`);
  expect(paths.filter((path) => !existsIn(content, path))).toEqual([]);
});
