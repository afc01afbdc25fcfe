/**
 * What must not be possible with the stored pages: putting parts of a request into other readers' pages, or storing copies
 * without limit. The HTTP server, the press, the keys and the content store are the real ones; the pages print everything that they can
 * see of a request.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, renders, room, startSite, stopSite } from '../world/printing-site.ts';
import { runs } from '../world/runs.ts';

beforeAll(() => startSite());
afterAll(stopSite);

const stored = (): number => room.press.stats().store?.pages ?? 0;

describe('cache poisoning', () => {
  const headers: Record<string, string> = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'http',
    'x-forwarded-port': '666',
    'x-forwarded-for': '6.6.6.6',
    'x-forwarded-prefix': '/evil',
    forwarded: 'host=evil.example;proto=http',
    'x-host': 'evil.example',
    'x-original-url': '/evil',
    'x-rewrite-url': '/evil',
    'x-http-method-override': 'POST',
    'x-forwarded-scheme': 'evil',
    cookie: 'session=evil; preview=evil',
    authorization: 'Bearer evil',
    referer: 'https://evil.example/',
    origin: 'https://evil.example',
    'user-agent': 'evil',
    'accept-language': 'evil',
    accept: 'application/evil',
    range: 'bytes=0-1',
    'cache-control': 'no-cache, evil',
    pragma: 'evil',
    'if-none-match': '"evil"',
    'x-evil': 'evil',
  };

  // A page that is stored already would be served without a look at the header.
  const firstRequests = Object.entries(headers).map(([name, value], at) => [name, value, 6 + at] as const);
  it.each(firstRequests)('the header %s does not change the page that others get', async (name, value, id) => {
    const first = await ask(`/article/story-${id}`, { [name]: value });
    expect(first.headers['server-timing']).toBe('press;desc="rendered"');
    const next = await ask(`/article/story-${id}`);
    expect([next.status, next.headers['server-timing']]).toEqual([200, 'press;desc="hit"']);
    expect(next.text).toContain(`ENDING-${id}<`);
    expect(next.text).not.toMatch(/evil|6\.6\.6\.6|666/);
    expect(JSON.stringify(next.headers)).not.toContain('evil');
  });

  it('the first request’s headers are not in the page that is rendered and stored for all', async () => {
    const first = await ask('/article/story-2', headers);
    expect(first.headers['server-timing']).toBe('press;desc="rendered"');
    expect(first.text).not.toMatch(/evil/);
    expect((await ask('/article/story-2')).text).toBe(first.text);
  });

  it('a parameter that the page does not use is not shown, and creates no copy of the page', async () => {
    const plain = await ask('/article/story-1');
    const before = stored();
    renders.length = 0;
    for (const query of [
      'utm_source=evil',
      'fbclid=1',
      'page=2',
      '_=1',
      'x[]=1',
      'q=%00',
      '%',
      '&&&',
      'a=1?b=2',
      'cookie',
    ]) {
      const answer = await ask(`/article/story-1?${query}`);
      expect(answer.text, query).toBe(plain.text);
      expect(answer.headers.etag, query).toBe(plain.headers.etag);
    }
    expect(stored()).toBe(before);
    expect(renders).toEqual([]);
  });

  it('a cookie that the rendered page sets is not stored or sent', async () => {
    await room.press.refresh(['/'], 'test');
    const answer = await ask('/?cookie');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers.vary).toBe('Accept-Encoding');
  });

  it('a full URL in the request line is served by its path, whatever its host', async () => {
    const plain = await ask('/article/story-1');
    expect((await ask('http://evil.example/article/story-1')).text).toBe(plain.text);
  });

  it('a request with another method gets 405 and does not change the page', async () => {
    const before = await ask('/article/story-3');
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      expect((await ask('/article/story-3', {}, method, 'evil')).status).toBe(405);
    expect((await ask('/article/story-3')).text).toBe(before.text);
    expect((await ask('/article/story-3', {}, 'HEAD')).headers.etag).toBe(before.headers.etag);
  });
});

describe('unusual paths', () => {
  async function expectNotStored(path: string, status: number, location?: string): Promise<void> {
    const before = stored();
    const answer = await ask(path);
    expect(answer.status).toBe(status);
    expect(answer.headers.location).toBe(location);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(stored()).toBe(before);
  }

  it.each([
    ['//article/story-1', 301, '/article/story-1'],
    ['/article//story-1', 301, '/article/story-1'],
    ['/article/story-1/', 301, '/article/story-1'],
    ['/article/./story-1', 301, '/article/story-1'],
    ['/x/../article/story-1', 301, '/article/story-1'],
    ['/x/%2e%2e/article/story-1', 301, '/article/story-1'],
    ['/article/STORY-1', 301, '/article/story-1'],
    ['/Article/Story-1?utm=1', 301, '/article/story-1?utm=1'],
    ['//evil.example/%2e%2e', 301, '/'],
    ['/\\evil.example', 400, undefined],
    ['/article/story-1%00', 400, undefined],
    ['/article/story-1%0d%0aset-cookie:%20a=b', 400, undefined],
    ['/article/%zz', 400, undefined],
    ['/article/%ff', 400, undefined],
    ['/article/%2573tory-1', 404, undefined],
  ])('store no page and are redirected or refused: %s', expectNotStored);

  it.each([
    ['path of 2,000 characters', `/${'a'.repeat(2000)}`],
    ['query of 5,000 characters', `/article/story-1?${'a'.repeat(5000)}`],
  ])('store no page and are refused: a %s', (_, path) => expectNotStored(path, 414));

  it('share one page if they are percent-encoded spellings of one address', async () => {
    const plain = await ask('/article/story-1');
    renders.length = 0;
    expect((await ask('/article/st%6fry-1')).text).toBe(plain.text);
    expect((await ask('/article/story%2D1')).text).toBe(plain.text);
    expect(renders).toEqual([]);
  });

  // The built site gets more of them (tests/fault/press-site.test.ts).
  const unknownAddresses = runs(200, 10_000);
  it(`add no page to the cache for ${unknownAddresses} addresses that do not exist`, async () => {
    const before = room.press.stats();
    for (let n = 0; n < unknownAddresses; n += 50) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, at) => ask(`/article/no-${n + at}-${randomUUID()}`)),
      );
      for (const answer of answers) expect(answer.status).toBe(404);
    }
    const after = room.press.stats();
    expect(after.store?.pages).toBe(before.store?.pages);
    expect(after.memory.pages).toBe(before.memory.pages);
    expect(after.queue).toBe(0);
  });
});
