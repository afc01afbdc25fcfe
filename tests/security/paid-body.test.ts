/**
 * Text behind a paywall never leaks: every link, every route of the site and every trick with paths and headers is tried without
 * access and with too low an access level, and each response is searched for sentences that occur nowhere else. With access they are
 * found (paid-body-access.test.ts), otherwise the search would prove nothing.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccessCookie, createPassCookie } from '../../src/press/delivery/access-cookie.ts';
import { entriesOfPaid, everyRoute } from '../fixtures/paid-paper.ts';
import {
  articles,
  ask,
  cookies,
  crawl,
  googlebot,
  key,
  others,
  paid,
  search,
  secretsIn,
  site,
  soon,
  startSite,
  words,
} from '../world/paid-text.ts';

const passes = createPassCookie({ name: 'gift', keys: [key] });

beforeAll(() => startSite());
afterAll(() => site.stop());

const pathTricks = (path: string): string[] => {
  const slug = path.slice('/article/'.length);
  return [
    `${path}/`,
    `/${path}`,
    `/article//${slug}`,
    `/article/./${slug}`,
    `/x/..${path}`,
    `/x/%2e%2e${path}`,
    `/article/${slug.toUpperCase()}`,
    `/Article/${slug}`,
    `/%61rticle/${slug}`,
    `/article/${slug.replace('-', '%2D')}`,
    `/article/${slug.replace('-', '%252D')}`,
    `http://evil.example${path}`,
    `https://paper.example${path}`,
    `${path}%00`,
    `${path};a=b`,
    `${path}#full`,
    ...[
      'variant=full',
      'full=1',
      'access=subscriber',
      'preview=1',
      'print=1',
      'amp',
      'page=2',
      'gift=1',
      'format=json',
    ].map((query) => `${path}?${query}`),
  ];
};

const headerTricks: Readonly<Record<string, string>> = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'http',
  'x-forwarded-for': '127.0.0.1',
  'x-forwarded-prefix': '/preview',
  forwarded: 'for=127.0.0.1;host=evil.example',
  'x-real-ip': '192.0.2.66',
  'x-original-url': '/preview',
  'x-rewrite-url': '/preview',
  'x-http-method-override': 'POST',
  authorization: 'Bearer subscriber',
  referer: 'https://www.google.com/',
  origin: 'https://www.google.com',
  'user-agent': googlebot,
  'accept-language': 'fr',
  accept: 'application/json',
  'accept-encoding': 'br',
  'if-none-match': '*',
  'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT',
  'if-range': '"x"',
  range: 'bytes=0-999999',
  'cache-control': 'no-cache',
  pragma: 'no-cache',
  purpose: 'prefetch',
  'sec-purpose': 'prefetch;prerender',
  'x-purpose': 'preview',
  save: 'full',
  'x-blaize-jwt': 'e30.e30.e30',
  'x-zephr-jwt': 'e30.e30.e30',
};

/** Cookies that aren't enough for a subscribers' article. */
const poorCookies = (path: string): Record<string, string> => ({
  none: '',
  hint: 'visitor=founder',
  empty: 'access=; blaize_session=; gift=',
  'a plain claim': 'access=subscriber; access=v1.k1.9999999999.subscriber.',
  forged: `access=v1.k1.${soon()}.subscriber.${'A'.repeat(43)}`,
  'another secret': `access=${createAccessCookie({ name: 'access', keys: [{ ...key, secret: 'x'.repeat(40) }] }).sign('subscriber', soon())}`,
  expired: `access=${cookies.sign('subscriber', Math.floor(Date.now() / 1000) - 1)}`,
  'a session that is none': `blaize_session=${'A'.repeat(43)}; visitor=founder`,
  'a gift of another article': `gift=${passes.sign('/article/another', soon())}`,
  'a gift of this article’s comments': `gift=${passes.sign(`${path}/comments`, soon())}`,
  'a gift as access': `access=${passes.sign(path, soon())}`,
  'access as a gift': `gift=${cookies.sign('subscriber', soon())}`,
  'an expired gift': `gift=${passes.sign(path, Math.floor(Date.now() / 1000) - 1)}`,
});

describe('the paid text of an article, without access', () => {
  it('is on no page that can be reached by links', async () => {
    const { paths, found } = await crawl();
    expect(found).toEqual([]);
    // The crawl reached the articles, lists, feeds and sitemaps.
    for (const path of [...articles(), '/section/politics', '/author/ada-byline', '/section/politics/rss.xml'])
      expect(paths, path).toContain(path);
    expect((await ask('/news-sitemap.xml')).text).toContain(articles()[0]);
  });

  it('is in no response to a GET or HEAD request, on any route', async () => {
    const routes = [...new Set([...everyRoute(words()), ...others()])];
    expect(routes.length).toBeGreaterThan(300);
    expect(await search(routes)).toEqual([]);
    expect(await search(routes, {}, 'HEAD')).toEqual([]);
  });

  it('is not found by search, which finds each story by its headline', async () => {
    for (const { id, slug, beside } of paid) {
      const found = await ask(`/api/v1/articles/search?q=${encodeURIComponent(`"Story ${id}"`)}`);
      expect([found.status, JSON.parse(found.text).hits[0]?.slug]).toEqual([200, slug]);
      const behind = await ask(`/api/v1/articles/search?q=${beside}`);
      expect([behind.status, JSON.parse(behind.text).nbHits]).toEqual([200, 0]);
      expect((await ask(`/search?q=${beside}`)).status).toBe(200);
    }
  });

  it('is in no response to a POST, PUT or OPTIONS request', async () => {
    const headers = {
      origin: 'https://paper.example',
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
    };
    const tried = paid.filter(({ slug }) => ['registered-long', 'subscriber-long', 'subscriber-live'].includes(slug));
    expect(tried).toHaveLength(3);
    for (const { id, slug, beside } of tried) {
      const body = JSON.stringify({
        path: `/article/${slug}`,
        sdkFeatureSlug: 'article-access',
        featureIds: ['paywall'],
        articleId: id,
        id,
        q: beside,
        giftToken: 'A'.repeat(43),
        contentId: String(id),
      });
      const entry = entriesOfPaid({ id }).map(String);
      const calls = everyRoute({ ...words(), slug: [slug], id: [String(id)], thread: [String(1000 + id)], entry });
      for (const method of ['POST', 'PUT', 'OPTIONS'])
        expect(await search(calls, headers, method, method === 'OPTIONS' ? undefined : body), method).toEqual([]);
    }
  });

  it('is not reached by a variation of the path or query', async () => {
    expect(await search(articles().flatMap(pathTricks))).toEqual([]);
  });

  it.each(Object.entries(headerTricks))('is not reached with the header %s', async (name, value) => {
    expect(await search(articles(), { [name]: value })).toEqual([]);
    expect(await search(articles(), { [name]: value, connection: 'close' }, 'HEAD')).toEqual([]);
  });

  it('is not reached with any encoding or range, or with the full article’s ETag', async () => {
    for (const path of articles()) {
      const full = await ask(path, { cookie: `access=${cookies.sign('subscriber', soon())}` });
      const etag = String(full.headers.etag);
      for (const encoding of ['br', 'gzip', 'deflate', 'zstd', 'identity', 'br;q=0, *', '']) {
        expect(secretsIn(await ask(path, { 'accept-encoding': encoding })), encoding).toEqual([]);
        const known = await ask(path, { 'accept-encoding': encoding, 'if-none-match': etag });
        expect([known.status, secretsIn(known)], encoding).toEqual([200, []]);
        expect(
          secretsIn(await ask(path, { 'accept-encoding': encoding, range: 'bytes=100-', 'if-range': etag })),
        ).toEqual([]);
      }
    }
  });

  it('is not reached with a forged, expired or insufficient cookie', async () => {
    for (const { slug, secret } of paid) {
      const path = `/article/${slug}`;
      for (const [name, cookie] of Object.entries(poorCookies(path))) {
        for (const suffix of ['', '/comments'])
          expect(secretsIn(await ask(path + suffix, { cookie })), `${path}${suffix} with ${name} (${secret})`).toEqual(
            [],
          );
      }
    }
  });

  it('is not on error pages or on a page that was rendered again', async () => {
    await site.sitePress.press.refresh(articles(), 'test');
    expect(await search(articles())).toEqual([]);
    expect(await search(articles().map((path) => `${path}-x`))).toEqual([]);
    expect(await search(articles().map((path) => `${path}/%zz`))).toEqual([]);
  });

  it('is not given to a client that only claims to be a search engine’s crawler', async () => {
    for (const agent of [googlebot, 'Googlebot', 'Googlebot-News', 'bingbot']) {
      for (const from of ['66.249.66.1', '192.0.2.66, 198.51.100.7', '::ffff:66.249.66.1'])
        expect(await search(articles(), { 'user-agent': agent, 'x-forwarded-for': from }), `${agent} ${from}`).toEqual(
          [],
        );
    }
  });
});
