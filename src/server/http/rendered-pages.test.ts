import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { answerWith } from '../../../tests/fixtures/answer.ts';
import { ask, folder, front, page, stopServers, writeFiles } from '../../../tests/world/http-servers.ts';
import { silent } from '../../lib/logging.ts';
import { createServerCounts } from './http-server.ts';

beforeAll(writeFiles);
afterAll(() => rmSync(folder, { recursive: true }));

afterEach(stopServers);

describe('pages', () => {
  it('are rendered under the public origin, whatever the Host header says', async () => {
    const seen: Request[] = [];
    const { port } = await front({
      render: async (request) => {
        seen.push(request);
        return page('ok');
      },
    });
    await ask(port, '/article/a?page=2', {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
    });
    await ask(port, 'http://evil.example/absolute?x=1');
    await ask(port, '//evil.example/double');
    expect(seen.map((request) => request.url)).toEqual([
      'https://paper.example/article/a?page=2',
      'https://paper.example/absolute?x=1',
      'https://paper.example//evil.example/double',
    ]);
    expect(seen[0]?.headers.get('host')).toBe('paper.example');
    expect(seen[0]?.headers.get('x-forwarded-host')).toBeNull();
  });

  it('must be revalidated, and answer 304 while nothing has changed', async () => {
    let text = '<h1>One</h1>';
    const { port } = await front({ render: async () => page(text) });
    const first = await ask(port, '/');
    expect(first.headers['cache-control']).toBe('public, max-age=0, must-revalidate');
    expect(first.headers.etag).toMatch(/^W\/"/);
    const same = await ask(port, '/', { 'if-none-match': String(first.headers.etag) });
    expect(same.status).toBe(304);
    expect(same.body).toHaveLength(0);
    text = '<h1>Two</h1>';
    expect((await ask(port, '/', { 'if-none-match': String(first.headers.etag) })).status).toBe(200);
  });

  it('are sent with Brotli compression unless they are small, and answer 304 to that ETag', async () => {
    const text = '<p>Sun</p>'.repeat(500);
    const few = '<p>Sun</p>'.repeat(20);
    const small = await ask((await front({ render: async () => page(few) })).port, '/', { 'accept-encoding': 'br' });
    const { port } = await front({ render: async () => page(text) });
    expect([small.headers['content-encoding'], small.body.toString()]).toEqual([undefined, few]);
    const answer = await ask(port, '/', { 'accept-encoding': 'br' });
    expect(answer.headers['content-encoding']).toBe('br');
    expect(answer.headers.vary).toContain('Accept-Encoding');
    expect(brotliDecompressSync(answer.body).toString()).toBe(text);
    const again = await ask(port, '/', { 'accept-encoding': 'br', 'if-none-match': String(answer.headers.etag) });
    expect(again.status).toBe(304);
    expect(again.headers['content-encoding']).toBeUndefined();
  });

  it('keep their own cookies, caching headers, and redirects', async () => {
    const headers = new Headers({ location: '/new', 'cache-control': 'private, no-store' });
    headers.append('set-cookie', 'a=1');
    headers.append('set-cookie', 'b=2');
    const { port } = await front({ render: async () => answerWith(null, { status: 301, headers }) });
    const answer = await ask(port, '/old');
    expect(answer.status).toBe(301);
    expect(answer.headers.location).toBe('/new');
    expect(answer.headers['cache-control']).toBe('private, no-store');
    expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  });

  it('receive the body of a form, and refuse one over 1 MB with 413', async () => {
    const { port } = await front({ render: async (request) => page(await request.text()) });
    const answer = await ask(port, '/contact', { 'content-type': 'text/plain' }, 'POST', 'q=sun');
    expect(answer.body.toString()).toBe('q=sun');
    expect(answer.headers['cache-control']).toBe('no-store');
    const long = await ask(port, '/contact', {}, 'POST', 'x'.repeat(1024 * 1024 + 1));
    expect(long.status).toBe(413);
  });

  it.each([
    ['with a Content-Length', 'POST /contact', 413, `Content-Length: ${4 * 1024 * 1024}`, [], []],
    ['in chunks', 'POST /contact', 413, 'Transfer-Encoding: chunked', ['400000\r\n'], ['\r\n0\r\n\r\n']],
    ['to a route that takes none', 'PUT /contact', 405, `Content-Length: ${4 * 1024 * 1024}`, [], []],
  ])(
    'send a refusal that reaches a client even if it reads only after sending a long body, %s',
    async (_, start, status, header, before, after) => {
      const { port } = await front();
      const socket = connect(port, '127.0.0.1').pause();
      const body = [...before, 'x'.repeat(4 * 1024 * 1024), ...after].join('');
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.write(`${start} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${header}\r\n\r\n${body}`, () => resolve());
      });
      const chunks: Buffer[] = [];
      for await (const chunk of socket) chunks.push(chunk as Buffer);
      expect(Buffer.concat(chunks).toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    },
  );

  it('cut off a request body before it reaches 64 MB', async () => {
    const { port } = await front();
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write('POST /contact HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    let sent = 0;
    // Not `once` of events, which rejects when the connection breaks, as it should here.
    const happens = (event: string) => new Promise<void>((resolve) => void socket.once(event, () => resolve()));
    const closed = happens('close');
    while (!socket.destroyed && sent < 64 * 1024 * 1024) {
      if (!socket.write(piece)) await Promise.race([happens('drain'), closed]);
      sent += piece.length;
    }
    await closed;
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('refuse an invalid address with 400', async () => {
    const { port } = await front();
    expect((await ask(port, '/%zz')).status).toBe(400);
    expect((await ask(port, '*', {}, 'OPTIONS')).status).toBe(400);
  });

  it('are replaced by the 500 page when rendering fails, without the reason', async () => {
    const error = vi.fn();
    const { port } = await front({
      render: async () => {
        throw new Error('a secret reason');
      },
      log: { ...silent, error },
    });
    const answer = await ask(port, '/article/a');
    expect(answer.status).toBe(500);
    expect(answer.body.toString()).toContain("We're inspecting the presses and will be back soon!");
    expect(answer.body.toString()).toContain('Go to Homepage');
    expect(answer.body.toString()).not.toContain('secret reason');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(error).toHaveBeenCalledOnce();
  });
});

describe('until the first edition is ready', () => {
  it('pages answer 503 with Retry-After and reload themselves, and then recover', async () => {
    let ready = false;
    const counts = createServerCounts();
    const { port } = await front({ editionReady: () => ready, counts });
    for (const path of ['/', '/article/a', '/rss.xml']) {
      const answer = await ask(port, path);
      expect(answer.status).toBe(503);
      expect(answer.headers['retry-after']).toBe('5');
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.body.toString()).toContain('still fetching the first stories');
      expect(answer.body.toString()).toContain('<meta http-equiv="refresh" content="5">');
    }
    expect((await ask(port, '/favicon.svg')).status).toBe(200);
    expect((await ask(port, '/api/v1/revalidate', {}, 'POST', '{}')).status).toBe(200);
    // A proxy gets the pages from another process meanwhile.
    expect(counts.errors).toBe(0);
    ready = true;
    expect((await ask(port, '/')).status).toBe(200);
  });

  it('/readyz answers 503 while /healthz answers 200', async () => {
    const { port } = await front({
      editionReady: () => false,
      readiness: () => ({ features: { preview: { on: false, why: 'set NEWSROOM_SECRET' } } }),
    });
    const readyz = await ask(port, '/readyz');
    expect(readyz.status).toBe(503);
    expect(readyz.headers['retry-after']).toBe('5');
    expect(JSON.parse(readyz.body.toString())).toEqual({
      ready: false,
      features: { preview: { on: false, why: 'set NEWSROOM_SECRET' } },
    });
    const healthz = await ask(port, '/healthz');
    expect(healthz.status).toBe(200);
    expect(JSON.parse(healthz.body.toString())).toMatchObject({ ok: true });
  });
});

describe('a node that changes do not reach', () => {
  it.each([
    { why: 'it is cut off from PostgreSQL', isBehind: false, serves: 200 },
    { why: 'it is behind', isBehind: true, serves: 503 },
  ])('answers /readyz with 503 and /readyz?serves with $serves when $why', async ({ isBehind, serves }) => {
    const { port } = await front({ missesChanges: () => true, isBehind: () => isBehind });
    expect((await ask(port, '/readyz')).status).toBe(503);
    expect((await ask(port, '/readyz?serves')).status).toBe(serves);
    expect((await ask(port, '/readyz?serves&complete')).status).toBe(503);
  });

  it('answers /readyz?serves with 503 without an edition', async () => {
    const { port } = await front({ editionReady: () => false, missesChanges: () => true, isBehind: () => false });
    expect((await ask(port, '/readyz?serves')).status).toBe(503);
  });
});
