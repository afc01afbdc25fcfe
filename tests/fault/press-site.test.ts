/** The built site with its press, as an editor and readers meet it, and when things go wrong around it. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { accessKey, operatorToken, type Paper, siteUrl, startPaper, story, until } from '../fixtures/paper.ts';
import { restError } from '../fixtures/wordpress.ts';
import { runs } from '../world/runs.ts';

const unknownAddresses = runs(2000, 10_000);
let paper: Paper;
afterEach(async () => {
  await paper?.close();
});

const warm = (): Promise<void> => until(() => paper.output().includes('The important pages are ready'), paper.output);
const refreshedBy = (text: string): string[] => (JSON.parse(text) as { refreshed: string[] }).refreshed;

it('answers from the store, and has an edit on every page that shows it before the webhook is answered', async () => {
  paper = await startPaper();
  await warm();
  const before = await paper.ask('/article/story-7', { headers: { 'accept-encoding': 'br, gzip' } });
  expect(before.headers['server-timing']).toBe('press;desc="hit"');
  expect(before.headers['content-encoding']).toBe('br');
  expect(before.headers.vary).toBe('Accept-Encoding');
  expect(before.headers['content-length']).toBeDefined();
  const again = { headers: { 'accept-encoding': 'br, gzip', 'if-none-match': String(before.headers.etag) } };
  expect((await paper.ask('/article/story-7', again)).status).toBe(304);
  const head = await paper.ask('/article/story-7', { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } });
  expect([head.status, head.text, head.headers['content-encoding']]).toEqual([200, '', 'gzip']);

  // The body alone: one page.
  paper.edit(7, { content: { rendered: '<p>Opening 7.</p><p>CORRECTED</p>', protected: false } });
  const body = await paper.deliver({ id: 7 });
  expect(refreshedBy(body.text)).toEqual(['/article/story-7']);
  expect((await paper.ask('/article/story-7', again)).text).toContain('CORRECTED');

  // The headline: every page that shows its card, home first.
  paper.edit(7, { title: { rendered: 'Bridge to open early' } });
  const headline = await paper.deliver({ id: 7 });
  const refreshed = refreshedBy(headline.text);
  // Two pages are rendered at a time, and the smaller one may be done first.
  expect(refreshed.slice(0, 2)).toContain('/');
  expect(new Set(refreshed)).toEqual(new Set(['/', '/latest', '/section/politics', '/article/story-7']));
  for (const path of ['/', '/latest', '/section/politics', '/article/story-7']) {
    const page = await paper.ask(path);
    expect(page.text, path).toContain('Bridge to open early');
    expect(page.headers['server-timing'], path).toBe('press;desc="hit"');
  }
  // The same state once more: nothing is rendered, not even the ETag differs.
  const etag = (await paper.ask('/')).headers.etag;
  expect(refreshedBy((await paper.deliver({ id: 7 })).text)).toEqual([]);
  expect((await paper.ask('/')).headers.etag).toBe(etag);
}, 90_000);

it('takes what is withdrawn off at once, off every list, feed, map and search, and brings it back', async () => {
  paper = await startPaper();
  await warm();
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
}, 90_000);

it('leads from an old slug, from other spellings and by the publisher’s own list', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'redirects-')), 'redirects.txt');
  writeFileSync(file, '# Moved in 2025\n/old-section/* /section/politics\n/contact-us /about 308\n/scandal - 410\n');
  paper = await startPaper({ REDIRECTS_FILE: file });
  paper.edit(3, { slug: 'story-three' });
  await paper.deliver({ event: 'slug', id: 3, slug: 'story-three', previous_slug: 'story-3' });
  const places = [
    '/article/story-3',
    '/article/STORY-THREE',
    '/latest/',
    '/SocialLogin',
    '/old-section/x/y',
    '/contact-us?a=1',
  ];
  const found = await Promise.all(places.map((path) => paper.ask(path)));
  expect(found.map(({ status, headers }) => [status, headers.location])).toEqual([
    [301, '/article/story-three'],
    [301, '/article/story-three'],
    [301, '/latest'],
    [301, '/socialLogin'],
    [301, '/section/politics'],
    [308, '/about?a=1'],
  ]);
  expect((await paper.ask('/scandal')).status).toBe(410);
}, 60_000);

it('serves every stored page while WordPress is dead, hangs or answers garbage, and catches up after it', async () => {
  paper = await startPaper();
  await warm();
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
  // What hung holds the article; the plugin's next try comes through once it has been given up.
  await until(async () => (await paper.deliver({ id: 7 })).status === 200, paper.output, 60_000);
  for (const path of pages.slice(0, 4)) expect((await paper.ask(path)).text).toContain('Told while WordPress was away');
}, 120_000);

it('ends in the latest state after a thousand webhooks in a second, without rendering a thousand times', async () => {
  paper = await startPaper();
  await warm();
  const before = await paper.metric('broadsheet_renders_total');
  const answers: Promise<{ status: number }>[] = [];
  const began = performance.now();
  for (let n = 0; n < 1000; n++) {
    const id = 1 + (n % 8);
    // In WordPress the article has moved on between two deliveries now and then, as it does when an editor keeps saving.
    if (n % 40 === 0) paper.edit(id, { title: { rendered: `Story ${id} as of ${n}` } });
    answers.push(paper.deliver({ id, slug: `story-${id}` }));
    if (n % 100 === 99)
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, n + 1 - (performance.now() - began))));
    if (n % 50 === 0) expect((await paper.ask('/')).status).toBe(200);
  }
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  const home = (await paper.ask('/')).text;
  for (const [id, article] of paper.wordpress.store.articles) {
    if (id > 8) continue;
    const title = (article.title as { rendered: string }).rendered;
    expect((await paper.ask(`/article/story-${id}`)).text).toContain(title);
    expect((await paper.ask('/latest')).text + home).toContain(title);
  }
  expect((await paper.metric('broadsheet_renders_total')) - before).toBeLessThan(500);
  expect(await paper.metric('broadsheet_press_queue_length')).toBe(0);
}, 120_000);

it(`stores nothing for ${unknownAddresses} addresses that do not exist, and goes on serving the others`, async () => {
  paper = await startPaper();
  await warm();
  const before = await paper.metric('broadsheet_pages_stored');
  for (let n = 0; n < unknownAddresses; n += 64) {
    const unknown = Array.from({ length: 64 }, (_, at) => paper.ask(`/article/none-${n + at}?utm=${n}`));
    const known = await paper.ask('/article/story-1');
    expect([known.status, known.headers['server-timing']]).toEqual([200, 'press;desc="hit"']);
    for (const { status } of await Promise.all(unknown)) expect(status).toBe(404);
  }
  expect(await paper.metric('broadsheet_pages_stored')).toBe(before);
}, 240_000);

it('loses no publish and serves nothing withdrawn when it is killed in the middle, and starts from its store', async () => {
  paper = await startPaper();
  await warm();
  for (let round = 0; round < runs(3, 6); round++) {
    paper.edit(8, { title: { rendered: `Edition of round ${round}` } });
    paper.edit(5, { status: round % 2 === 0 ? 'draft' : 'publish' });
    const hooks = [
      paper.deliver({ id: 8 }),
      paper.deliver({ id: 5, event: round % 2 === 0 ? 'unpublish' : 'publish' }),
    ];
    for (const hook of hooks) hook.catch(() => {});
    // Each round a little later in what the webhooks set off.
    await new Promise((resolve) => setTimeout(resolve, round * 7));
    await paper.kill();
    await Promise.allSettled(hooks);
    await paper.start();
    const stored = await paper.ask('/article/story-1');
    expect(stored.headers['server-timing']).toBe('press;desc="hit"');
    // The plugin tries again until it is told that all is well.
    for (const [id, event] of [
      [8, 'update'],
      [5, round % 2 === 0 ? 'unpublish' : 'publish'],
    ] as const) {
      await until(async () => [200, 409].includes((await paper.deliver({ id, event })).status), paper.output);
    }
    for (const path of ['/', '/latest', '/section/politics', '/article/story-8']) {
      const { status, text } = await paper.ask(path);
      expect(status).toBe(200);
      expect(text, `${path}, round ${round}`).toContain(`Edition of round ${round}`);
      expect(text.trimEnd()).toMatch(/<\/html>$/);
    }
    expect((await paper.ask('/article/story-5')).status).toBe(round % 2 === 0 ? 410 : 200);
  }
}, 180_000);

it('opens the operators’ page and the metrics to the token alone', async () => {
  paper = await startPaper();
  await warm();
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
  expect(cookie).toMatch(/^operator=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/);
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
  expect(told.text).toContain('nothing was different');
  // What browsers report as blocked, without a token and without anything of a reader.
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
  // A caller can't choose the page's words by the address.
  expect((await paper.ask('/-/press?notice=%3Cb%3Eevil', { headers: { cookie: value } })).text).not.toContain('evil');
}, 60_000);

it('has neither operators’ page nor metrics without a token', async () => {
  paper = await startPaper({ OPERATOR_TOKEN: '' });
  const bearer = { headers: { authorization: `Bearer ${operatorToken}` } };
  expect((await paper.ask('/-/press', bearer)).status).toBe(404);
  expect((await paper.ask('/metrics', bearer)).status).toBe(404);
  // Reports could be read by no operator: none are asked for, and none are taken.
  expect((await paper.ask('/', {})).headers['reporting-endpoints']).toBeUndefined();
  const report = { method: 'POST', body: '[]', headers: { 'content-type': 'application/reports+json' } };
  expect((await paper.ask('/-/csp-reports', report)).status).toBe(404);
}, 60_000);

it('keeps the access key that it made for itself, readable to no other user', async () => {
  paper = await startPaper({ ACCESS_KEYS: '' });
  await warm();
  const file = join(paper.folder, 'access-key');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [id = '', secret = ''] = readFileSync(file, 'utf8').trim().split(':');
  const expires = Date.now() / 1000 + 100;
  const own = createAccessCookie({ name: 'access', keys: [{ id, secret }] }).sign('subscriber', expires);
  const foreign = createAccessCookie({ name: 'access', keys: [accessKey] }).sign('subscriber', expires);
  const ending = async (cookie: string) =>
    (await paper.ask('/article/story-9', { headers: { cookie: `access=${cookie}` } })).text.includes('ENDING-9');
  expect(await ending(own)).toBe(true);
  expect(await ending(foreign)).toBe(false);
  await paper.kill('SIGTERM');
  await paper.start();
  expect(await ending(own)).toBe(true);
}, 60_000);

it('shows a scheduled story when the poll finds it, and the paper’s new one to readers of home', async () => {
  paper = await startPaper({ SYNC_POLL_SECONDS: '1' });
  await warm();
  const at = new Date(Date.now() - 1000).toISOString().slice(0, 19);
  // WordPress publishes it by its clock: it is there without having been modified, and no webhook tells.
  paper.wordpress.put(
    'articles',
    story(20, { date_gmt: at, modified_gmt: '2026-11-01T00:00:00', title: { rendered: 'On time' } }),
  );
  await until(async () => (await paper.ask('/')).text.includes('On time'), paper.output);
  const home = await paper.ask('/');
  expect(home.headers['server-timing']).toBe('press;desc="hit"');
  expect((await paper.ask('/article/story-20')).status).toBe(200);
}, 60_000);

it('renders ahead beside the running site, goes on where it was, and takes a part', async () => {
  paper = await startPaper();
  await warm();
  const part = await paper.press('--only', '/author', '--only', '/pricing');
  expect(part.code, part.text).toBe(0);
  expect(part.text).toMatch(/^1 rendered .*, 0 were there already, 0 failed\.$/m);
  const all = await paper.press('--concurrency', '2');
  expect(all.code, all.text).toBe(0);
  const [, rendered, skipped] = /^(\d+) rendered .*, (\d+) were there already, 0 failed\.$/m.exec(all.text) ?? [];
  expect(Number(rendered)).toBeGreaterThan(20);
  expect(Number(skipped)).toBeGreaterThan(10);
  const again = await paper.press();
  expect(again.text).toMatch(/^0 rendered /m);
  // The site hands out what the other process has made, and keeps it fresh.
  expect((await paper.ask('/founder')).headers['server-timing']).toBe('press;desc="hit"');
  await paper.ask('/sitemaps/articles-1.xml');
  paper.edit(6, { slug: 'story-six' });
  await paper.deliver({ id: 6, event: 'slug', slug: 'story-six', previous_slug: 'story-6' });
  const map = await paper.ask('/sitemaps/articles-1.xml');
  // Maps are made on demand: the change has rendered none.
  expect(map.headers['server-timing']).toBe('press;desc="rendered"');
  expect((await paper.ask('/sitemaps/articles-1.xml')).headers['server-timing']).toBe('press;desc="hit"');
  expect(map.text).toContain('/article/story-six<');
  // Without the site, too; nothing is lost when both meet again.
  await paper.kill('SIGTERM');
  expect((await paper.press('--since', '2026-01-01')).text).toMatch(/ 0 failed\.$/m);
  await paper.start();
  expect((await paper.ask('/article/story-six')).headers['server-timing']).toBe('press;desc="hit"');
  const wrong = await paper.press('--only', 'politics');
  expect(wrong.code).not.toBe(0);
  expect(wrong.text).toContain('--only politics is no path');
}, 120_000);

it('purges the CDN by tag after a publish, and everything after a crash', async () => {
  const purges: string[][] = [];
  const vendor = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk) => {
      body += chunk;
    });
    incoming.on('end', () => {
      purges.push((JSON.parse(body) as { tags: string[] }).tags);
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ success: true, errors: [], messages: [], result: { id: 'zone' } }));
    });
  }).listen(0, '127.0.0.1');
  await once(vendor, 'listening');
  try {
    paper = await startPaper({
      CDN_PROVIDER: 'cloudflare',
      CLOUDFLARE_ZONE: 'zone',
      CLOUDFLARE_TOKEN: 'token',
      CLOUDFLARE_API_URL: `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/client/v4`,
    });
    await warm();
    const page = await paper.ask('/article/story-1');
    expect(String(page.headers['cache-tag']).split(',')).toContain('article:1');
    expect(page.headers['cdn-cache-control']).toContain('max-age=31536000');
    const full = createAccessCookie({ name: 'access', keys: [accessKey] }).sign('subscriber', Date.now() / 1000 + 100);
    const whole = await paper.ask('/article/story-9', { headers: { cookie: `access=${full}` } });
    expect([whole.headers['cdn-cache-control'], whole.headers['cache-tag']]).toEqual(['no-store', undefined]);

    purges.length = 0;
    paper.edit(1, { content: { rendered: '<p>Opening 1.</p><p>CORRECTED</p>', protected: false } });
    await paper.deliver({ id: 1 });
    await until(() => purges.flat().includes('article:1'), paper.output);
    expect(purges.flat()).not.toContain('site');

    await paper.kill();
    purges.length = 0;
    await paper.start();
    await until(() => purges.flat().includes('site'), paper.output);
    // An end in order leaves nothing to make good.
    await paper.kill('SIGTERM');
    purges.length = 0;
    await paper.start();
    paper.edit(1, { content: { rendered: '<p>Opening 1.</p><p>AGAIN</p>', protected: false } });
    await paper.deliver({ id: 1 });
    await until(() => purges.flat().includes('article:1'), paper.output);
    expect(purges.flat()).not.toContain('site');
  } finally {
    vendor.closeAllConnections();
    vendor.close();
  }
}, 90_000);

it('still has the scripts and styles that yesterday’s pages name, and starts with the pages that it had', async () => {
  paper = await startPaper();
  await warm();
  const etag = (await paper.ask('/')).headers.etag;
  await paper.kill('SIGTERM');
  const before = join(paper.folder, 'assets', 'the-build-before');
  mkdirSync(before);
  writeFileSync(join(before, 'Page.yesterday.css'), 'body { color: black }');
  writeFileSync(join(before, '.running'), '');
  await paper.start();
  const old = await paper.ask('/_assets/Page.yesterday.css');
  expect([old.status, old.text]).toEqual([200, 'body { color: black }']);
  expect(old.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect((await paper.ask('/_assets/../assets/the-build-before/Page.yesterday.css')).status).not.toBe(200);
  expect((await paper.ask('/_assets/.running')).status).toBe(404);
  const home = await paper.ask('/');
  expect([home.headers['server-timing'], home.headers.etag]).toEqual(['press;desc="hit"', etag]);
}, 60_000);
