import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  ask,
  bareSettings,
  folder,
  front,
  page,
  script,
  stopServers,
  writeFiles,
} from '../../../tests/world/http-servers.ts';
import { silent } from '../../lib/logging.ts';
import { securityHeaders } from './security-headers.ts';
import { shutDown } from './shutdown.ts';

beforeAll(writeFiles);
afterAll(() => rmSync(folder, { recursive: true }));

afterEach(stopServers);

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
    const security = securityHeaders({ ...bareSettings, operatorToken: 'a-token' });
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

  it('is disconnected when it reads none of its responses', async () => {
    const { port, server } = await front({
      render: async () => page('x'.repeat(4 * 1024 * 1024)),
      timeouts: { inactiveMs: 300 },
    });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write('GET /subscribe HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20));
    const [served] = await accepted;
    await once(served, 'close');
    expect(served.bytesWritten).toBeLessThan(20 * 4 * 1024 * 1024);
    socket.destroy();
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
