/** The front with stored pages: hits, misses, failures, and everything besides pages. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { answerWith } from '../../../tests/fixtures/answer.ts';
import { bareSettings, front, stopServers } from '../../../tests/world/http-servers.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { silent } from '../../lib/logging.ts';
import { createAccessCookie } from '../../press/delivery/access-cookie.ts';
import { openPress, type Press } from '../../press/press.server.ts';
import { PressBusy } from '../../press/scheduler/scheduler.server.ts';
import { openStore, type PageStore } from '../../press/store/page-store.server.ts';
import { tempDir } from '../../press/testing.ts';
import { pageKeys } from '../press/page-keys.ts';
import { createPressRender, pageHeaders } from '../press/render-page.ts';
import type { RenderPage } from './page-renderer.ts';
import { currentRequestId } from './request-id.ts';
import { securityHeaders } from './security-headers.ts';
import type { HttpServer, HttpServerOptions } from './server-options.ts';
import { earlierFiles } from './static-files.ts';

let folder: ReturnType<typeof tempDir>;
let store: PageStore;
let press: Press;
let server: HttpServer;
let port: number;
let base: string;
let render: RenderPage;
let ready: boolean;
let revision: number;

beforeEach(() => {
  folder = tempDir();
  ready = true;
  revision = 1;
  render = async () => answerWith('<p>one</p>', { headers: { 'content-type': 'text/html' } });
});
afterEach(async () => {
  await stopServers();
  await press.close();
  store.close();
  folder.remove();
});

async function open(options: Partial<HttpServerOptions> = {}, cdnHeaders = false): Promise<void> {
  const security = securityHeaders(bareSettings);
  const locals = () => ({ content: { tags: new Set(['card:1']) } }) as unknown as App.Locals;
  store = openStore({ file: `${folder.dir}/pages.sqlite`, build: 'one', log: silent });
  press = openPress({
    store,
    memoryBytes: 1e6,
    render: createPressRender(
      (...args) => render(...args),
      bareSettings.siteUrl,
      locals,
      () => revision,
    ),
    headersOf: pageHeaders(security, { cdn: null, cdnHeaders }),
    log: silent,
    retry: { baseMs: 1, capMs: 2 },
    everything: 'site',
  });
  ({ server, port } = await front({
    security,
    render: (...args) => render(...args),
    pages: {
      press,
      keyOf: pageKeys(
        () => ({ resolveSlug: () => ({ kind: 'unknown' }), exists: () => false }) as unknown as ContentReader,
      ),
      access: createAccessCookie({ name: 'access', keys: [{ id: 'a', secret: 'x'.repeat(32) }] }),
    },
    locals,
    editionReady: () => ready,
    ...options,
  }));
  base = `http://127.0.0.1:${port}`;
}

it('the 404 page is rendered once for all missing addresses, until something changes', async () => {
  let made = 0;
  render = async (request, _locals, _address, bare) => {
    const { pathname } = new URL(request.url);
    if (pathname !== '/404') return answerWith(bare ? null : 'whole', { status: 404 });
    return answerWith(`missing, number ${++made}`, { status: 404, headers: { 'content-type': 'text/html' } });
  };
  await open();
  const ask = async (path: string) => {
    const answer = await fetch(base + path);
    return [answer.status, await answer.text()];
  };
  const first = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(`/article/none-${n}`)));
  expect(new Set(first.map(String))).toEqual(new Set(['404,missing, number 1']));
  revision++;
  expect(await ask('/article/none-100')).toEqual([404, 'missing, number 2']);
  expect(store.size().pages).toBe(0);
  const kept = render;
  render = async () => {
    throw new Error('not now');
  };
  revision++;
  expect((await ask('/article/none-200'))[0]).toBe(500);
  render = kept;
  expect(await ask('/article/none-201')).toEqual([404, 'missing, number 3']);
});

it('a page is rendered once for 20 waiting readers, then served from the press, and both are counted', async () => {
  let renders = 0;
  const gate = Promise.withResolvers<void>();
  render = async () => {
    renders++;
    await gate.promise;
    return answerWith('<p>one</p>', { headers: { 'content-type': 'text/html' } });
  };
  await open();
  const waiting = Array.from({ length: 20 }, () => fetch(`${base}/about`));
  await expect.poll(() => press.stats().counters.misses).toBe(20);
  gate.resolve();
  for (const answer of await Promise.all(waiting)) expect(await answer.text()).toBe('<p>one</p>');
  expect(renders).toBe(1);
  const hit = await fetch(`${base}/about?utm_source=x`);
  expect(hit.headers.get('server-timing')).toBe('press;desc="hit"');
  expect(hit.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(hit.headers.get('cache-tag')).toBeNull();
  const etag = String(hit.headers.get('etag'));
  expect((await fetch(`${base}/about`, { headers: { 'if-none-match': etag } })).status).toBe(304);
  expect(server.counts).toEqual({ hits: 2, notModified: 1, misses: 20, errors: 0 });
});

it('a miss is rendered and counted under its request’s id, which is not sent with pages that caches keep', async () => {
  const kinds: string[] = [];
  const rendered: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  render = async (request) => {
    await gate.promise;
    rendered.push([new URL(request.url).pathname, currentRequestId()]);
    return answerWith('<p>one</p>', { headers: { 'content-type': 'text/html' } });
  };
  await open({ requestId: ({ url }) => url ?? '', answered: (kind) => kinds.push(kind) });
  // More than are rendered at once: the end of one render starts the next.
  const names = ['about', 'pricing', 'media', 'games', 'print', 'membership', 'founder', 'events', 'follow', 'offline'];
  const paths = names.map((name) => `/${name}`);
  const waiting = paths.map((path) => fetch(base + path));
  await expect.poll(() => press.stats().counters.misses).toBe(paths.length);
  gate.resolve();
  for (const answer of await Promise.all(waiting)) expect(answer.headers.get('x-request-id')).toBeNull();
  expect(new Set(rendered)).toEqual(new Set(paths.map((path) => [path, path])));
  await fetch(`${base}/about`);
  expect(kinds).toEqual(paths.map(() => 'miss'));
});

it('a failed render leaves the old page, or shows the 500 page if there is none, and recovers', async () => {
  await open();
  await fetch(`${base}/about`);
  let broken = true;
  render = async () =>
    broken
      ? answerWith('<p>inspecting the presses</p>', { status: 500, headers: { 'content-type': 'text/html' } })
      : answerWith('<p>two</p>', { headers: { 'content-type': 'text/html' } });
  expect((await press.invalidate(['card:1'])).failed).toBe(1);
  const old = await fetch(`${base}/about`);
  expect([old.status, await old.text()]).toEqual([200, '<p>one</p>']);
  const none = await fetch(`${base}/pricing`);
  expect([none.status, await none.text()]).toEqual([500, '<p>inspecting the presses</p>']);
  expect(none.headers.get('cache-control')).toBe('no-store');
  expect(none.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
  expect(none.headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
  expect(server.counts.errors).toBe(1);
  expect(press.stats().failures[0]?.cause).toContain('500');
  broken = false;
  await expect.poll(async () => (await fetch(`${base}/about`)).text()).toBe('<p>two</p>');
  expect((await fetch(`${base}/pricing`)).status).toBe(200);
});

it('a full page that requires a higher level than the public page says is sent only to readers of that level', async () => {
  let level: 'registered' | 'subscriber' = 'registered';
  render = async (_request, locals) => {
    (locals.content.tags as Set<string>).add(`only ${locals.variant}`);
    locals.markAccess?.(level);
    return answerWith(`${locals.variant} for ${level}`, { headers: { 'content-type': 'text/html' } });
  };
  await open();
  const access = createAccessCookie({ name: 'access', keys: [{ id: 'a', secret: 'x'.repeat(32) }] });
  const cookie = (own: 'registered' | 'subscriber') =>
    `access=${access.sign(own, Math.floor(Date.now() / 1000) + 600)}`;
  const ask = async (own: 'registered' | 'subscriber') =>
    (await fetch(`${base}/about`, { headers: { cookie: cookie(own) } })).text();
  expect([await ask('registered'), await ask('registered')]).toEqual(Array(2).fill('full for registered'));
  level = 'subscriber';
  await press.invalidate(new Set(['only full']));
  expect([await ask('registered'), await ask('registered')]).toEqual(Array(2).fill('public for registered'));
  expect(await ask('subscriber')).toBe('full for subscriber');
  await press.invalidate(new Set(['only public']));
  expect([await ask('registered'), await ask('subscriber')]).toEqual(['public for subscriber', 'full for subscriber']);
});

it('a verified search engine gets the full page, with headers that prevent caching', async () => {
  let isKnown = true;
  const asked: string[] = [];
  render = async (_request, locals) => {
    locals.markAccess?.('subscriber');
    return answerWith(`<p>${locals.variant}</p>`, { headers: { 'content-type': 'text/html' } });
  };
  await open({
    crawlers: {
      claims: (agent) => (agent?.includes('Googlebot') ? 'google' : null),
      async verify(name, address) {
        asked.push(`${name} ${address}`);
        return isKnown;
      },
    },
  });
  const ask = async (agent: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${base}/about`, { headers: { 'user-agent': agent, ...headers } });
    const [caching, etag] = ['cache-control', 'etag'].map((name) => answer.headers.get(name));
    return { status: answer.status, text: await answer.text(), caching, etag };
  };
  const whole = { status: 200, text: '<p>full</p>', caching: 'private, no-store', etag: null };
  const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1)';
  for (let time = 0; time < 2; time++) expect(await ask(crawler)).toEqual(whole);
  expect(await ask(crawler, { 'if-none-match': '*' })).toEqual(whole);
  expect(new Set(asked)).toEqual(new Set(['google 127.0.0.1']));
  const reader = await ask('Firefox');
  expect(reader).toMatchObject({ status: 200, text: '<p>public</p>', etag: expect.stringMatching(/^"/) });
  expect(reader.caching).not.toContain('no-store');
  asked.length = 0;
  isKnown = false;
  expect(await ask(crawler)).toMatchObject({ text: '<p>public</p>', caching: reader.caching, etag: reader.etag });
  expect(asked).toEqual(['google 127.0.0.1']);
});

it('a session with access gets the full page and a new access cookie, which no shared cache keeps', async () => {
  render = async (_request, locals) => {
    locals.markAccess?.('subscriber');
    return answerWith(`<p>${locals.variant}</p>`, { headers: { 'content-type': 'text/html' } });
  };
  const renewals: string[] = [];
  await open({
    renewAccess: (cookie) => {
      if (!cookie?.includes('blaize_session=')) return null;
      renewals.push(cookie);
      const level = cookie.includes('blaize_session=paid') ? 'subscriber' : null;
      return Promise.resolve({ level, cookies: level ? ['access=new; Path=/'] : [] });
    },
  });
  const ask = async (path: string, cookie: string) => {
    const answer = await fetch(`${base}${path}`, { headers: { cookie } });
    const caching = answer.headers.get('cache-control')?.split(',', 1)[0];
    return [await answer.text(), answer.headers.get('set-cookie'), caching];
  };
  for (let time = 0; time < 2; time++) {
    expect(await ask('/about', '')).toEqual(['<p>public</p>', null, 'public']);
    expect(await ask('/about', 'blaize_session=paid')).toEqual(['<p>full</p>', 'access=new; Path=/', 'private']);
    expect(await ask('/about', 'blaize_session=free')).toEqual(['<p>public</p>', null, 'public']);
  }
  expect(renewals).toHaveLength(4);
});

it('a page answers 503 when too many readers wait, and without an edition even when it is stored', async () => {
  const pages = { peek: () => undefined, peekFull: () => undefined, get: () => Promise.reject(new PressBusy('full')) };
  await open();
  await fetch(`${base}/about`);
  ready = false;
  expect((await fetch(`${base}/about`)).status).toBe(503);
  await stopServers();
  await press.close();
  ready = true;
  await open({
    pages: {
      press: {
        ...pages,
        encoded: () => undefined,
        withDictionary: () => null,
        shown: (page) => page,
      },
      keyOf: pageKeys(() => ({}) as ContentReader),
      access: { levelFor: () => null },
    },
  });
  const busy = await fetch(`${base}/about`);
  expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '5']);
  expect(server.counts.errors).toBe(1);
});

it('CDN headers, when they are on, are long-lived for pages and short-lived for a 404', async () => {
  await open({}, true);
  const page = await fetch(`${base}/about`);
  expect(page.headers.get('cdn-cache-control')).toContain('max-age=31536000');
  expect(page.headers.get('cache-tag')).toBe('site,card:1');
  render = async () => answerWith('no', { status: 404, headers: { 'content-type': 'text/html' } });
  const missing = await fetch(`${base}/none`);
  expect([missing.status, missing.headers.get('cdn-cache-control')]).toEqual([404, 'max-age=60']);
  expect(press.stats().store?.pages).toBe(1);
});

it('files of earlier builds are served as immutable, and the server’s own texts as plain text', async () => {
  const files: Record<string, string> = { 'a.123.css': 'body{}', 'a.123.css.br': 'compressed' };
  await open({
    earlierFile: earlierFiles({
      find: async (path) => (Object.hasOwn(files, path) ? Buffer.from(files[path] ?? '') : undefined),
    }),
    fixedTexts: new Map([['/abcd1234.txt', 'abcd1234']]),
  });
  const file = await fetch(`${base}/_assets/a.123.css`, { headers: { 'accept-encoding': 'identity' } });
  expect(await file.text()).toBe('body{}');
  expect(file.headers.get('content-type')).toBe('text/css; charset=utf-8');
  expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  const key = await fetch(`${base}/abcd1234.txt`);
  expect([await key.text(), key.headers.get('content-type')]).toEqual(['abcd1234', 'text/plain; charset=utf-8']);
});

it('a page that says no-store is never stored', async () => {
  let n = 0;
  render = async () =>
    answerWith(`<p>${++n}</p>`, { headers: { 'content-type': 'text/html', 'cache-control': 'private, no-store' } });
  await open();
  expect(await (await fetch(`${base}/about`)).text()).toBe('<p>1</p>');
  expect(await (await fetch(`${base}/about`)).text()).toBe('<p>2</p>');
  expect(press.stats().store?.pages).toBe(0);
});

it('a page that becomes free while its request waits is sent without a cookie', async () => {
  let level: 'subscriber' | 'default' = 'subscriber';
  render = async (_request, locals) => {
    locals.markAccess?.(level);
    return answerWith(`<p>${locals.variant} for ${level}</p>`, { headers: { 'content-type': 'text/html' } });
  };
  await open({ renewAccess: async () => ({ level: 'subscriber', cookies: ['access=new; Path=/'] }) });
  // The full page waits until it is compressed, and is replaced in the meantime.
  vi.spyOn(press, 'shown').mockImplementationOnce(async () => {
    level = 'default';
    await press.invalidate(new Set(['card:1']));
  });
  const answer = await fetch(`${base}/about`, { headers: { cookie: 'blaize_session=paid' } });
  expect(await answer.text()).toBe('<p>public for default</p>');
  expect([answer.headers.get('set-cookie'), answer.headers.get('cache-control')]).toEqual([
    null,
    'public, max-age=0, must-revalidate',
  ]);
});
