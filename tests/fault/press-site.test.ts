/** The built site with its press, as an editor and readers meet it. One site for all tests: each edits stories of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operatorToken, type Paper, siteUrl, startPaper, story, until } from '../fixtures/paper.ts';
import { hourAgo, restError } from '../fixtures/wordpress.ts';
import { runs } from '../world/runs.ts';

const unknownAddresses = runs(2000, 10_000);
let folder: string;
let paper: Paper;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'redirects-'));
  const file = join(folder, 'redirects.txt');
  writeFileSync(file, '# Moved in 2025\n/old-section/* /section/politics\n/contact-us /about 308\n/scandal - 410\n');
  paper = await startPaper(
    { REDIRECTS_FILE: file },
    // Stories of the last 48 hours are in the news sitemap.
    { prepare: ({ wordpress }) => void wordpress.put('articles', story(2, { date_gmt: hourAgo() })) },
  );
  await until(() => paper.output().includes('The important pages are ready'), paper.output);
});
afterAll(async () => {
  await paper?.close();
  rmSync(folder, { recursive: true, force: true });
});

const refreshedBy = (text: string): string[] => (JSON.parse(text) as { refreshed: string[] }).refreshed;

it('pages come from the store, and an edit is on every page that shows it before the webhook is answered', async () => {
  const before = await paper.ask('/article/story-7', { headers: { 'accept-encoding': 'br, gzip' } });
  expect(before.headers['server-timing']).toBe('press;desc="hit"');
  expect(before.headers['content-encoding']).toBe('br');
  expect(before.headers.vary).toBe('Available-Dictionary, Accept-Encoding');
  expect(before.headers['content-length']).toBeDefined();
  const again = { headers: { 'accept-encoding': 'br, gzip', 'if-none-match': String(before.headers.etag) } };
  expect((await paper.ask('/article/story-7', again)).status).toBe(304);
  const head = await paper.ask('/article/story-7', { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } });
  expect([head.status, head.text, head.headers['content-encoding']]).toEqual([200, '', 'gzip']);

  // A change of the body affects one page.
  paper.edit(7, { content: { rendered: '<p>Opening 7.</p><p>CORRECTED</p>', protected: false } });
  const body = await paper.deliver({ id: 7 });
  expect(refreshedBy(body.text)).toEqual(['/article/story-7']);
  expect((await paper.ask('/article/story-7', again)).text).toContain('CORRECTED');

  // A change of the headline affects every page that shows the card, home first.
  paper.edit(7, { title: { rendered: 'Bridge to open early' } });
  const headline = await paper.deliver({ id: 7 });
  const refreshed = refreshedBy(headline.text);
  // Two pages are rendered at a time, and the smaller one may be finished first.
  expect(refreshed.slice(0, 2)).toContain('/');
  expect(new Set(refreshed)).toEqual(new Set(['/', '/latest', '/section/politics', '/article/story-7']));
  for (const path of ['/', '/latest', '/section/politics', '/article/story-7']) {
    const page = await paper.ask(path);
    expect(page.text, path).toContain('Bridge to open early');
    expect(page.headers['server-timing'], path).toBe('press;desc="hit"');
  }
  // The same content again: nothing is rendered, and the ETag stays.
  const etag = (await paper.ask('/')).headers.etag;
  expect(refreshedBy((await paper.deliver({ id: 7 })).text)).toEqual([]);
  expect((await paper.ask('/')).headers.etag).toBe(etag);
});

it('a withdrawn story leaves every list, feed, sitemap and search at once, and returns when republished', async () => {
  const lists = [
    '/',
    '/latest',
    '/section/politics',
    '/rss.xml',
    '/section/politics/rss.xml',
    '/sitemaps/articles-1.xml',
  ];
  for (const path of [...lists, '/search?q=Story', '/news-sitemap.xml', '/article/story-2/comments'])
    await paper.ask(path);
  expect((await paper.ask('/news-sitemap.xml')).text).toContain('/article/story-2<');
  paper.edit(2, { status: 'draft' });
  const answer = await paper.deliver({ event: 'unpublish', id: 2, slug: 'story-2', status: 'draft' });
  expect(answer.status).toBe(200);
  const gone = await paper.ask('/article/story-2');
  expect(gone.status).toBe(410);
  expect(gone.text).not.toContain('ENDING-2');
  for (const path of [...lists, '/search?q=Story', '/news-sitemap.xml']) {
    expect((await paper.ask(path)).text, path).not.toMatch(/story-2["<&]/);
  }
  expect((await paper.ask('/article/story-2/comments')).status).not.toBe(200);

  paper.edit(2, { status: 'publish' });
  await paper.deliver({ event: 'publish', id: 2, slug: 'story-2' });
  expect((await paper.ask('/article/story-2')).status).toBe(200);
  expect((await paper.ask('/latest')).text).toContain('/article/story-2"');
});

it('old slugs, other spellings and the publisher’s own list of addresses redirect', async () => {
  // Older than the other stories, which stay on every list.
  paper.wordpress.put('articles', story(11, { date_gmt: '2026-10-01T12:00:00' }));
  expect((await paper.deliver({ event: 'publish', id: 11, slug: 'story-11' })).status).toBe(200);
  paper.edit(11, { slug: 'story-eleven' });
  await paper.deliver({ event: 'slug', id: 11, slug: 'story-eleven', previous_slug: 'story-11' });
  const places = [
    '/article/story-11',
    '/article/STORY-ELEVEN',
    '/latest/',
    '/SocialLogin',
    '/old-section/x/y',
    '/contact-us?a=1',
  ];
  const found = await Promise.all(places.map((path) => paper.ask(path)));
  expect(found.map(({ status, headers }) => [status, headers.location])).toEqual([
    [301, '/article/story-eleven'],
    [301, '/article/story-eleven'],
    [301, '/latest'],
    [301, '/socialLogin'],
    [301, '/section/politics'],
    [308, '/about?a=1'],
  ]);
  expect((await paper.ask('/scandal')).status).toBe(410);
});

it(`${unknownAddresses} requests for unknown addresses store nothing, and known pages are still served`, async () => {
  const before = await paper.metric('broadsheet_pages_stored');
  for (let n = 0; n < unknownAddresses; n += 64) {
    const unknown = Array.from({ length: 64 }, (_, at) => paper.ask(`/article/none-${n + at}?utm=${n}`));
    const known = await paper.ask('/article/story-1');
    expect([known.status, known.headers['server-timing']]).toEqual([200, 'press;desc="hit"']);
    for (const { status } of await Promise.all(unknown)) expect(status).toBe(404);
  }
  expect(await paper.metric('broadsheet_pages_stored')).toBe(before);
});

it('the operators’ page and the metrics require the token', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const post = (body: string, headers: Record<string, string> = {}) =>
    paper.ask('/-/press', { method: 'POST', body, headers: { ...form, ...headers } });

  const closed = await paper.ask('/-/press');
  expect(closed.status).toBe(401);
  expect(closed.text).toContain('Operators’ token');
  expect(closed.text).not.toContain('Pages stored');
  expect(closed.headers['cache-control']).toContain('no-store');
  expect((await paper.ask('/metrics')).status).toBe(401);
  for (const wrong of ['', 'Bearer', 'Bearer wrong', `Basic ${operatorToken}`, `Bearer ${operatorToken}x`]) {
    expect((await paper.ask('/metrics', { headers: { authorization: wrong } })).status).toBe(401);
    expect((await paper.ask('/-/press', { headers: { authorization: wrong } })).status).toBe(401);
  }

  expect((await post(`action=sign-in&token=${operatorToken}`, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await post(`action=sign-in&token=${operatorToken}`)).status).toBe(403);
  const refused = await post('action=sign-in&token=wrong', { origin: siteUrl });
  expect([refused.headers.location, refused.headers['set-cookie']]).toEqual(['/-/press?notice=token', undefined]);
  const entered = await post(`action=sign-in&token=${operatorToken}`, { origin: siteUrl });
  const cookie = String(entered.headers['set-cookie']);
  expect(cookie).toMatch(
    /^operator=[\w-]{43}; Path=\/; Max-Age=\d+; Expires=[^;]+; SameSite=Strict; HttpOnly; Secure$/,
  );
  const value = cookie.split(';')[0] ?? '';
  const open = await paper.ask('/-/press', { headers: { cookie: value } });
  expect(open.status).toBe(200);
  expect(open.text).toContain('Pages stored');
  expect(
    (
      await paper.ask('/-/press', {
        headers: { cookie: value.replace(/=./, (first) => (first === '=A' ? '=B' : '=A')) },
      })
    ).status,
  ).toBe(401);
  expect((await paper.ask('/metrics', { headers: { cookie: value } })).text).toContain('broadsheet_page_hits_total');

  expect((await post('action=refresh-path&value=/', { cookie: value })).status).toBe(403);
  expect((await post('action=refresh-path&value=/', { origin: siteUrl })).status).toBe(401);
  const notice = async (body: string) => (await post(body, { cookie: value, origin: siteUrl })).headers.location;
  expect(await notice('action=refresh-path&value=/latest')).toBe('/-/press?notice=unchanged');
  expect(await notice('action=refresh-path&value=/api/v1/revalidate')).toBe('/-/press?notice=address');
  expect(await notice('action=refresh-tag&value=section:politics')).toBe('/-/press?notice=unchanged');
  expect(await notice('action=refresh-tag&value=card:99999')).toBe('/-/press?notice=nothing');
  const told = await paper.ask('/-/press?notice=unchanged', { headers: { cookie: value } });
  expect(told.text).toContain('the pages were rendered again and didn’t change');
  // Browsers' reports of what was blocked, without a token and without anything about a reader.
  const front = (await paper.ask('/', {})).headers;
  expect(front['content-security-policy']).toContain('report-uri /-/csp-reports; report-to csp');
  expect(front['reporting-endpoints']).toBe('csp="/-/csp-reports"');
  const preflight = async (origin: string) =>
    (await paper.ask('/-/csp-reports', { method: 'OPTIONS', headers: { origin } })).headers;
  expect(await preflight(siteUrl)).toMatchObject({
    'access-control-allow-origin': siteUrl,
    'access-control-allow-headers': 'content-type',
  });
  expect(await preflight('https://elsewhere.example')).not.toHaveProperty('access-control-allow-origin');
  const report = (body: string, type = 'application/csp-report') =>
    paper.ask('/-/csp-reports', { method: 'POST', body, headers: { 'content-type': type } });
  const blocked = {
    'document-uri': `${siteUrl}/article/a?gift=secret-one`,
    'effective-directive': 'connect-src',
    'blocked-uri': 'https://tags.example.com/collect?who=ann',
  };
  expect((await report(JSON.stringify({ 'csp-report': blocked }))).status).toBe(204);
  expect((await report('x'.repeat(20_000))).status).toBe(413);
  expect((await report('{}', 'text/html')).status).toBe(415);
  const listed = (await paper.ask('/-/press', { headers: { cookie: value } })).text;
  expect(listed).toContain('https://tags.example.com');
  expect(listed).not.toMatch(/secret-one|who=ann/);
  expect((await paper.ask('/metrics', { headers: { cookie: value } })).text).toMatch(
    /broadsheet_csp_reports_total 1\n/,
  );
  // A caller can't choose the page's text through the address.
  expect((await paper.ask('/-/press?notice=%3Cb%3Eevil', { headers: { cookie: value } })).text).not.toContain('evil');
});

it('a thousand webhooks in a second end in the latest state, with fewer than 500 renders', async () => {
  const before = await paper.metric('broadsheet_renders_total');
  const answers: Promise<{ status: number }>[] = [];
  const began = performance.now();
  for (let n = 0; n < 1000; n++) {
    const id = 1 + (n % 8);
    // Now and then the article changes in WordPress between two deliveries, as when an editor keeps saving.
    if (n % 40 === 0) paper.edit(id, { title: { rendered: `Story ${id} as of ${n}` } });
    answers.push(paper.deliver({ id, slug: `story-${id}` }));
    if (n % 100 === 99)
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, n + 1 - (performance.now() - began))));
    if (n % 50 === 0) expect((await paper.ask('/')).status).toBe(200);
  }
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  // On a busy machine, a webhook may be answered before the last pages are rendered.
  const texts = async (...paths: string[]) =>
    (await Promise.all(paths.map((path) => paper.ask(path)))).map(({ text }) => text).join('\n');
  for (const [id, article] of paper.wordpress.store.articles) {
    if (id > 8) continue;
    const title = (article.title as { rendered: string }).rendered;
    await until(async () => (await texts(`/article/story-${id}`)).includes(title), paper.output);
    await until(async () => (await texts('/latest', '/')).includes(title), paper.output);
  }
  expect((await paper.metric('broadsheet_renders_total')) - before).toBeLessThan(500);
  await until(async () => (await paper.metric('broadsheet_press_queue_length')) === 0, paper.output);
});

it('stored pages are served while WordPress is down, hangs or answers garbage, and updated afterward', async () => {
  const pages = ['/', '/latest', '/section/politics', '/article/story-7', '/article/story-10'];
  const texts = await Promise.all(pages.map(async (path) => (await paper.ask(path)).text));
  paper.edit(7, { title: { rendered: 'Told while WordPress was away' } });
  const troubles: (() => Response | Promise<Response>)[] = [
    () => restError(500, 'database_down'),
    () => new Response('<html>Briefly unavailable for scheduled maintenance.</html>', { status: 200 }),
    () => new Response('{"id": 1', { status: 200, headers: { 'content-type': 'application/json' } }),
    () => new Promise<Response>(() => {}),
  ];
  for (const trouble of troubles) {
    paper.wordpress.intercept = trouble;
    const hanging = trouble === troubles.at(-1);
    const hook = paper.deliver({ id: 7 });
    if (!hanging) expect((await hook).status).toBe(503);
    else hook.catch(() => {});
    for (const [place, path] of pages.entries()) {
      const answer = await paper.ask(path);
      expect(answer.status).toBe(200);
      expect(answer.text).toBe(texts[place]);
    }
  }
  paper.wordpress.intercept = null;
  // The hung request blocks the article; the plugin's next attempt succeeds once that request has been given up.
  await until(async () => (await paper.deliver({ id: 7 })).status === 200, paper.output);
  for (const path of pages.slice(0, 4)) expect((await paper.ask(path)).text).toContain('Told while WordPress was away');
});

it('addresses of the former site redirect to today’s, with and without a trailing slash', async () => {
  paper.edit(8, { old_slugs: ['/bridge-opens', '/2024/05/bridge-opens', '/author/bridge/opens'] });
  await paper.deliver({ id: 8 });
  const ways = [
    ['/bridge-opens', '/article/story-8'],
    ['/2024/05/bridge-opens', '/article/story-8'],
    ['/author/bridge/opens', '/article/story-8'],
    ['/feed', '/rss.xml'],
    ['/feed/atom', '/atom.xml'],
    ['/category/politics/feed', '/section/politics/rss.xml'],
    ['/sitemap_index.xml', '/sitemap.xml'],
  ] as const;
  for (const [path, location] of ways)
    for (const asked of [path, `${path}/`]) {
      const { status, headers } = await paper.ask(asked);
      expect.soft([asked, status, headers.location]).toEqual([asked, 301, location]);
    }
});
