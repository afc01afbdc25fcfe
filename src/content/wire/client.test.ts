import { describe, expect, it } from 'vitest';
import { createClient } from './client.server.ts';

type Handler = (request: Request, count: number) => Response | Promise<Response>;

function client(handler: Handler, options = {}) {
  const requests: Request[] = [];
  const made = createClient({
    url: 'https://cms.example/blog',
    user: 'site',
    password: 'ab cd',
    backOffMs: 1,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      requests.push(request);
      return handler(request, requests.length);
    },
    ...options,
  });
  return { get: made.get, requests };
}
const ok = (): Response =>
  Response.json([1], { headers: { 'X-WP-Total': '7', Date: 'Sat, 21 Nov 2026 12:00:00 GMT' } });

describe('the WordPress client', () => {
  it('signs in, and returns the total and WordPress’s clock with the answer', async () => {
    const { get, requests } = client(ok);
    expect(await get('/wp/v2/articles', { per_page: 5, include: [1, 2] })).toMatchObject({
      ok: true,
      data: [1],
      total: 7,
      fetched: { clock: 1_795_262_400 },
    });
    expect(requests[0]?.url).toBe('https://cms.example/blog/wp-json/wp/v2/articles?per_page=5&include=1,2');
    expect(requests[0]?.headers.get('authorization')).toBe(`Basic ${btoa('site:ab cd')}`);
  });

  it('sends nothing once the caller’s signal is aborted', async () => {
    const { get, requests } = client(ok);
    expect(await get('/x', {}, { signal: AbortSignal.abort() })).toMatchObject({ ok: false, kind: 'aborted' });
    expect(requests).toHaveLength(0);
  });

  it('follows redirects only within its origin, and at most five', async () => {
    const away = client(() => new Response(null, { status: 302, headers: { Location: 'https://evil.example/' } }));
    expect(await away.get('/x')).toMatchObject({
      ok: false,
      kind: 'redirect',
      message: expect.stringContaining('https://evil.example'),
    });
    expect(away.requests).toHaveLength(1);
    const loop = client(() => new Response(null, { status: 301, headers: { Location: '/blog/wp-json/x' } }));
    expect(await loop.get('/x')).toMatchObject({ kind: 'redirect', message: 'redirects more than 5 times' });
    const once = client((_request, count) =>
      count === 1 ? new Response(null, { status: 301, headers: { Location: 'https://cms.example/y' } }) : ok(),
    );
    expect(await once.get('/x')).toMatchObject({ ok: true });
  });

  it('retries temporary failures and HTML answers but not a 404, and reports the last error', async () => {
    const passing = client((_request, count) => (count < 3 ? new Response('busy', { status: 503 }) : ok()));
    expect(await passing.get('/x')).toMatchObject({ ok: true });
    const html = client(() => new Response('<html>Maintenance</html>', { headers: { 'Content-Type': 'text/html' } }));
    expect(await html.get('/x')).toMatchObject({
      kind: 'not-json',
      status: 200,
      message: 'status 200 with HTML instead of JSON (text/html): <html>Maintenance</html>',
    });
    expect(html.requests).toHaveLength(4);
    const half = client(() => new Response('[{"id": 1, "ti', { headers: { 'Content-Type': 'application/json' } }));
    expect(await half.get('/x', {}, { tries: 1 })).toMatchObject({
      message: expect.stringContaining('not complete JSON'),
    });
    const gone = client(() => Response.json({ code: 'rest_post_invalid_id' }, { status: 404 }));
    expect(await gone.get('/x')).toMatchObject({ status: 404, code: 'rest_post_invalid_id' });
    expect(gone.requests).toHaveLength(1);
  });

  it('waits for a short Retry-After, and leaves a long one to the caller', async () => {
    const began = performance.now();
    const soon = client((_request, count) =>
      count === 1 ? new Response('', { status: 429, headers: { 'Retry-After': '1' } }) : ok(),
    );
    expect(await soon.get('/x')).toMatchObject({ ok: true });
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
    const later = client(() => new Response('', { status: 429, headers: { 'Retry-After': '3600' } }));
    expect(await later.get('/x')).toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
    expect(later.requests).toHaveLength(1);
  });

  it('gives up on slow or oversized answers, and makes at most four requests at a time', async () => {
    const silent = client(
      (request) =>
        new Promise((_resolve, reject) =>
          request.signal.addEventListener('abort', () => reject(request.signal.reason)),
        ),
      { answerMs: 20 },
    );
    expect(await silent.get('/x', {}, { tries: 1 })).toMatchObject({
      kind: 'timeout',
      message: 'no answer within 20 ms',
    });
    const large = client(() => Response.json('x'.repeat(5000)), { maxBytes: 1000 });
    expect(await large.get('/x')).toMatchObject({ kind: 'too-large' });
    let [running, most] = [0, 0];
    const crowd = client(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return ok();
    });
    await Promise.all(Array.from({ length: 20 }, () => crowd.get('/x')));
    expect(most).toBe(4);
  });

  it('stops retrying when it is aborted', async () => {
    const stop = new AbortController();
    const { get } = client(() => {
      stop.abort();
      return new Response('', { status: 500 });
    });
    expect(await get('/x', {}, { signal: stop.signal })).toMatchObject({ kind: 'aborted' });
  });
});
