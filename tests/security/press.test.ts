/**
 * What must not be possible with the stored pages: putting parts of a request into other readers' pages, storing copies without
 * limit, getting behind the paywall without one of our cookies, or changing anything with a webhook that isn't the plugin's. The
 * HTTP server, the press, the keys and the content store are the real ones; the pages print everything that they can see of a
 * request.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openContent } from '../../src/content/content.server.ts';
import type { Content } from '../../src/content/service.ts';
import { silent } from '../../src/lib/logging.ts';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { parseConfig } from '../../src/server/config/config.ts';
import { createHttpServer } from '../../src/server/http/http-server.ts';
import type { RenderPage } from '../../src/server/http/page-renderer.ts';
import { securityHeaders } from '../../src/server/http/security-headers.ts';
import type { HttpServer } from '../../src/server/http/server-options.ts';
import { shutDown } from '../../src/server/http/shutdown.ts';
import { openStatics } from '../../src/server/http/static-files.ts';
import { openSitePress, type SitePress } from '../../src/server/press/open-press.ts';
import { createPublishing, type Publishing } from '../../src/server/press/publishing.ts';
import { answerWith } from '../fixtures/answer.ts';
import { fakeWordPress, type Json, wirePost, wireSection } from '../fixtures/wordpress.ts';
import { runs } from '../world/runs.ts';

const siteUrl = 'https://paper.example';
const secret = 'a-secret-that-only-the-plugin-knows';
const key = { id: 'k1', secret: 'a-secret-for-the-access-cookie-of-tests' };
const folder = mkdtempSync(join(tmpdir(), 'press-security-'));
const config = parseConfig({
  SITE_URL: siteUrl,
  DATA_DIR: folder,
  ACCESS_KEYS: `${key.id}:${key.secret}`,
  CDN_HEADERS: 'on',
});
const wordpress = fakeWordPress();
let content: Content;
let room: SitePress;
let server: HttpServer;
let port: number;
let renders: string[] = [];

/** Prints everything that a page could see of the reader's request. */
const render: RenderPage = async (request, locals) => {
  const url = new URL(request.url);
  if (url.pathname === '/api/v1/revalidate') {
    const answer = await locals.services.content.receive({
      headers: Object.fromEntries(request.headers),
      rawBody: new Uint8Array(await request.arrayBuffer()),
    });
    return answerWith(JSON.stringify(answer.body), { status: answer.status });
  }
  renders.push(url.pathname + url.search);
  const slug = decodeURIComponent(/^\/article\/([^/]+)$/.exec(url.pathname)?.[1] ?? '');
  const article = slug ? locals.content.article(slug) : null;
  const list = url.pathname === '/' ? locals.content.articles({ limit: 50 }).items : [];
  if (!article && url.pathname !== '/') return answerWith('nothing here', { status: 404 });
  if (article) locals.markAccess(article.access);
  const paid = article?.access === 'subscriber' || article?.access === 'registered';
  const body = article ? (paid && locals.variant !== 'full' ? article.openingHtml : article.bodyHtml) : '';
  const seen = JSON.stringify([request.url, [...request.headers]]);
  const headers = { 'content-type': 'text/html', 'set-cookie': 'session=of-a-reader' };
  return answerWith(`${body}${list.map((card) => card.title).join()}<pre>${seen}</pre>`, {
    // A cookie would prevent storing the page; only this address sets one.
    headers: url.search.includes('cookie') ? headers : { 'content-type': 'text/html' },
  });
};

beforeAll(async () => {
  wordpress.put('categories', wireSection(2, 'politics', 1) as Json & { id: number });
  for (let id = 1; id <= 5; id++) {
    wordpress.put('articles', {
      ...wirePost({
        id,
        slug: `story-${id}`,
        access: id === 4 ? 'registered' : id === 5 ? 'subscriber' : 'free',
        content: { rendered: `<p>Opening.</p>${'<p>Words.</p>'.repeat(9)}<p>ENDING-${id}</p>`, protected: false },
      }),
      id,
    });
  }
  let publishing: Publishing | undefined;
  content = openContent({
    file: join(folder, 'content.sqlite'),
    wordpress: { url: wordpress.url, user: 'site', password: 'x' },
    siteUrl,
    secret,
    frameHosts: [],
    measure: async () => null,
    log: silent,
    pollSeconds: 3600,
    fetch: wordpress.fetch,
    threads: false,
    onChange: (change) => publishing?.changed(change),
  });
  await content.syncNow();
  const services = { content, features: {}, accounts: null, log: silent } as unknown as App.Locals['services'];
  const locals = (): App.Locals => ({
    content: content.reader(),
    variant: 'public',
    markAccess: () => {},
    config,
    services,
  });
  const security = securityHeaders(config);
  room = openSitePress({ config, app: { locals, services }, render, security, build: 'one', log: silent });
  publishing = createPublishing({
    press: room.press,
    prioritize: room.prioritize,
    cdn: { purge: () => {} },
    indexNow: { announce: () => {} },
    reader: content.reader,
    log: silent,
    published: () => {},
  });
  server = createHttpServer({
    siteUrl,
    statics: openStatics(join(folder, 'none')),
    security,
    render,
    pages: { press: room.press, keyOf: room.keyOf, access: room.access },
    locals,
    editionReady: () => true,
    readiness: () => ({}),
    log: silent,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  await shutDown(server, 0);
  await content.stop();
  await room.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

function ask(
  path: string,
  headers: Record<string, string | string[]> = {},
  method = 'GET',
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ port, host: '127.0.0.1', path, method, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const stored = (): number => room.press.stats().store?.pages ?? 0;

describe('cache poisoning', () => {
  const headers: Record<string, string> = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'http',
    'x-forwarded-port': '666',
    'x-forwarded-for': '6.6.6.6',
    'x-forwarded-prefix': '/evil',
    forwarded: 'host=evil.example;proto=http',
    'x-host': 'evil.example',
    'x-original-url': '/evil',
    'x-rewrite-url': '/evil',
    'x-http-method-override': 'POST',
    'x-forwarded-scheme': 'evil',
    cookie: 'session=evil; preview=evil',
    authorization: 'Bearer evil',
    referer: 'https://evil.example/',
    origin: 'https://evil.example',
    'user-agent': 'evil',
    'accept-language': 'evil',
    accept: 'application/evil',
    range: 'bytes=0-1',
    'cache-control': 'no-cache, evil',
    pragma: 'evil',
    'if-none-match': '"evil"',
    'x-evil': 'evil',
  };

  it.each(Object.entries(headers))('the header %s does not change the page that others get', async (name, value) => {
    await room.press.refresh(['/article/story-1'], 'test');
    await ask('/article/story-1', { [name]: value });
    const next = await ask('/article/story-1');
    expect(next.status).toBe(200);
    expect(next.text).toContain('ENDING-1');
    expect(next.text).not.toMatch(/evil|6\.6\.6\.6|666/);
    expect(JSON.stringify(next.headers)).not.toContain('evil');
  });

  it('the first request’s headers are not in the page that is rendered and stored for all', async () => {
    const first = await ask('/article/story-2', headers);
    expect(first.headers['server-timing']).toBe('press;desc="rendered"');
    expect(first.text).not.toMatch(/evil/);
    expect((await ask('/article/story-2')).text).toBe(first.text);
  });

  it('a parameter that the page does not use is not shown, and creates no copy of the page', async () => {
    const plain = await ask('/article/story-1');
    const before = stored();
    renders = [];
    for (const query of [
      'utm_source=evil',
      'fbclid=1',
      'page=2',
      '_=1',
      'x[]=1',
      'q=%00',
      '%',
      '&&&',
      'a=1?b=2',
      'cookie',
    ]) {
      const answer = await ask(`/article/story-1?${query}`);
      expect(answer.text, query).toBe(plain.text);
      expect(answer.headers.etag, query).toBe(plain.headers.etag);
    }
    expect(stored()).toBe(before);
    expect(renders).toEqual([]);
  });

  it('a cookie that the rendered page sets is not stored or sent', async () => {
    await room.press.refresh(['/'], 'test');
    const answer = await ask('/?cookie');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers.vary).toBe('Accept-Encoding');
  });

  it('a full URL in the request line is served by its path, whatever its host', async () => {
    const plain = await ask('/article/story-1');
    expect((await ask('http://evil.example/article/story-1')).text).toBe(plain.text);
  });

  it('a request with another method gets 405 and does not change the page', async () => {
    const before = await ask('/article/story-3');
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      expect((await ask('/article/story-3', {}, method, 'evil')).status).toBe(405);
    expect((await ask('/article/story-3')).text).toBe(before.text);
    expect((await ask('/article/story-3', {}, 'HEAD')).headers.etag).toBe(before.headers.etag);
  });
});

describe('unusual paths', () => {
  async function expectNotStored(path: string, status: number, location?: string): Promise<void> {
    const before = stored();
    const answer = await ask(path);
    expect(answer.status).toBe(status);
    expect(answer.headers.location).toBe(location);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(stored()).toBe(before);
  }

  it.each([
    ['//article/story-1', 301, '/article/story-1'],
    ['/article//story-1', 301, '/article/story-1'],
    ['/article/story-1/', 301, '/article/story-1'],
    ['/article/./story-1', 301, '/article/story-1'],
    ['/x/../article/story-1', 301, '/article/story-1'],
    ['/x/%2e%2e/article/story-1', 301, '/article/story-1'],
    ['/article/STORY-1', 301, '/article/story-1'],
    ['/Article/Story-1?utm=1', 301, '/article/story-1?utm=1'],
    ['//evil.example/%2e%2e', 301, '/'],
    ['/\\evil.example', 400, undefined],
    ['/article/story-1%00', 400, undefined],
    ['/article/story-1%0d%0aset-cookie:%20a=b', 400, undefined],
    ['/article/%zz', 400, undefined],
    ['/article/%ff', 400, undefined],
    ['/article/%2573tory-1', 404, undefined],
  ])('store no page and are redirected or refused: %s', expectNotStored);

  it.each([
    ['path of 2,000 characters', `/${'a'.repeat(2000)}`],
    ['query of 5,000 characters', `/article/story-1?${'a'.repeat(5000)}`],
  ])('store no page and are refused: a %s', (_, path) => expectNotStored(path, 414));

  it('share one page if they are percent-encoded spellings of one address', async () => {
    const plain = await ask('/article/story-1');
    renders = [];
    expect((await ask('/article/st%6fry-1')).text).toBe(plain.text);
    expect((await ask('/article/story%2D1')).text).toBe(plain.text);
    expect(renders).toEqual([]);
  });

  const unknownAddresses = runs(2000, 10_000);
  it(`add no page to the cache for ${unknownAddresses} addresses that do not exist`, async () => {
    const before = room.press.stats();
    for (let n = 0; n < unknownAddresses; n += 50) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, at) => ask(`/article/no-${n + at}-${randomUUID()}`)),
      );
      for (const answer of answers) expect(answer.status).toBe(404);
    }
    const after = room.press.stats();
    expect(after.store?.pages).toBe(before.store?.pages);
    expect(after.memory.pages).toBe(before.memory.pages);
    expect(after.queue).toBe(0);
  });
});

describe('the paywall', () => {
  const soon = (): number => Math.floor(Date.now() / 1000) + 600;
  const cookies = createAccessCookie({ name: 'access', keys: [key] });
  const good = cookies.sign('subscriber', soon());
  const otherKey = createAccessCookie({
    name: 'access',
    keys: [{ id: 'k1', secret: 'another-secret-of-32-characters-long' }],
  });
  const unknownId = createAccessCookie({ name: 'access', keys: [{ ...key, id: 'k2' }] });
  const flip = (text: string, at: number): string =>
    `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;

  it('gives the full article only to a valid access cookie, with no-store for CDNs', async () => {
    const full = await ask('/article/story-5', { cookie: `a=b; access=${good}; c=d` });
    expect(full.text).toContain('ENDING-5');
    expect(full.headers['cache-control']).toBe('private, max-age=0, must-revalidate');
    expect(full.headers['cdn-cache-control']).toBe('no-store');
    expect(full.headers['cache-tag']).toBeUndefined();
    const open = await ask('/article/story-5');
    expect(open.text).toContain('Opening.');
    expect(open.text).not.toContain('ENDING-5');
    expect(open.headers['cdn-cache-control']).toContain('max-age=');
    expect(open.headers['cache-tag']).toContain('article:5');
  });

  it.each<[string, string]>([
    ['no cookie', ''],
    ['an empty cookie', 'access='],
    ['signed with another secret', `access=${otherKey.sign('subscriber', soon())}`],
    ['signed with an unknown key ID', `access=${unknownId.sign('subscriber', soon())}`],
    ['expired', `access=${cookies.sign('subscriber', Math.floor(Date.now() / 1000) - 1)}`],
    ['for registered readers only', `access=${cookies.sign('registered', soon())}`],
    ['without its signature', `access=${good.slice(0, good.lastIndexOf('.'))}`],
    ['with an empty signature', `access=${good.slice(0, good.lastIndexOf('.') + 1)}`],
    ['with a changed last character', `access=${flip(good, good.length - 1)}`],
    ['with a changed expiry time', `access=${good.replace(/\.\d+\./, '.99999999999.')}`],
    [
      'for registered readers, changed to subscribers',
      `access=${cookies.sign('registered', soon()).replace('registered', 'subscriber')}`,
    ],
    ['under another name', `xaccess=${good}`],
    ['with a capital letter in its name', `Access=${good}`],
    ['in quotation marks', `access="${good}"`],
    ['percent-encoded', `access=${encodeURIComponent(good).replace('.', '%2e')}`],
    ['only the word “subscriber”', 'access=subscriber'],
    ['8,000 characters long', `access=${'v1.k1.'.padEnd(8000, '9')}`],
  ])('stays closed to an access cookie that is missing or invalid: %s', async (_name, cookie) => {
    // Also rendered again: neither the press nor its stored pages may leak.
    for (const again of [false, true]) {
      if (again) await room.press.refresh(['/article/story-5'], 'test');
      const answer = await ask('/article/story-5', cookie ? { cookie } : {});
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain('ENDING-5');
      expect(answer.headers['cache-control']).toBe('public, max-age=0, must-revalidate');
    }
  });

  it('is not opened by another header, a parameter or an ETag', async () => {
    const full = await ask('/article/story-5', { cookie: `access=${good}` });
    const etag = String(full.headers.etag);
    const attempts: [string, Record<string, string>][] = [
      ['/article/story-5', { authorization: `Bearer ${good}` }],
      ['/article/story-5', { 'x-access': good }],
      [`/article/story-5?access=${good}`, {}],
      ['/article/story-5?variant=full', {}],
      ['/article/story-5', { 'if-none-match': etag }],
      ['/article/story-5', { 'if-none-match': '*, evil' }],
    ];
    for (const [path, headers] of attempts) {
      const answer = await ask(path, headers);
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain('ENDING-5');
      expect(answer.headers.etag).not.toBe(etag);
    }
  });

  it('closes at once when an article becomes paid, and opens when it is free again', async () => {
    expect((await ask('/article/story-3')).text).toContain('ENDING-3');
    wordpress.put('articles', { ...edited(3), access: 'subscriber' });
    await deliver({ id: 3, slug: 'story-3' });
    expect((await ask('/article/story-3')).text).not.toContain('ENDING-3');
    wordpress.put('articles', { ...edited(3), access: 'free' });
    await deliver({ id: 3, slug: 'story-3' });
    expect((await ask('/article/story-3')).text).toContain('ENDING-3');
    const withCookie = await ask('/article/story-3', { cookie: `access=${good}` });
    expect(withCookie.headers['cache-control']).toBe('public, max-age=0, must-revalidate');
  });
});

let minute = 0;
function edited(id: number, title?: string): Json & { id: number } {
  const at = new Date(Date.parse('2026-11-20T13:00:00Z') + ++minute * 60_000).toISOString().slice(0, 19);
  const before = wordpress.store.articles.get(id) as Json & { id: number };
  return { ...before, modified: at, modified_gmt: at, ...(title && { title: { rendered: title } }) };
}

function deliver(
  hook: Json,
  change: { timestamp?: number; delivery?: string; secret?: string; signed?: string; signature?: string } = {},
): Promise<Answer> {
  const body = JSON.stringify({
    event: 'update',
    type: 'articles',
    previous_slug: null,
    status: 'publish',
    modified: '2026-11-20T12:00:00Z',
    ...hook,
  });
  const timestamp = String(change.timestamp ?? Math.floor(Date.now() / 1000));
  const delivery = change.delivery ?? randomUUID();
  const hmac = createHmac('sha256', change.secret ?? secret).update(
    `${timestamp}.${delivery}.${change.signed ?? body}`,
  );
  const headers = {
    'content-type': 'application/json',
    'x-newsroom-timestamp': timestamp,
    'x-newsroom-delivery': delivery,
    'x-newsroom-signature': change.signature ?? `sha256=${hmac.digest('hex')}`,
  };
  return ask('/api/v1/revalidate', headers, 'POST', body);
}

describe('webhooks', () => {
  it('are refused and change nothing if they are forged, stale, repeated or malformed', async () => {
    await ask('/');
    const before = (await ask('/article/story-1')).text;
    wordpress.put('articles', edited(1, 'Never to be seen before it was told'));
    const requests = wordpress.requests.length;
    const hook = { id: 1, slug: 'story-1' };
    const now = Math.floor(Date.now() / 1000);
    expect((await deliver(hook, { secret: 'a-guess-that-is-not-the-secret' })).status).toBe(401);
    expect((await deliver(hook, { signed: JSON.stringify({ ...hook, id: 2 }) })).status).toBe(401);
    for (const signature of ['', 'sha256=', `sha256=${'0'.repeat(64)}`, 'sha1=abc', '{}']) {
      expect((await deliver(hook, { signature })).status).toBe(401);
    }
    expect((await deliver(hook, { timestamp: now - 301 })).status).toBe(412);
    expect((await deliver(hook, { timestamp: now + 400 })).status).toBe(412);
    expect((await deliver({ id: 'one', slug: 'story-1' })).status).toBe(422);
    expect((await deliver({ ...hook, event: 'explode' })).status).toBe(422);
    expect((await ask('/article/story-1')).text).toBe(before);
    expect(wordpress.requests.length).toBe(requests);

    const delivery = randomUUID();
    expect((await deliver(hook, { delivery })).status).toBe(200);
    const renders = room.press.stats().counters.renders;
    expect((await deliver(hook, { delivery })).status).toBe(409);
    expect(room.press.stats().counters.renders).toBe(renders);
  });
});
