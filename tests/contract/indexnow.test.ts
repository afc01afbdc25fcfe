/** IndexNow's wire protocol (indexnow.org/documentation), and its failures. */
import { delay, HttpResponse, http } from 'msw';
import { describe, expect, test, vi } from 'vitest';
import { type IndexNowSettings, openIndexNow } from '../../src/lib/indexnow/indexnow.server.ts';
import type { DeliveryTuning } from '../../src/lib/jobs/delivery.server.ts';

import { silent } from '../../src/lib/logging.ts';
import { type Answer, limitOnly, standIn } from './stand-in.ts';

const { server, closing, next } = standIn();

const settings: IndexNowSettings = {
  key: 'a1b2c3d4e5f6',
  siteUrl: 'https://www.thesun.paper',
  url: 'https://indexnow.stand-in.test/indexnow',
};
const article = (number: number): string => `https://www.thesun.paper/article/${number}`;

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  () =>
    new HttpResponse(null, { status: code, headers });

interface Body {
  readonly host: string;
  readonly key: string;
  readonly keyLocation: string;
  readonly urlList: string[];
}

function stand(answers: readonly Answer[], tuning: DeliveryTuning = {}) {
  const calls: { at: number; type: string | null; body: Body }[] = [];
  server.use(
    http.post('https://indexnow.stand-in.test/indexnow', async ({ request }) => {
      const answer = next(answers, calls.length);
      const body: unknown = await request.json();
      calls.push({ at: performance.now(), type: request.headers.get('content-type'), body: body as Body });
      return answer();
    }),
  );
  const log = { ...silent, warn: vi.fn(), error: vi.fn() };
  const indexNow = closing(openIndexNow(settings, log, { collectMs: 5, backOffMs: [1, 5], closeMs: 50, ...tuning }));
  return { indexNow, calls, log };
}

test('addresses announced together are sent to IndexNow in one request, without duplicates and other sites', async () => {
  const { indexNow, calls } = stand([status(200)]);
  indexNow.announce([article(1), '/article/2', 'https://elsewhere.org/']);
  indexNow.announce([article(1)]);
  await indexNow.idle();
  expect(calls.map(({ body }) => body)).toEqual([
    {
      host: 'www.thesun.paper',
      key: 'a1b2c3d4e5f6',
      keyLocation: 'https://www.thesun.paper/a1b2c3d4e5f6.txt',
      urlList: [article(1), article(2)],
    },
  ]);
  expect(calls[0]?.type).toBe('application/json; charset=utf-8');
  expect(indexNow.stats()).toEqual({
    off: null,
    announced: 2,
    failed: 0,
    pending: 0,
    requests: 1,
    problem: null,
  });
});

test('a 202 from IndexNow, whose check of the key is not finished, counts as success', async () => {
  const { indexNow, calls } = stand([status(202)]);
  indexNow.announce([article(1)]);
  await indexNow.idle();
  expect(calls).toHaveLength(1);
  expect(indexNow.stats()).toMatchObject({ announced: 1, problem: null });
});

test('a request to IndexNow has at most 10,000 addresses', async () => {
  const { indexNow, calls } = stand([status(200)]);
  indexNow.announce(Array.from({ length: 10_001 }, (_, index) => article(index)));
  await indexNow.idle();
  expect(calls.map(({ body }) => body.urlList.length)).toEqual([10_000, 1]);
});

test('after a 429, IndexNow is asked again when its Retry-After has passed', async () => {
  const { indexNow, calls } = stand([status(429, { 'Retry-After': '1' }), status(200)]);
  indexNow.announce([article(1)]);
  await indexNow.idle();
  expect(calls).toHaveLength(2);
  expect((calls[1]?.at ?? 0) - (calls[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
  expect(indexNow.stats()).toMatchObject({ announced: 1, failed: 0 });
});

test.each<[string, Answer]>([
  ['status 500', status(500)],
  ['status 503 with HTML', () => HttpResponse.html('<h1>Maintenance</h1>', { status: 503 })],
  ['a failed connection', () => HttpResponse.error()],
  [
    'a timeout',
    async () => {
      await delay(4000);
      return new HttpResponse(null, { status: 200 });
    },
  ],
])('after %s, the request to IndexNow is tried again', async (name, bad) => {
  const { indexNow, calls } = stand([bad, bad, status(200)], {
    timeoutMs: name === 'a timeout' ? 400 : 20_000,
  });
  if (name === 'a timeout') limitOnly(2);
  indexNow.announce([article(1)]);
  await indexNow.idle();
  expect(calls).toHaveLength(3);
  expect(indexNow.stats()).toMatchObject({ announced: 1, failed: 0, problem: null });
});

test('an announcement to IndexNow is given up after its last try', async () => {
  const { indexNow, calls } = stand([status(500)], { tries: 3 });
  indexNow.announce([article(1)]);
  await indexNow.idle();
  expect(calls).toHaveLength(3);
  expect(indexNow.stats()).toMatchObject({ announced: 0, failed: 1, pending: 0 });
});

test.each<[number, RegExp]>([
  [403, /https:\/\/www\.thesun\.paper\/a1b2c3d4e5f6\.txt has to answer with INDEXNOW_KEY/],
  [422, /INDEXNOW_KEY and SITE_URL/],
  [404, /INDEXNOW_URL/],
  [301, /INDEXNOW_URL/],
])('after status %i, the request to IndexNow is not repeated, and the error is logged once', async (code, problem) => {
  const { indexNow, calls, log } = stand([status(code, { Location: 'https://elsewhere.stand-in.test/' })]);
  indexNow.announce([article(1)]);
  await indexNow.idle();
  indexNow.announce([article(2)]);
  await indexNow.idle();
  expect(calls).toHaveLength(2);
  expect(log.error).toHaveBeenCalledTimes(1);
  expect(log.error.mock.calls[0]?.[0].problem).toMatch(problem);
  expect(indexNow.stats()).toMatchObject({ announced: 0, failed: 2, pending: 0 });
});

test('after status 400, the request to IndexNow is not repeated', async () => {
  const { indexNow, calls } = stand([status(400)]);
  indexNow.announce([article(1)]);
  await indexNow.idle();
  expect(calls).toHaveLength(1);
  expect(indexNow.stats()).toMatchObject({ failed: 1, problem: 'answered 400' });
});

test('closing IndexNow sends the waiting addresses at once', async () => {
  const { indexNow, calls } = stand([status(200)], { collectMs: 60_000, closeMs: 5000 });
  indexNow.announce([article(1)]);
  expect(await indexNow.close()).toBe(0);
  expect(calls).toHaveLength(1);
});

describe('IndexNow is off and says why', () => {
  test.each<[string, IndexNowSettings | null, RegExp]>([
    ['without a key', null, /INDEXNOW_KEY is not set/],
    ['with a local SITE_URL', { ...settings, siteUrl: 'http://127.0.0.1:4321' }, /SITE_URL/],
  ])('%s', async (_name, given, why) => {
    // No handler is set: a request would fail this test.
    const indexNow = openIndexNow(given, silent, { collectMs: 0 });
    indexNow.announce([article(1), 'http://127.0.0.1:4321/article/1']);
    await indexNow.idle();
    expect(indexNow.stats()).toMatchObject({ off: expect.stringMatching(why), requests: 0, pending: 0 });
  });
});
