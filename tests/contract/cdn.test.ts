/** The wire protocols of the two CDNs, as their references describe them, and their failures. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { delay, HttpResponse, http, passthrough } from 'msw';
import { describe, expect, test, vi } from 'vitest';
import { type CdnSettings, openCdn } from '../../src/lib/cdn/cdn.server.ts';
import type { DeliveryTuning } from '../../src/lib/jobs/delivery.server.ts';
import { silent } from '../../src/lib/logging.ts';
import { type Answer, limitOnly, standIn } from './stand-in.ts';

interface Call {
  readonly at: number;
  readonly url: string;
  readonly headers: Headers;
  readonly body: { tags?: string[]; surrogate_keys?: string[] };
}

const { server, closing, next } = standIn();

const cloudflare: CdnSettings = {
  provider: 'cloudflare',
  zone: '023e105f4ecef8ad9ca31a8372d0c353',
  token: 'cf-token',
  apiUrl: 'https://cloudflare.stand-in.test/client/v4',
};
const fastly: CdnSettings = {
  provider: 'fastly',
  service: 'SU1Z0isxPaozGVKXdv0eY',
  token: 'fastly-token',
  apiUrl: 'https://fastly.stand-in.test',
};

const error = (code: number, message: string) => ({
  success: false,
  errors: [{ code, message }],
  messages: [],
  result: null,
});
const taken: Answer = () =>
  HttpResponse.json({ success: true, errors: [], messages: [], result: { id: '023e105f4ecef8ad9ca31a8372d0c353' } });
const fastlyTaken: Answer = () => HttpResponse.json({ 'article:12': '2168-1600000000-1' });

function stand(settings: CdnSettings, answers: readonly Answer[], tuning: DeliveryTuning = {}) {
  const calls: Call[] = [];
  const host = new URL(settings.apiUrl ?? '').host;
  server.use(
    http.all(`https://${host}/*`, async ({ request }) => {
      const answer = next(answers, calls.length);
      expect(request.method).toBe('POST');
      const body: unknown = await request.json();
      calls.push({ at: performance.now(), url: request.url, headers: request.headers, body: body as Call['body'] });
      return answer();
    }),
  );
  const log = { ...silent, warn: vi.fn(), error: vi.fn() };
  const quick = { collectMs: 5, backOffMs: [1, 5], misconfiguredMs: 5, closeMs: 50 } satisfies DeliveryTuning;
  const cdn = closing(openCdn(settings, log, { ...quick, ...tuning }));
  return { cdn, calls, log };
}

describe('Cloudflare', () => {
  test('receives one call with each tag once, and the token as a Bearer', async () => {
    const { cdn, calls } = stand(cloudflare, [taken]);
    cdn.purge(['article:12', 'card:12']);
    cdn.purge(new Set(['card:12', 'latest']));
    await cdn.idle();
    expect(calls).toHaveLength(1);
    expect(calls[0]?.url).toBe(
      'https://cloudflare.stand-in.test/client/v4/zones/023e105f4ecef8ad9ca31a8372d0c353/purge_cache',
    );
    expect(calls[0]?.headers.get('authorization')).toBe('Bearer cf-token');
    expect(calls[0]?.headers.get('content-type')).toMatch(/^application\/json/);
    expect(calls[0]?.body).toEqual({ tags: ['article:12', 'any:article', 'card:12', 'any:card', 'any', 'latest'] });
    expect(cdn.stats()).toEqual({
      provider: 'cloudflare',
      purged: 6,
      failed: 0,
      pending: 0,
      requests: 1,
      failedRequests: 0,
      problem: null,
    });
  });

  test('receives at most 100 tags in a call', async () => {
    const { cdn, calls } = stand(cloudflare, [taken]);
    cdn.purge(Array.from({ length: 250 }, (_, index) => `card:${index}`));
    await cdn.idle();
    expect(calls.map(({ body }) => body.tags?.length)).toEqual([100, 100, 52]);
    expect(new Set(calls.flatMap(({ body }) => body.tags)).size).toBe(252);
  });

  test('receives a single tag when everything is purged', async () => {
    const { cdn, calls } = stand(cloudflare, [taken]);
    cdn.purge(['card:1', 'site']);
    await cdn.idle();
    expect(calls[0]?.body).toEqual({ tags: ['site'] });
  });

  test('is called again after the Retry-After of a 429, with the same tags and newer ones', async () => {
    const tooMany: Answer = () =>
      HttpResponse.json(error(971, 'rate limited'), { status: 429, headers: { 'Retry-After': '1' } });
    const { cdn, calls } = stand(cloudflare, [tooMany, taken]);
    cdn.purge(['latest']);
    await vi.waitFor(() => expect(cdn.stats().failedRequests).toBe(1));
    cdn.purge(['videos']);
    expect(cdn.stats()).toMatchObject({ purged: 0, failed: 0 });
    await cdn.idle();
    expect(calls).toHaveLength(2);
    expect((calls[1]?.at ?? 0) - (calls[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
    expect(calls[1]?.body.tags?.toSorted()).toEqual(['any', 'latest', 'videos']);
    expect(cdn.stats()).toMatchObject({ purged: 3, problem: null });
  });

  test('receives the purge even after 12 failed calls', async () => {
    const down: Answer = () => HttpResponse.json(error(1000, 'down'), { status: 503 });
    const { cdn, calls } = stand(cloudflare, [...Array<Answer>(12).fill(down), taken]);
    cdn.purge(['latest']);
    await cdn.idle();
    expect(calls).toHaveLength(13);
    expect(cdn.stats()).toMatchObject({ purged: 2, failed: 0, problem: null });
  });

  test.each<[string, Answer, RegExp]>([
    ['status 500', () => HttpResponse.json(error(1000, 'internal'), { status: 500 }), /500 \(1000 internal\)/],
    ['HTML with status 502', () => HttpResponse.html('<h1>Bad gateway</h1>', { status: 502 }), /502/],
    ['HTML with status 200', () => HttpResponse.html('<h1>Welcome</h1>'), /text\/html.*CLOUDFLARE_API_URL/],
    ['a body that is cut off', () => HttpResponse.text('{"success": true, "err', { status: 200 }), /instead of JSON/],
    ['a connection that breaks', breaks, /UND_ERR_SOCKET|broken off/],
    ['a failed connection', () => HttpResponse.error(), /Cloudflare: /],
    ['a timeout', late, /no answer within 400 ms/],
    ['an endless response', endless, /more than 262144 bytes/],
  ])('is sent the same tags again after %s, until it accepts them', async (_name, bad, problem) => {
    if (bad === late) limitOnly(2);
    const { cdn, calls, log } = stand(cloudflare, [bad, bad, taken], { timeoutMs: bad === late ? 400 : 20_000 });
    cdn.purge(['latest']);
    await cdn.idle();
    expect(calls.map(({ body }) => body.tags)).toEqual([
      ['latest', 'any'],
      ['latest', 'any'],
      ['latest', 'any'],
    ]);
    expect(log.warn).toHaveBeenCalledTimes(2);
    expect(log.warn.mock.calls[0]?.[0].problem).toMatch(problem);
    expect(cdn.stats()).toMatchObject({ purged: 2, failed: 0, requests: 3, failedRequests: 2, problem: null });
  });

  test.each<[string, Answer, string]>([
    ['status 401', () => HttpResponse.json(error(10000, 'Authentication error'), { status: 401 }), 'CLOUDFLARE_TOKEN'],
    ['status 403', () => HttpResponse.json(error(10000, 'Authentication error'), { status: 403 }), 'CLOUDFLARE_TOKEN'],
    [
      'an error about the token',
      () => HttpResponse.json(error(6003, 'Invalid headers'), { status: 400 }),
      'CLOUDFLARE_TOKEN',
    ],
    ['an error about the zone', () => HttpResponse.json(error(7003, 'No route'), { status: 400 }), 'CLOUDFLARE_ZONE'],
    ['status 404', () => HttpResponse.json(error(7003, 'No route'), { status: 404 }), 'CLOUDFLARE_ZONE'],
    ['a redirect', () => HttpResponse.redirect('https://elsewhere.stand-in.test/', 307), 'CLOUDFLARE_API_URL'],
  ])(
    'answers with %s: one log line names the setting, and purges continue once it is right',
    async (_name, bad, setting) => {
      const { cdn, calls, log } = stand(cloudflare, [bad, bad, bad, taken]);
      cdn.purge(['latest']);
      await cdn.idle();
      expect(calls).toHaveLength(4);
      expect(log.error).toHaveBeenCalledTimes(1);
      const [context, message] = log.error.mock.calls[0] ?? [];
      expect(message).toBe('CDN purge: a setting is wrong');
      expect(context.problem).toContain(setting);
      expect(JSON.stringify(log.error.mock.calls)).not.toContain('cf-token');
      expect(cdn.stats()).toMatchObject({ purged: 2, failed: 0, problem: null });
    },
  );

  test('is not called again after a permanent refusal, which is counted and logged', async () => {
    const refused: Answer = () => HttpResponse.json(error(1012, 'Request must contain "tags"'), { status: 400 });
    const { cdn, calls, log } = stand(cloudflare, [refused]);
    cdn.purge(['latest']);
    await cdn.idle();
    expect(calls).toHaveLength(1);
    expect(cdn.stats()).toMatchObject({ purged: 0, failed: 2, pending: 0 });
    expect(log.error.mock.calls[0]?.[0].problem).toContain('1012 Request must contain');
  });

  test('has not purged if it answers 200 with success: false', async () => {
    const { cdn } = stand(cloudflare, [() => HttpResponse.json(error(1000, 'no'))]);
    cdn.purge(['latest']);
    await cdn.idle();
    expect(cdn.stats()).toMatchObject({ purged: 0, failed: 2 });
  });

  test('receives one purge of everything when too many tags are waiting', async () => {
    const down: Answer = () => HttpResponse.json(error(1000, 'down'), { status: 503 });
    const { cdn, calls } = stand(cloudflare, [down, taken], { limit: 20, backOffMs: [200, 200] });
    cdn.purge(['latest']);
    await vi.waitFor(() => expect(cdn.stats().failedRequests).toBe(1));
    for (let index = 0; index < 30; index++) cdn.purge([`card:${index}`]);
    expect(cdn.stats().pending).toBeLessThanOrEqual(20);
    await cdn.idle();
    expect(calls[1]?.body.tags).toContain('site');
    expect(calls[1]?.body.tags?.length).toBeLessThanOrEqual(20);
  });

  test('receives the waiting tags at once when the site stops', async () => {
    const { cdn, calls } = stand(cloudflare, [taken], { collectMs: 60_000, closeMs: 5000 });
    cdn.purge(['latest']);
    expect(await cdn.close()).toBe(0);
    expect(calls[0]?.body).toEqual({ tags: ['latest', 'any'] });
  });

  test('has a hanging call aborted when the site stops, and the unsent tags are counted', async () => {
    const { cdn, calls, log } = stand(cloudflare, [hangs], { closeMs: 50 });
    cdn.purge(['latest']);
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    expect(await cdn.close()).toBe(2);
    expect(log.warn).toHaveBeenLastCalledWith(expect.objectContaining({ unsent: 2 }), expect.any(String));
  });
});

describe('Fastly', () => {
  test('receives one call with the keys, and the token in Fastly-Key', async () => {
    const { cdn, calls } = stand(fastly, [fastlyTaken]);
    cdn.purge(['article:12', 'latest']);
    await cdn.idle();
    expect(calls).toHaveLength(1);
    expect(calls[0]?.url).toBe('https://fastly.stand-in.test/service/SU1Z0isxPaozGVKXdv0eY/purge');
    expect(calls[0]?.headers.get('fastly-key')).toBe('fastly-token');
    expect(calls[0]?.headers.get('accept')).toBe('application/json');
    expect(calls[0]?.headers.has('fastly-soft-purge')).toBe(false);
    expect(calls[0]?.body).toEqual({ surrogate_keys: ['article:12', 'any:article', 'latest', 'any'] });
    expect(cdn.stats()).toMatchObject({ provider: 'fastly', purged: 4 });
  });

  test('receives at most 256 keys in a call', async () => {
    const { cdn, calls } = stand(fastly, [fastlyTaken]);
    cdn.purge(Array.from({ length: 500 }, (_, index) => `card:${index}`));
    await cdn.idle();
    expect(calls.map(({ body }) => body.surrogate_keys?.length)).toEqual([256, 246]);
  });

  test('receives soft purges, but a hard purge of withdrawn content', async () => {
    const { cdn, calls } = stand({ ...fastly, soft: true }, [fastlyTaken]);
    cdn.purge(['card:1']);
    cdn.purge(['article:2'], { withdrawn: true });
    await cdn.idle();
    const bySoftness = Object.fromEntries(
      calls.map(({ headers, body }) => [headers.get('fastly-soft-purge') ?? 'hard', body.surrogate_keys]),
    );
    expect(bySoftness).toEqual({ '1': ['card:1', 'any:card', 'any'], hard: ['article:2', 'any:article', 'any'] });
    expect(cdn.stats()).toMatchObject({ purged: 6, requests: 2 });
  });

  test('is called again at the time in the Fastly-RateLimit-Reset of a 429', async () => {
    const tooMany: Answer = () =>
      HttpResponse.json(
        { msg: 'Rate limit exceeded' },
        { status: 429, headers: { 'Fastly-RateLimit-Reset': String(Math.ceil(Date.now() / 1000) + 1) } },
      );
    const { cdn, calls } = stand(fastly, [tooMany, fastlyTaken]);
    cdn.purge(['latest']);
    await cdn.idle();
    expect((calls[1]?.at ?? 0) - (calls[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test.each<[string, Answer]>([
    ['status 503', () => HttpResponse.json({ msg: 'down' }, { status: 503 })],
    ['HTML with status 200', () => HttpResponse.html('<h1>Welcome</h1>')],
    ['a connection that breaks', breaks],
    ['a timeout', late],
  ])('is sent the same keys again after %s, until it accepts them', async (_name, bad) => {
    if (bad === late) limitOnly(1);
    const { cdn, calls } = stand(fastly, [bad, fastlyTaken], { timeoutMs: bad === late ? 400 : 20_000 });
    cdn.purge(['latest']);
    await cdn.idle();
    expect(calls.map(({ body }) => body.surrogate_keys)).toEqual([
      ['latest', 'any'],
      ['latest', 'any'],
    ]);
    expect(cdn.stats()).toMatchObject({ purged: 2, failed: 0, failedRequests: 1 });
  });

  test.each<[number, string]>([
    [401, 'FASTLY_TOKEN'],
    [403, 'FASTLY_TOKEN'],
    [404, 'FASTLY_SERVICE'],
  ])('answers with status %i: one log line names %s', async (status, setting) => {
    const bad: Answer = () => HttpResponse.json({ msg: 'No', detail: 'not yours' }, { status });
    const { cdn, log } = stand(fastly, [bad, bad, fastlyTaken]);
    cdn.purge(['latest']);
    await cdn.idle();
    expect(log.error).toHaveBeenCalledTimes(1);
    expect(log.error.mock.calls[0]?.[0].problem).toMatch(`${status} (No: not yours): set ${setting} to`);
  });
});

test('after an answer cut off on a real connection, the same purge is sent again until accepted', async () => {
  const whole = JSON.stringify({ success: true, errors: [], messages: [], result: null });
  let requests = 0;
  const half = createServer((request, response) => {
    request.resume();
    requests++;
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': whole.length });
    if (requests > 1) response.end(whole);
    else response.write(whole.slice(0, 20), () => response.destroy());
  });
  half.listen(0, '127.0.0.1');
  await once(half, 'listening');
  try {
    const address = half.address();
    if (address === null || typeof address === 'string') throw new Error('The server has no port.');
    server.use(http.post(`http://127.0.0.1:${address.port}/*`, () => passthrough()));
    const log = { ...silent, warn: vi.fn() };
    const cdn = closing(
      openCdn({ ...cloudflare, apiUrl: `http://127.0.0.1:${address.port}` }, log, {
        collectMs: 5,
        backOffMs: [1, 5],
      }),
    );
    cdn.purge(['latest']);
    await cdn.idle();
    expect(requests).toBe(2);
    expect(log.warn.mock.calls[0]?.[0].problem).toMatch(/application\/json, broken off instead of JSON/);
    expect(cdn.stats()).toMatchObject({ purged: 2, failed: 0, failedRequests: 1 });
  } finally {
    half.close();
    half.closeAllConnections();
  }
});

test('without a CDN, purging and closing do nothing', async () => {
  const cdn = openCdn(null, silent);
  cdn.purge(['latest']);
  await cdn.idle();
  expect(cdn.stats()).toMatchObject({ provider: null, purged: 0, pending: 0 });
  expect(await cdn.close()).toBe(0);
});

/** Ends in an error while the body is on its way. */
function breaks(): Response {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"success": tr'));
    },
    pull(controller) {
      controller.error(new Error('connection reset'));
    },
  });
  return new HttpResponse(stream, { status: 200, headers: { 'Content-Type': 'application/json' } });
}

function endless(): Response {
  const chunk = new Uint8Array(64 * 1024).fill(32);
  const stream = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(chunk) });
  return new HttpResponse(stream, { status: 200, headers: { 'Content-Type': 'application/json' } });
}

async function late(): Promise<Response> {
  await delay(4000);
  return HttpResponse.json({ success: true });
}

async function hangs(): Promise<Response> {
  await delay('infinite');
  return HttpResponse.json({ success: true });
}
