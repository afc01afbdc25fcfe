/** The built site behind a CDN: rendered ahead, stopped normally, killed and started again on the same data. */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccessCookie } from '../../src/press/delivery/access-cookie.ts';
import { accessKey, type Paper, startPaper, until } from '../fixtures/paper.ts';
import { runs } from '../world/runs.ts';

/** Tags of each purge that the CDN received. */
const purges: string[][] = [];
const cdn = createServer((incoming, outgoing) => {
  let body = '';
  incoming.on('data', (chunk) => {
    body += chunk;
  });
  incoming.on('end', () => {
    purges.push((JSON.parse(body) as { tags: string[] }).tags);
    outgoing.writeHead(200, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify({ success: true, errors: [], messages: [], result: { id: 'zone' } }));
  });
});
let paper: Paper;
beforeAll(async () => {
  cdn.listen(0, '127.0.0.1');
  await once(cdn, 'listening');
  paper = await startPaper({
    CDN_PROVIDER: 'cloudflare',
    CLOUDFLARE_ZONE: 'zone',
    CLOUDFLARE_TOKEN: 'token',
    CLOUDFLARE_API_URL: `http://127.0.0.1:${(cdn.address() as AddressInfo).port}/client/v4`,
  });
  await until(() => paper.output().includes('The important pages are ready'), paper.output);
});
afterAll(async () => {
  await paper?.close();
  cdn.closeAllConnections();
  cdn.close();
});

it('npm run press renders ahead next to the running site, skips finished pages, and can render a part', async () => {
  const part = await paper.press('--only', '/author', '--only', '/pricing');
  expect(part.code, part.text).toBe(0);
  expect(part.text).toMatch(/^1 rendered .*, 0 were already there, 0 failed\.$/m);
  // Two processes render half of the pages each.
  const all = await paper.press('--concurrency', '2', '--processes', '2');
  expect(all.code, all.text).toBe(0);
  const [, rendered, skipped] = /^(\d+) rendered .*, (\d+) were already there, 0 failed\.$/m.exec(all.text) ?? [];
  expect(Number(rendered)).toBeGreaterThan(20);
  expect(Number(skipped)).toBeGreaterThan(10);
  const again = await paper.press();
  expect(again.text).toMatch(/^0 rendered /m);
  // The site serves what the other process has rendered, and keeps it fresh.
  expect((await paper.ask('/founder')).headers['server-timing']).toBe('press;desc="hit"');
  await paper.ask('/sitemaps/articles-1.xml');
  paper.edit(6, { slug: 'story-six' });
  await paper.deliver({ id: 6, event: 'slug', slug: 'story-six', previous_slug: 'story-6' });
  const map = await paper.ask('/sitemaps/articles-1.xml');
  // Sitemaps are rendered on demand: the change has rendered none.
  expect(map.headers['server-timing']).toBe('press;desc="rendered"');
  expect((await paper.ask('/sitemaps/articles-1.xml')).headers['server-timing']).toBe('press;desc="hit"');
  expect(map.text).toContain('/article/story-six<');
  // Works without the site, too; nothing is lost when the site starts again.
  await paper.kill('SIGTERM');
  expect((await paper.press('--since', '2026-01-01')).text).toMatch(/ 0 failed\.$/m);
  await paper.start();
  expect((await paper.ask('/article/story-six')).headers['server-timing']).toBe('press;desc="hit"');
  expect((await paper.press('--processes', '0')).text).toContain("--processes 0 isn't a number from 1 to 99");
  const wrong = await paper.press('--only', 'politics');
  expect(wrong.code).not.toBe(0);
  expect(wrong.text).toContain("--only politics isn't a path");
});

it('a restarted site still has an earlier build’s assets, and starts with its stored pages', async () => {
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
});

it('the CDN is purged by tag after a publish, and completely after a crash', async () => {
  const page = await paper.ask('/article/story-1');
  expect(String(page.headers['cache-tag']).split(',')).toContain('article:1');
  expect(page.headers['cdn-cache-control']).toContain('max-age=31536000');
  const full = createAccessCookie({ name: 'access', keys: [accessKey] }).sign('subscriber', Date.now() / 1000 + 3600);
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
  // After a normal stop there is nothing to repeat.
  await paper.kill('SIGTERM');
  purges.length = 0;
  await paper.start();
  paper.edit(1, { content: { rendered: '<p>Opening 1.</p><p>AGAIN</p>', protected: false } });
  await paper.deliver({ id: 1 });
  await until(() => purges.flat().includes('article:1'), paper.output);
  expect(purges.flat()).not.toContain('site');
});

it('a kill during webhooks loses no publish and serves nothing withdrawn, and stored pages survive', async () => {
  for (let round = 0; round < runs(2, 6); round++) {
    paper.edit(8, { title: { rendered: `Edition of round ${round}` } });
    paper.edit(5, { status: round % 2 === 0 ? 'draft' : 'publish' });
    const hooks = [
      paper.deliver({ id: 8 }),
      paper.deliver({ id: 5, event: round % 2 === 0 ? 'unpublish' : 'publish' }),
    ];
    for (const hook of hooks) hook.catch(() => {});
    // Each round kills a little later in the work that the webhooks start.
    await new Promise((resolve) => setTimeout(resolve, round * 7));
    await paper.kill();
    await Promise.allSettled(hooks);
    await paper.start();
    const stored = await paper.ask('/article/story-1');
    expect(stored.headers['server-timing']).toBe('press;desc="hit"');
    // The plugin tries again until the site has answered 200.
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
});

interface Client {
  readonly answers: () => number;
  /** Whether the last response announced the end of the connection. */
  readonly closing: () => boolean;
  /** Whether a request without a response had been sent. */
  readonly waiting: () => boolean;
  readonly reset: () => boolean;
  readonly closed: Promise<unknown>;
}

/** Requests one address repeatedly over one connection, or once. */
function client(port: number, path: string, again: boolean): Client {
  const socket: Socket = connect(port, '127.0.0.1');
  const request = `GET ${path} HTTP/1.1\r\nHost: paper.example\r\n\r\n`;
  let [text, answers, closing, waiting, reset] = ['', 0, false, true, false];
  socket.write(request);
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end === -1) return;
    const head = text.slice(0, end).toLowerCase();
    const length = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
    if (text.length < end + 4 + length) return;
    text = '';
    answers++;
    waiting = false;
    closing = head.includes('connection: close');
    if (closing || !again) return;
    waiting = true;
    socket.write(request);
  });
  socket.on('error', () => {
    reset = true;
  });
  return {
    answers: () => answers,
    closing: () => closing,
    waiting: () => waiting,
    reset: () => reset,
    closed: once(socket, 'close').catch(() => {}),
  };
}

it('a stop under load resets no connection, and closes idle ones in order', async () => {
  const port = paper.port();
  // Stored pages on the fast path, pages that are rendered for each reader, and connections that are idle after one response.
  const busy = Array.from({ length: 32 }, () => client(port, '/article/story-1', true));
  const slow = Array.from({ length: 8 }, (_, at) => client(port, `/search?q=story+${at}`, true));
  const idle = Array.from({ length: 8 }, (_, at) =>
    client(port, at < 4 ? '/article/story-1' : '/search?q=words', false),
  );
  const all = [...busy, ...slow, ...idle];
  await until(() => all.every(({ answers }) => answers() > 0) && busy.every(({ answers }) => answers() > 5));
  await paper.kill('SIGTERM');
  await Promise.all(all.map(({ closed }) => closed));
  expect(all.filter(({ reset }) => reset())).toHaveLength(0);
  expect(all.filter(({ waiting }) => waiting())).toHaveLength(0);
  expect([...busy, ...slow].filter(({ closing }) => !closing())).toHaveLength(0);
  expect(paper.site()?.exitCode).toBe(0);
});
