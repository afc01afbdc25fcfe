/**
 * What a crawler finds: the built site with all features on, crawled through its links as a search engine does. Addresses that exist
 * for every story, lead to nothing worth finding and cost a render each are disallowed in robots.txt, and their links say nofollow.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWholeSite, type WholeSite } from '../fixtures/whole-site.ts';
import { wireComment } from '../fixtures/wordpress.ts';

const mostPages = 150;
/** Addresses of accounts, forms and checkouts. */
const trap =
  /^\/(?:socialLogin|account\/|dashboard\/|subscribe|cancel|profile|shipping|gift\/|preview|search\?|api\/|blaize\/|zephr\/|-\/)/;

let site: WholeSite;

beforeAll(async () => {
  site = await startWholeSite({ LOG_LEVEL: 'info' });
  const { wordpress } = site.paper;
  for (let id = 1; id <= 8; id++)
    wordpress.put('comments', { ...wireComment({ id: 700 + id, post: 1 }), id: 700 + id });
});
afterAll(() => site.stop());

interface Link {
  readonly path: string;
  readonly nofollow: boolean;
}

const decode = (text: string): string => text.replaceAll('&amp;', '&').replaceAll('&#38;', '&');

function linksIn(html: string, page: string): Link[] {
  return [...html.matchAll(/<a\s[^>]*>/g)].flatMap(([tag]) => {
    const href = /\shref="([^"]*)"/.exec(tag)?.[1];
    if (href === undefined || !URL.canParse(decode(href), `https://paper.example${page}`)) return [];
    const url = new URL(decode(href), `https://paper.example${page}`);
    if (url.origin !== 'https://paper.example') return [];
    return [{ path: url.pathname + url.search, nofollow: /\srel="[^"]*\bnofollow\b/.test(tag) }];
  });
}

it('a crawler finds stories and lists, and no account addresses', async () => {
  const { paper } = site;
  const { text: robots } = await paper.ask('/robots.txt');
  const closed = [...robots.matchAll(/^Disallow: (\S+)$/gm)].map(([, path]) => path ?? '');
  const isClosed = (path: string): boolean => closed.some((start) => path.startsWith(start));

  const seen = new Set(['/']);
  const queue = ['/', '/article/story-9', '/article/story-1/comments', '/latest?page=2'];
  const followed = new Map<string, string>();
  let pages = 0;
  for (let page = queue.shift(); page !== undefined && pages < mostPages; page = queue.shift()) {
    const answer = await paper.ask(page);
    if (!String(answer.headers['content-type']).startsWith('text/html')) continue;
    pages++;
    for (const { path, nofollow } of linksIn(answer.text, page)) {
      if (trap.test(path) && !nofollow) followed.set(path, page);
      if (seen.has(path) || nofollow || isClosed(path)) continue;
      seen.add(path);
      queue.push(path);
    }
  }
  expect([...followed], 'links without nofollow, and the pages that have them').toEqual([]);
  expect([...seen].filter((path) => trap.test(path))).toEqual([]);
  expect(seen).toContain('/article/story-3');
  expect(seen).toContain('/section/politics');
  // The crawl ended: nothing generates endless addresses.
  expect(pages).toBeLessThan(mostPages);
  for (const path of [
    '/socialLogin?return=%2F',
    '/account/comment?article=1',
    '/subscribe?plan=x',
    '/dashboard/account',
  ]) {
    expect(isClosed(path), path).toBe(true);
  }
  for (const path of ['/', '/article/story-1', '/image?url=x', '/pricing', '/media', '/sitemap.xml', '/_assets/a.js']) {
    expect(isClosed(path), path).toBe(false);
  }
});
