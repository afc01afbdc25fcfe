/** What readers get of an archive that is still being copied. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Content } from '../../content/service.ts';
import type { DocumentType } from '../../lib/content/model.ts';
import { createCopyGate } from './copy-gate.ts';

type Kind = DocumentType | 'comments';

let held: Set<string>;
let complete: Set<Kind>;
let inWordPress: Set<string>;
let reachable: boolean;
let asked: string[];
let secondsLeft: number | null;

const exists = (type: DocumentType, slug: string): boolean => held.has(`${type}:${slug}`);
const content = {
  reader: () => ({
    exists,
    page: (slug: string) => (exists('pages', slug) ? {} : null),
    section: (slug: string) => (slug === 'politics' ? {} : null),
    resolveSlug: (_: DocumentType, slug: string) => ({ kind: slug === 'withdrawn' ? 'gone' : 'unknown' }),
  }),
  isComplete: (type: Kind) => complete.has(type),
  status: () => ({ secondsLeft }),
  lookUp: async (type: DocumentType, slug: string) => {
    asked.push(`${type}:${slug}`);
    if (!reachable) return 'unavailable';
    if (!inWordPress.has(`${type}:${slug}`)) return 'missing';
    held.add(`${type}:${slug}`);
    return 'found';
  },
} as unknown as Content;
const gate = createCopyGate(content);

beforeEach(() => {
  held = new Set(['articles:new']);
  complete = new Set();
  inWordPress = new Set(['articles:old', 'video:film', 'crosswords:grid', 'authors:ada', 'pages:about']);
  reachable = true;
  secondsLeft = null;
  asked = [];
});

describe('a document that has not been copied from WordPress yet', () => {
  it.each([
    ['/article/old', 'articles:old'],
    ['/article/old/comments', 'articles:old'],
    ['/media/film', 'video:film'],
    ['/games/grid', 'crosswords:grid'],
    ['/author/ada', 'authors:ada'],
    ['/author/ada?page=2', 'authors:ada'],
    ['/author/ada/rss.xml', 'authors:ada'],
    ['/fragments/author/ada', 'authors:ada'],
    ['/about', 'pages:about'],
  ])('is fetched on request: %s', async (key, document) => {
    expect(await gate.fetchMissing(key, 'a')).toBe('arrived');
    expect(await gate.fetchMissing(key, 'a')).toBe('known');
    expect(asked).toEqual([document]);
  });

  it('has to wait while WordPress does not answer, and is treated as missing when WordPress does not have it', async () => {
    reachable = false;
    expect(await gate.fetchMissing('/article/old', 'a')).toBe('later');
    // The page has a built-in text.
    expect(await gate.fetchMissing('/about', 'a')).toBe('known');
    reachable = true;
    expect(await gate.fetchMissing('/article/none', 'a')).toBe('known');
  });

  it.each([
    '/article/new',
    '/article/withdrawn',
    '/section/none',
    '/',
    '/latest?page=9',
    '/wp-login.php',
    '/constructor/old',
  ])('is not looked up for %s', async (key) => {
    expect(await gate.fetchMissing(key, 'a')).toBe('known');
    expect(asked).toEqual([]);
  });

  it('is not requested once all documents of its type are copied', async () => {
    complete = new Set(['articles']);
    expect(await gate.fetchMissing('/article/old', 'a')).toBe('known');
    expect(await gate.fetchMissing('/media/film', 'a')).toBe('arrived');
    expect(asked).toEqual(['video:film']);
  });
});

describe('a list during the first copy from WordPress', () => {
  it('has a certain end only once its documents are all copied', () => {
    for (const key of ['/latest?page=300', '/section/politics?page=40', '/media?page=9', '/games?page=3']) {
      expect(gate.isUncertain(key), key).toBe(true);
    }
    held.add('podcasts:daily');
    for (const key of ['/corrections?page=2', '/podcast/daily?page=2', '/article/new/live?page=2']) {
      expect(gate.isUncertain(key), key).toBe(true);
    }
    expect(gate.isUncertain('/article/new/comments?page=2')).toBe(true);
    const entries = ['/article/new/comments/12', '/article/new/live/12', '/fragments/live/12'];
    for (const key of entries) expect(gate.isUncertain(key), key).toBe(true);
    complete = new Set(['articles', 'live-entries', 'video', 'crosswords', 'comments']);
    for (const key of ['/latest?page=300', '/section/politics?page=40', '/media?page=9', ...entries]) {
      expect(gate.isUncertain(key), key).toBe(false);
    }
    for (const key of ['/corrections?page=2', '/podcast/daily?page=2', '/article/new/live?page=2']) {
      expect(gate.isUncertain(key), key).toBe(false);
    }
  });

  it('is certainly missing when its address is invalid or unknown', () => {
    for (const key of [
      '/section/none?page=2',
      '/podcast/none?page=2',
      '/latest?page=0',
      '/latest?page=x',
      '/article/none',
      '/nothing',
    ]) {
      expect(gate.isUncertain(key), key).toBe(false);
    }
  });

  it('of addresses, such as a sitemap, is served only when it is complete', async () => {
    expect(await gate.fetchMissing('/sitemap.xml', 'a')).toBe('later');
    expect(await gate.fetchMissing('/sitemaps/articles-1.xml', 'a')).toBe('later');
    complete = new Set(['articles', 'video', 'crosswords', 'authors']);
    expect(await gate.fetchMissing('/sitemap.xml', 'a')).toBe('known');
  });
});

it('the Retry-After of the first copy follows the time left, from 5 to 600 seconds', () => {
  expect(gate.retryAfter()).toBe(5);
  secondsLeft = 90;
  expect(gate.retryAfter()).toBe(90);
  secondsLeft = 9000;
  expect(gate.retryAfter()).toBe(600);
});
