/** The content service against recorded faults: whatever WordPress answers, readers keep what they have, and the sync recovers. */
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openContent } from '../../src/content/content.server.ts';
import type { Content } from '../../src/content/service.ts';
import { createClient } from '../../src/content/wire/client.server.ts';
import { fetchList } from '../../src/content/wire/fetch.server.ts';
import { silent } from '../../src/lib/logging.ts';
import { type FakeWordPress, fakeWordPress, wirePost, wireSection } from '../fixtures/wordpress.ts';

const base = 'http://wordpress.test';
const articles = `${base}/wp-json/wp/v2/articles`;
let wordpress: FakeWordPress;
let content: Content;
/** Answers without faults are the default; a test puts a fault before them. */
const server = setupServer(http.all(`${base}/*`, ({ request }) => wordpress.handle(request)));

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterAll(() => server.close());
beforeEach(async () => {
  wordpress = fakeWordPress(base);
  wordpress.put('categories', { id: 3, ...wireSection(3, 'politics', 1) });
  for (let id = 1; id <= 30; id++)
    wordpress.put('articles', { id, ...wirePost({ id, slug: `a-${id}`, category: [{ id: 3 }] }) });
  content = openContent({
    file: ':memory:',
    // The usual number of retries, without the seconds between them.
    wordpress: { url: base, user: 'site', password: 'x', backOffMs: 1 },
    siteUrl: 'https://sun.example',
    frameHosts: [],
    measure: async () => null,
    log: silent,
    pollSeconds: 60,
    threads: false,
  });
});
afterEach(async () => {
  server.resetHandlers();
  await content.stop();
});

const total = (): number => content.reader().articles({}).total;
const rest = (status: number, code: string) => HttpResponse.json({ code, message: code, data: { status } }, { status });

const faults: [name: string, answer: (count: number) => Response | Promise<Response>, problem: RegExp][] = [
  ['status 500', () => rest(500, 'internal_server_error'), /status 500 \(internal_server_error\)/u],
  ['a connection that breaks', () => HttpResponse.error(), /no answer/u],
  [
    'incomplete JSON',
    () => new HttpResponse('[{"id":1,"slug":"a', { headers: { 'Content-Type': 'application/json' } }),
    /not complete JSON/u,
  ],
  [
    'a connection that breaks in the middle of the body',
    () =>
      new HttpResponse(
        new ReadableStream({
          start: (stream) => {
            stream.enqueue(new TextEncoder().encode('[{'));
            stream.error(new Error('reset'));
          },
        }),
        { headers: { 'Content-Type': 'application/json' } },
      ),
    /no answer/u,
  ],
  [
    'HTML instead of JSON',
    () => HttpResponse.html('<html>Briefly unavailable for maintenance</html>'),
    /HTML instead of JSON \(text\/html.*Briefly unavailable/u,
  ],
  ['an object instead of a list', () => HttpResponse.json({ posts: [] }), /expected a list, got \{"posts":\[\]\}/u],
  [
    'a redirect loop',
    () => new HttpResponse(null, { status: 302, headers: { Location: articles } }),
    /redirects more than/u,
  ],
  [
    'a redirect to another site',
    () => new HttpResponse(null, { status: 301, headers: { Location: 'https://evil.example/' } }),
    /redirects to https:\/\/evil\.example/u,
  ],
  [
    'status 429 and a long Retry-After',
    () => new HttpResponse(null, { status: 429, headers: { 'Retry-After': '600' } }),
    /status 429/u,
  ],
  ['a rejected password', () => rest(401, 'incorrect_password'), /check WordPress's user and application password/u],
  ['a plugin that is not active', () => rest(404, 'rest_no_route'), /install and activate/u],
];

describe.each(faults)('when WordPress fails with %s', (_name, answer, problem) => {
  it('sync reports the problem, readers keep the content, and the next sync recovers', async () => {
    expect((await content.syncNow()).ok).toBe(true);
    let count = 0;
    server.use(http.get(articles, () => answer(++count)));
    const report = await content.syncNow();
    expect(report.ok).toBe(false);
    expect(report.problem).toMatch(problem);
    expect(report.problem).toContain(articles);
    expect(content.status()).toMatchObject({ ready: true, problem: report.problem });
    expect(total()).toBe(30);
    server.resetHandlers();
    wordpress.put('articles', { id: 99, ...wirePost({ id: 99, slug: 'after' }) });
    expect(await content.syncNow()).toMatchObject({ ok: true, problem: null });
    expect(content.reader().article('after')?.id).toBe(99);
    expect(content.status().problem).toBeNull();
  });
});

describe('the first sync', () => {
  it.each(faults.slice(0, 6))('publishes nothing after %s, and completes the next time', async (_name, answer) => {
    let count = 0;
    server.use(http.get(articles, () => answer(++count)));
    expect((await content.syncNow()).ok).toBe(false);
    expect(content.reader().edition().ready).toBe(false);
    server.resetHandlers();
    expect((await content.syncNow()).ok).toBe(true);
    expect(content.reader().edition().ready).toBe(true);
    expect(total()).toBe(30);
  });
});

describe('documents with fields of the wrong type', () => {
  it('are set aside, and all others are stored', async () => {
    const wrong: object[] = [
      { title: 7 },
      { date_gmt: 1_764_000_000 },
      { modified_gmt: 'yesterday' },
      { content: 'text' },
      { acf: 'x' },
      { acf: { author: 'Ada' } },
      { category: 'politics' },
      { image: [1, 2] },
      { access: 3 },
      { slug: {} },
      { id: 'x' },
      { restricted: 'perhaps' },
    ];
    wrong.forEach((part, index) => {
      wordpress.put('articles', { ...wirePost({ id: 100 + index, slug: `wrong-${index}` }), ...part, id: 100 + index });
    });
    // The id itself can be wrong only in an answer.
    server.use(
      http.get(articles, async ({ request }) => {
        const answer = await wordpress.handle(request);
        const list = (await answer.json()) as { id: unknown; slug: string }[];
        for (const each of list) if (each.slug === 'wrong-10') each.id = 'x';
        return HttpResponse.json(list, { headers: { 'X-WP-Total': answer.headers.get('x-wp-total') ?? '' } });
      }),
    );
    const report = await content.syncNow();
    expect(report).toMatchObject({ ok: true, problem: null });
    expect(report.rejected).toBeGreaterThanOrEqual(wrong.length - 2);
    for (let id = 1; id <= 30; id++) expect(content.reader().article(`a-${id}`)?.id).toBe(id);
    // A body of bare text is a form that WordPress may send; it is read, not refused.
    expect(content.reader().article('wrong-3')?.bodyHtml).toBe('<p>text</p>');
    expect(content.reader().article('wrong-8')).toBeNull();
  });
});

describe('lists from WordPress', () => {
  const client = createClient({ url: base, backOffMs: 1, answerMs: 20_000 });
  it('are empty past their last page, and when the answer is empty', async () => {
    server.use(http.get(articles, () => rest(400, 'rest_post_invalid_page_number')));
    expect((await fetchList(client, '/wp/v2/articles', { page: 9 })).items).toEqual([]);
    server.use(http.get(articles, () => new HttpResponse('', { headers: { 'Content-Type': 'application/json' } })));
    expect((await fetchList(client, '/wp/v2/articles', {})).items).toEqual([]);
    server.use(http.get(articles, () => HttpResponse.json([])));
    expect((await fetchList(client, '/wp/v2/articles', {})).items).toEqual([]);
  });

  it('are given up when WordPress does not answer in time', async () => {
    server.use(http.get(articles, () => new Promise<never>(() => {})));
    const hasty = createClient({ url: base, backOffMs: 1, answerMs: 100 });
    await expect(fetchList(hasty, '/wp/v2/articles', {}, { tries: 2 })).rejects.toThrow(/no answer within 100 ms/u);
  });

  it('are requested again after the Retry-After of a 429', async () => {
    let count = 0;
    server.use(
      http.get(articles, () =>
        ++count === 1
          ? new HttpResponse(null, { status: 429, headers: { 'Retry-After': '1' } })
          : HttpResponse.json([{}]),
      ),
    );
    const began = performance.now();
    expect((await fetchList(client, '/wp/v2/articles', {})).items).toHaveLength(1);
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
  });
});
