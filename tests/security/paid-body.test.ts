/**
 * Text behind a paywall never leaks: every link, every route of the site and every trick with paths and headers is tried without
 * access and with too low an access level, and each response is searched for sentences that occur nowhere else. With access they are
 * found, otherwise the search would prove nothing.
 */
import { request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccessCookie, createPassCookie } from '../../src/press/delivery/access-cookie.ts';

import { type AccountSite, type Browser, startAccountSite } from '../fixtures/account-site.ts';
import { entriesOfPaid, everyRoute, type Paid, paidArticles } from '../fixtures/paid-paper.ts';

const key = { id: 'k1', secret: 'a-secret-for-the-access-cookie-of-tests' };
const cookies = createAccessCookie({ name: 'access', keys: [key] });
const passes = createPassCookie({ name: 'gift', keys: [key] });
const soon = (): number => Math.floor(Date.now() / 1000) + 600;
const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

let site: AccountSite;
let paid: readonly Paid[] = [];

beforeAll(async () => {
  site = await startAccountSite({
    write: (wordpress) => {
      paid = paidArticles(wordpress);
    },
    // A search engine may read everything, from addresses that no reader in this test has.
    front: {
      crawlers: {
        claims: (agent) => (/Googlebot/.test(agent ?? '') ? 'google' : null),
        verify: async (_, address) => address === '192.0.2.66',
      },
    },
  });
});
afterAll(() => site.stop());

interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Requests exactly the given path; the response is decompressed, and its headers are searched, too. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { port: site.port, host: '127.0.0.1', path, method, headers, agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const raw = Buffer.concat(chunks);
          const text = raw.byteLength > 0 ? unpacked(raw, incoming.headers['content-encoding']) : '';
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function unpacked(raw: Buffer, encoding: string | undefined): string {
  switch (encoding) {
    case 'br':
      return brotliDecompressSync(raw).toString();
    case 'gzip':
      return gunzipSync(raw).toString();
    case 'deflate':
      return inflateSync(raw).toString();
    case 'zstd':
      return zstdDecompressSync(raw).toString();
    default:
      return raw.toString();
  }
}

/** Secrets in a response, in any case, escaped or not. */
function secretsIn({ text, headers }: Seen): string[] {
  const all = `${text}\n${JSON.stringify(headers)}`.toLowerCase();
  return paid.map(({ secret }) => secret).filter((secret) => all.includes(secret.toLowerCase()));
}

/** Requests many addresses, a few at a time. @returns what was found where */
async function search(paths: Iterable<string>, headers: Record<string, string> = {}, method = 'GET', body?: string) {
  const waiting = [...paths];
  const found: string[] = [];
  const worker = async (): Promise<void> => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const leaks = secretsIn(await ask(path, headers, method, body));
      if (leaks.length > 0) found.push(`${method} ${path}: ${leaks.join(', ')}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return found.toSorted();
}

/** Follows every link of the site from its front page, its feeds and its sitemaps. */
async function crawl(headers: Record<string, string> = {}): Promise<{ paths: Set<string>; found: string[] }> {
  const paths = new Set([
    '/',
    '/sitemap.xml',
    '/news-sitemap.xml',
    '/rss.xml',
    '/atom.xml',
    '/feed.json',
    '/robots.txt',
    '/ads.txt',
    '/.well-known/security.txt',
  ]);
  const found: string[] = [];
  const queue = [...paths];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const seen = await ask(path, headers);
    for (const secret of secretsIn(seen)) found.push(`${path}: ${secret}`);
    const addresses = [
      ...seen.text.matchAll(
        /(?:href|src|data-src|data-fragment|action|content)="([^"]+)"|<loc>([^<]+)|"url": ?"([^"]+)"/g,
      ),
    ];
    for (const [, ...groups] of addresses) {
      const address = (groups.find((each) => each !== undefined) ?? '').replaceAll('&amp;', '&');
      if (!URL.canParse(address, 'https://paper.example')) continue;
      const url = new URL(address, 'https://paper.example');
      const next = url.pathname + url.search;
      if (url.origin !== 'https://paper.example' || /^\/(?:_assets|image|fonts)/.test(next) || paths.has(next))
        continue;
      if (paths.size > 1500) continue;
      paths.add(next);
      queue.push(next);
    }
  }
  return { paths, found: found.toSorted() };
}

const articles = (): string[] => paid.map(({ slug }) => `/article/${slug}`);
const words = () => ({
  slug: [...paid.map(({ slug }) => slug), 'politics', 'ada-byline', 'account', 'about'],
  thread: paid.map(({ id }) => String(1000 + id)),
  feed: ['rss.xml', 'atom.xml', 'feed.json'],
  name: ['articles-1', 'sections', 'pages', '1'],
  token: ['A'.repeat(43)],
  provider: ['google'],
  appId: ['paper'],
  id: paid.map(({ id }) => String(id)),
  entry: paid.flatMap(entriesOfPaid).map(String),
});
/** Other addresses that leaked on sites of this kind, and some that this site may get. */
const others = (): string[] =>
  paid.flatMap(({ id, slug, beside }) => [
    `/search?q=${beside}`,
    `/search?q=${beside.slice(0, 7)}`,
    `/search?q="${beside}"`,
    `/search?q=${beside}&section=politics`,
    `/api/v1/articles/search?q=${beside}`,
    `/api/v1/articles/${id}`,
    `/api/v1/articles/popular/list?limit=10`,
    `/wp-json/wp/v2/articles/${id}`,
    `/wp-json/wp/v2/articles?slug=${slug}`,
    `/wp-json/wp/v2/articles?search=${beside}`,
    `/wp-json/wp/v2/search?search=${beside}`,
    `/?p=${id}`,
    `/?s=${beside}`,
    `/preview?type=articles&id=${id}`,
    `/preview?type=articles&id=${id}&expires=9999999999&signature=${'0'.repeat(64)}`,
    `/article/${slug}/live?page=2`,
    `/live/${id}`,
    `/live/${id}?since=x`,
    ...entriesOfPaid({ id }).map((entry) => `/fragments/live/${entry}`),
    `/article/${slug}/comments`,
    `/article/${slug}/comments?page=2`,
    `/article/${slug}/feed`,
    `/article/${slug}/rss.xml`,
    `/article/${slug}/amp`,
    `/article/${slug}.json`,
    `/article/${slug}.md`,
    `/article/${slug}/embed`,
    `/article/${slug}/print`,
    `/image?url=${encodeURIComponent(`https://paper.example/article/${slug}`)}&w=640&q=75`,
    `/-/press?page=/article/${slug}`,
  ]);

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
    for (const { id, slug, beside } of paid) {
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
      const calls = everyRoute({ ...words(), slug: [slug], id: [String(id)], thread: [String(1000 + id)] });
      for (const method of ['POST', 'PUT', 'OPTIONS'])
        expect(await search(calls, headers, method, method === 'OPTIONS' ? undefined : body), method).toEqual([]);
      if (id > 102) break;
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
    await site.room.press.refresh(articles(), 'test');
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

describe('the paid text of an article, with a free account', () => {
  it('is visible only in articles for registered readers', async () => {
    const browser = site.browser();
    await browser.signIn(site, 'registered@example.com');
    const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const mine = paid.filter(({ level }) => level === 'registered');
    // The further page and the entries of a live story are for the same readers as the story.
    const live = mine.filter(({ slug }) => slug.endsWith('-live'));
    const expected = [
      ...mine.map(({ slug, secret }) => `GET /article/${slug}: ${secret}`),
      ...live.map(({ slug, secret }) => `GET /article/${slug}/live?page=2: ${secret}`),
      ...live.flatMap((one) => entriesOfPaid(one).map((entry) => `GET /fragments/live/${entry}: ${one.secret}`)),
    ].toSorted();
    expect(await search([...new Set([...everyRoute(words()), ...others()])], { cookie })).toEqual(expected);
    const { found } = await crawl({ cookie });
    expect(found).toEqual(
      [
        ...mine.map(({ slug, secret }) => `/article/${slug}: ${secret}`),
        ...live.map(({ slug, secret }) => `/article/${slug}/live?page=2: ${secret}`),
      ].toSorted(),
    );
  });
});

describe('the paid text of an article, with access', () => {
  const everything = () => paid.map(({ slug, secret }) => `GET /article/${slug}: ${secret}`).toSorted();

  it('is visible to a subscriber for as long as the subscription is paid', async () => {
    const browser = site.browser();
    const email = 'subscriber@example.com';
    site.paid.set(email, [{ product: 'sun-reader', until: Date.now() + 3_600_000, trialing: false }]);
    await browser.signIn(site, email);
    expect(browser.jar.get('visitor')).toBe('reader');
    const cookie = () => [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    expect(await search(articles(), { cookie: cookie() })).toEqual(everything());
    const full = await ask(articles()[0] ?? '', { cookie: cookie() });
    expect(full.headers['cache-control']).toBe('private, max-age=0, must-revalidate');

    // Refunded: the next request removes the cookie, and a stolen cookie expires after its quarter of an hour.
    site.paid.set(email, []);
    await browser.post('/zephr/feature-decisions', { featureIds: [] });
    expect(browser.jar.get('visitor')).toBe('registered');
    const registered = paid.filter(({ level }) => level === 'registered');
    expect(await search(articles(), { cookie: cookie() })).toHaveLength(registered.length);
  });

  it('is hidden when the paid period ends, even if no request renews the cookie', async () => {
    const browser = site.browser();
    const email = 'ending@example.com';
    await browser.signIn(site, email);
    const path = `/article/${paid.find(({ level }) => level === 'subscriber')?.slug}`;
    let cookie = '';
    let until = 0;
    // A machine that is too busy to ask in these seconds gets more of them.
    for (let seconds = 4; ; seconds *= 2) {
      until = Date.now() + seconds * 1000;
      site.paid.set(email, [{ product: 'sun-member', until, trialing: false }]);
      browser.jar.delete('access');
      await browser.post('/zephr/feature-decisions', { featureIds: [] });
      cookie = `access=${browser.jar.get('access')}`;
      const found = secretsIn(await ask(path, { cookie }));
      // A cookie's time is in whole seconds.
      if (Date.now() > until - 1000) continue;
      expect(found).toHaveLength(1);
      break;
    }
    await expect.poll(() => Date.now()).toBeGreaterThan(until);
    expect(secretsIn(await ask(path, { cookie }))).toEqual([]);
  });

  it('appears on each device after a payment, once the device asks for its access', async () => {
    const [phone, desk] = [site.browser(), site.browser()];
    const email = 'two-devices@example.com';
    await phone.signIn(site, email);
    await desk.signIn(site, email, 'login');
    const path = `/article/${paid.find(({ level }) => level === 'subscriber')?.slug}`;
    const found = async (browser: Browser) => secretsIn(await browser.get(path)).length;
    expect([await found(phone), await found(desk)]).toEqual([0, 0]);
    site.paid.set(email, [{ product: 'sun-founder', until: Date.now() + 3_600_000, trialing: false }]);
    await desk.post('/zephr/feature-decisions', { featureIds: [], path });
    expect([await found(phone), await found(desk)]).toEqual([0, 1]);
    await phone.post('/zephr/feature-decisions', { featureIds: [], path });
    expect([await found(phone), await found(desk), phone.jar.get('visitor')]).toEqual([1, 1, 'founder']);
    // Signed out everywhere: this browser's cookies are removed at once, the other's with its next request.
    await desk.post('/blaize/logout', { where: 'EVERYWHERE' });
    expect(await found(desk)).toBe(0);
    await phone.post('/zephr/feature-decisions', { featureIds: [] });
    expect([await found(phone), phone.jar.size]).toEqual([0, 0]);
  });

  it('is opened by a gift link for the one article only', async () => {
    const giver = site.browser();
    const email = 'giver@example.com';
    site.paid.set(email, [{ product: 'sun-reader', until: Date.now() + 3_600_000, trialing: false }]);
    await giver.signIn(site, email);
    const [article, other] = paid.filter(({ level }) => level === 'subscriber');
    if (!article || !other) throw new Error('There are no articles.');
    const made = await giver.post('/api/v1/gifts', { articleId: article.id });
    expect(made.status).toBe(201);
    const { url, left, readers } = made.json<{ url: string; left: number; readers: number }>();
    expect([left, readers]).toEqual([9, 10]);

    const friend = site.browser();
    const path = new URL(url).pathname;
    const page = await friend.get(path);
    expect([page.status, secretsIn(page), friend.jar.size]).toEqual([200, [], 0]);
    expect(page.headers['cache-control']).toBe('no-store');
    const opened = await friend.submit(path, {});
    expect([opened.status, opened.headers.location]).toEqual([303, `/article/${article.slug}`]);
    // Two cookies have this name: a browser sends this one to the article, and the other to the link.
    const forArticle = opened.cookies.find((line) => line.includes(`; Path=/article/${article.slug};`));
    const [gift = ''] = forArticle?.split(';') ?? [];
    expect(gift).toMatch(/^gift=v1\./);
    const whole = await ask(`/article/${article.slug}`, { cookie: gift });
    expect([secretsIn(whole), whole.headers['cache-control']]).toEqual([
      [article.secret],
      'private, max-age=0, must-revalidate',
    ]);
    expect(await search([...everyRoute(words()), ...others()], { cookie: gift })).toEqual([
      `GET /article/${article.slug}: ${article.secret}`,
    ]);

    const stranger = site.browser();
    await stranger.signIn(site, 'stranger@example.com');
    expect((await stranger.post('/api/v1/gifts', { articleId: article.id })).status).toBe(403);
    expect((await site.browser().post('/api/v1/gifts', { articleId: article.id })).status).toBe(401);
    expect((await giver.post('/api/v1/gifts', { articleId: 1 })).status).toBe(409);
    expect((await giver.post('/api/v1/gifts', { articleId: 99_999 })).status).toBe(404);
    expect((await site.browser().get(`/gift/${'A'.repeat(43)}`)).status).toBe(410);
  });

  it('is visible to a search engine with a known IP address, and not stored in caches', async () => {
    const headers = { 'user-agent': googlebot, 'x-forwarded-for': '192.0.2.66' };
    expect(await search(articles(), headers)).toEqual(everything());
    const seen = await ask(articles()[0] ?? '', headers);
    expect(seen.headers['cache-control']).toBe('private, no-store');
    expect(seen.headers['cdn-cache-control']).toBe('no-store');
    expect(seen.headers.etag).toBeUndefined();
    expect(await search(articles())).toEqual([]);
  });

  it('is marked as paid in structured data, in the public and full variants', async () => {
    for (const { slug } of paid.slice(0, 1)) {
      for (const cookie of ['', `access=${cookies.sign('subscriber', soon())}`]) {
        const { text } = await ask(`/article/${slug}`, { cookie });
        expect(text).toMatch(/"isAccessibleForFree":false,"hasPart":\{[^}]*"cssSelector":"\.restricted"/);
        expect(text).toMatch(/class="[^"]*\brestricted\b/);
      }
    }
  });
});
