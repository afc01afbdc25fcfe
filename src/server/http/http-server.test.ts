import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { answerWith } from '../../../tests/fixtures/answer.ts';
import { silent } from '../../lib/logging.ts';
import { noThirdParties } from '../../lib/third-party/settings.ts';
import { createHttpServer } from './http-server.ts';
import { securityHeaders } from './security-headers.ts';
import type { HttpServerOptions } from './server-options.ts';
import { shutDown } from './shutdown.ts';
import { openStatics } from './static-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'front-'));
const client = join(folder, 'client');
const script = 'console.log("sun");'.repeat(100);

beforeAll(() => {
  mkdirSync(join(client, '_assets'), { recursive: true });
  writeFileSync(join(client, '_assets', 'a.123.js'), script);
  writeFileSync(join(client, '_assets', 'a.123.js.br'), brotliCompressSync(script));
  writeFileSync(join(client, '_assets', 'a.123.js.gz'), gzipSync(script));
  writeFileSync(join(client, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(client, '.hidden'), 'hidden');
  writeFileSync(join(folder, 'secret.txt'), 'secret');
});
afterAll(() => rmSync(folder, { recursive: true }));

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => shutDown(server, 0)));
});

const page = (body: string, init: ResponseInit = {}) =>
  answerWith(body, { ...init, headers: { 'content-type': 'text/html; charset=utf-8', ...init.headers } });

/** An HTTP server on a free port; tests pass only the options that matter to them. */
async function front(options: Partial<HttpServerOptions> = {}): Promise<{ port: number; server: Server }> {
  const server = createHttpServer({
    siteUrl: 'https://paper.example',
    statics: openStatics(client),
    security: securityHeaders({
      siteUrl: 'https://paper.example',
      wordpress: { url: 'https://wp.example/news' },
      imageHosts: [],
      frameHosts: ['127.0.0.1:8881'],
      thirdParties: noThirdParties,
      stripe: null,
    }),
    render: async () => page('<h1>Front page</h1>'),
    locals: () => ({ content: { tags: new Set(['latest']) } }) as unknown as App.Locals,
    editionReady: () => true,
    readiness: () => ({ features: {} }),
    log: silent,
    ...options,
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, server };
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Requests exactly the given path, which `fetch` would normalize. */
function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ port, host: '127.0.0.1', path, method, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) }),
      );
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

describe('static files', () => {
  it('are served as immutable if their names are hashed, compressed as the browser accepts', async () => {
    const { port } = await front();
    const plain = await ask(port, '/_assets/a.123.js');
    expect(plain.status).toBe(200);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(plain.headers.vary).toBe('Accept-Encoding');
    expect(plain.body.toString()).toBe(script);

    const br = await ask(port, '/_assets/a.123.js', { 'accept-encoding': 'gzip, deflate, br' });
    expect(br.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(br.body).toString()).toBe(script);
    expect(br.headers.etag).not.toBe(plain.headers.etag);

    const gzip = await ask(port, '/_assets/a.123.js', { 'accept-encoding': 'gzip, br;q=0' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
  });

  it('answer 304 to their own ETag, and HEAD without a body', async () => {
    const { port } = await front();
    const first = await ask(port, '/favicon.svg');
    expect(first.headers['cache-control']).toBe('public, max-age=3600, must-revalidate');
    const again = await ask(port, '/favicon.svg', { 'if-none-match': String(first.headers.etag) });
    expect(again.status).toBe(304);
    expect(again.body).toHaveLength(0);
    const head = await ask(port, '/favicon.svg', {}, 'HEAD');
    expect(head.status).toBe(200);
    expect(head.headers['content-length']).toBe(String(first.body.byteLength));
    expect(head.body).toHaveLength(0);
  });

  it('refuse POST with 405', async () => {
    const { port } = await front();
    const answer = await ask(port, '/favicon.svg', {}, 'POST', 'x');
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('GET, HEAD');
  });

  it.each([
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/_assets/../../secret.txt',
    '/_assets/..%5c..%5csecret.txt',
    '//secret.txt',
    '/.hidden',
    '/_assets/a.123.js.br',
  ])('give no access to hidden files or outside their folder: %s', async (path) => {
    const { port } = await front({ render: async () => page('not here', { status: 404 }) });
    const answer = await ask(port, path);
    expect(answer.status).toBe(404);
    expect(answer.body.toString()).toBe('not here');
  });
});

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
    const { port } = await front({ editionReady: () => ready });
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

describe('security headers', () => {
  it('are sent with every response', async () => {
    const { port } = await front();
    const paths: [string, string][] = [
      ['/', 'GET'],
      ['/favicon.svg', 'GET'],
      ['/favicon.svg', 'POST'],
      ['/healthz', 'GET'],
      ['/%zz', 'GET'],
    ];
    for (const [path, method] of paths) {
      const { headers } = await ask(port, path, {}, method);
      expect(headers['x-content-type-options'], path).toBe('nosniff');
      expect(headers['referrer-policy'], path).toBe('strict-origin-when-cross-origin');
      expect(headers['permissions-policy'], path).toContain('geolocation=()');
      expect(headers['strict-transport-security'], path).toContain('max-age=');
      expect(headers['content-security-policy'], path).toContain("frame-ancestors 'self'");
    }
  });

  it('include the reporting endpoint when the page’s policy refers to it', async () => {
    const security = securityHeaders({
      siteUrl: 'https://paper.example',
      wordpress: null,
      imageHosts: [],
      frameHosts: [],
      thirdParties: noThirdParties,
      stripe: null,
      operatorToken: 'a-token',
    });
    const { port } = await front({ security });
    const { headers } = await ask(port, '/subscribe');
    expect(headers['content-security-policy']).toContain('report-to csp');
    expect(headers['reporting-endpoints']).toBe('csp="/-/csp-reports"');
  });

  it('complete a page’s own policy and never allow inline scripts', async () => {
    const rendered =
      "script-src 'self' 'sha256-abc'; style-src 'self' 'unsafe-inline' 'sha256-def'; font-src https://f.example;";
    const { port } = await front({
      render: async () => page('x', { headers: { 'content-security-policy': rendered } }),
    });
    const policy = String((await ask(port, '/')).headers['content-security-policy']);
    expect(policy).toContain("script-src 'self' 'sha256-abc'");
    expect(policy).toContain("style-src 'self' 'unsafe-inline';");
    expect(policy).toContain("font-src 'self' https://f.example");
    expect(policy).toMatch(/frame-src [^;]*https:\/\/www\.youtube-nocookie\.com[^;]*http:\/\/127\.0\.0\.1:8881/);
    expect(policy).toMatch(/img-src 'self' data: https:\/\/wp\.example;/);
    expect(policy).not.toMatch(/script-src[^;]*unsafe-inline/);
  });
});

describe('a slow or broken client', () => {
  it('is disconnected with 408 when its headers never end', async () => {
    const { port } = await front({ timeouts: { headersMs: 200, requestMs: 400, checkEveryMs: 50 } });
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('is disconnected when its body never ends', async () => {
    const { port } = await front({
      render: async (request) => page(await request.text()),
      // The next request has as much time.
      timeouts: { headersMs: 2000, requestMs: 2000, checkEveryMs: 50 },
    });
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /contact HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
    socket.resume();
    await once(socket, 'close');
    expect((await ask(port, '/healthz')).status).toBe(200);
  });

  it('gets 431 for headers that are too long', async () => {
    const { port } = await front();
    const answer = await ask(port, '/', { cookie: 'a'.repeat(20_000) });
    expect(answer.status).toBe(431);
  });
});

describe('a server that shuts down', () => {
  it('finishes a request in flight and accepts no new connection', async () => {
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { port, server } = await front({
      render: async () => {
        asked.resolve();
        await gate.promise;
        return page('finished');
      },
    });
    const answer = ask(port, '/');
    await asked.promise;
    const stopped = shutDown(server, 5000);
    await expect(ask(port, '/healthz')).rejects.toThrow(/ECONNREFUSED/);
    gate.resolve();
    expect((await answer).body.toString()).toBe('finished');
    expect(await stopped).toBe(true);
  });

  it('gives up on a request that does not end in time', async () => {
    const asked = Promise.withResolvers<void>();
    const { port, server } = await front({
      render: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const answer = ask(port, '/');
    const broken = expect(answer).rejects.toThrow();
    await asked.promise;
    expect(await shutDown(server, 50)).toBe(false);
    await broken;
  });
});

describe('request ids and times', () => {
  it('the id is sent with every response that caches don’t keep, and each time is recorded by kind of request', async () => {
    const answered: [string, number][] = [];
    const { port } = await front({
      requestId: ({ headers }) => String(headers['x-request-id']),
      answered: (kind, ms) => answered.push([kind, ms]),
      render: async (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === '/broken') throw new Error('broken');
        const cacheControl = pathname === '/image' ? 'public, max-age=31536000, immutable' : 'private, no-store';
        return page('x', { headers: { 'cache-control': cacheControl } });
      },
    });
    const paths = ['/profile', '/api/v1/me', '/broken', '/healthz', '/image', '/favicon.svg'];
    const ids: unknown[] = [];
    for (const path of paths) ids.push((await ask(port, path, { 'x-request-id': path })).headers['x-request-id']);
    expect(ids).toEqual(['/profile', '/api/v1/me', '/broken', '/healthz', undefined, undefined]);
    const refused = await ask(port, '/profile', { 'x-request-id': 'refused' }, 'DELETE');
    expect([refused.status, refused.headers['x-request-id']]).toEqual([405, 'refused']);
    await vi.waitFor(() => expect(answered).toHaveLength(7));
    expect(answered.map(([kind]) => kind)).toEqual(['page', 'api', 'page', 'operators', 'image', 'static', 'page']);
    expect(answered.every(([, ms]) => ms > 0 && ms < 10_000)).toBe(true);
  });

  it('each request gets an id, which is logged with the response when tracing is on', async () => {
    const lines: object[] = [];
    const { port } = await front({ logsResponses: true, log: { ...silent, debug: (line) => lines.push(line) } });
    const first = (await ask(port, '/profile')).headers['x-request-id'];
    const second = (await ask(port, '/profile')).headers['x-request-id'];
    expect(first).toMatch(/^[\w-]{36}$/);
    expect(second).not.toBe(first);
    await vi.waitFor(() => expect(lines).toHaveLength(2));
    expect(lines).toMatchObject([
      { url: '/profile', requestId: first },
      { url: '/profile', requestId: second },
    ]);
  });
});
