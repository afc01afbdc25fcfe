/**
 * Paid recordings: readers who may not listen find their addresses nowhere, the site's own addresses work for readers who may, and
 * private feeds work with nothing but their token, as long as their owner subscribes.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { XMLParser } from 'fast-xml-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountSite, type Answer, type Browser, siteUrl, startAccountSite } from '../fixtures/account-site.ts';
import { type Json, wirePost } from '../fixtures/wordpress.ts';

const bytes = Buffer.from('RIFF-a-recording-of-forty-three-bytes-in-all');
let host: Server;
let origin = '';
let site: AccountSite;
/** The requests to the host of the files, and its answer, if it differs from the file. */
const asked: { range: string | undefined; cookie: string | undefined; url: string }[] = [];
/** Responses that the host has begun and not ended. */
let held: ServerResponse[] | null = null;
/** Whether the host ends its connections in the middle of a file. */
let breaking = false;
let odd: ((url: string) => { status: number; headers?: Record<string, string>; body?: string } | null) | null = null;

const audio = (name: string): Json => ({
  url: `${origin}/${name}.mp3`,
  type: 'audio/mpeg',
  bytes: bytes.byteLength,
  seconds: 60,
});
const episode = (id: number, access: string): Json & { id: number } => ({
  ...wirePost({
    id,
    slug: `spoken-${id}`,
    access,
    category: [2],
    content: {
      rendered: `<p>The opening.</p>${'<p>Words of the story.</p>'.repeat(9)}<figure class="wp-block-audio"><audio controls src="${origin}/in-text-${id}.mp3"></audio></figure>`,
      protected: false,
    },
    sound: {
      audio: audio(`secret-${id}`),
      title: `Episode ${id}`,
      chapters: [{ start: 0, title: `Chapter-canary-${id}` }],
      transcript: `Transcript-canary-${id}`,
      series: 900,
    },
  }),
  id,
});

beforeAll(async () => {
  host = createServer((request, response) => {
    const { range, cookie } = request.headers;
    const url = request.url ?? '';
    asked.push({ range, cookie, url });
    if (held) {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).write('x');
      held.push(response);
      return;
    }
    if (breaking) {
      response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': 1_000_000 });
      response.write('short', () => response.destroy());
      return;
    }
    const answer = odd?.(url);
    if (answer) return void response.writeHead(answer.status, answer.headers).end(answer.body);
    if (range?.includes(',')) {
      response.writeHead(206, { 'content-type': 'multipart/byteranges; boundary=part' }).end('--part--');
      return;
    }
    const [, first = '', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
    const end = last === '' ? bytes.byteLength - 1 : Number(last);
    const part = range ? bytes.subarray(Number(first), end + 1) : bytes;
    response.writeHead(range ? 206 : 200, {
      'content-type': 'audio/mpeg',
      'content-length': part.byteLength,
      'accept-ranges': 'bytes',
      'set-cookie': 'wordpress=1',
      ...(range && { 'content-range': `bytes ${first}-${end}/${bytes.byteLength}` }),
    });
    response.end(request.method === 'HEAD' ? undefined : part);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  site = await startAccountSite({
    mediaHosts: [new URL(origin).host],
    write(wordpress) {
      wordpress.put('podcasts', {
        ...wirePost({
          id: 900,
          slug: 'how-it-works',
          title: { rendered: 'How It Works' },
          series: { access: 'everyone', category: ['News'] },
        }),
        id: 900,
      });
      wordpress.put('podcasts', {
        ...wirePost({
          id: 901,
          slug: 'another',
          title: { rendered: 'Another' },
          series: { access: 'everyone', category: ['News'] },
        }),
        id: 901,
      });
      for (const [id, access] of [
        [201, 'free'],
        [202, 'registered'],
        [203, 'subscriber'],
      ] as const)
        wordpress.put('articles', episode(id, access));
    },
  });
});
afterAll(async () => {
  await site?.stop();
  host?.close();
});

async function reader(email: string, pays: boolean, address?: string): Promise<Browser> {
  const browser = site.browser(address);
  if (pays) site.paid.set(email, [{ product: 'sun-reader', until: Date.now() + 3_600_000, trialing: false }]);
  await browser.signIn(site, email);
  return browser;
}
const canaries = /secret-20[23]|in-text-20[23]|canary-20[23]/;
const parse = ({ text }: Answer) =>
  new XMLParser({ ignoreAttributes: false, parseTagValue: false, isArray: (name) => name === 'item' }).parse(text).rss
    .channel;

describe('paid recordings, without access', () => {
  it('are on no page, feed or file, nor are their chapters or transcripts', async () => {
    const anyone = site.browser();
    const paths = [
      ...[201, 202, 203].flatMap((id) => {
        const path = `/article/spoken-${id}`;
        return [path, `${path}/chapters.json`, `${path}/transcript.txt`, `${path}/comments`];
      }),
      '/podcasts',
      '/podcast/how-it-works',
      '/podcast/how-it-works/rss.xml',
      '/rss.xml',
      '/feed.json',
      '/latest',
      '/sitemaps/pages.xml',
      '/sitemaps/articles-1.xml',
      '/search?q=Transcript',
      '/api/v1/articles/search?q=canary',
    ];
    for (const path of paths) expect((await anyone.get(path)).text, path).not.toMatch(canaries);
    // The free recording is found, otherwise the search would prove nothing.
    expect((await anyone.get('/article/spoken-201')).text).toMatch(
      /secret-201[\s\S]*Chapter-canary-201|Chapter-canary-201[\s\S]*secret-201/,
    );
    expect((await anyone.get('/article/spoken-201/chapters.json')).text).toContain('Chapter-canary-201');
    expect((await anyone.get('/article/spoken-203')).text).toContain('Subscribers can listen');
  });

  it('answer 403 at the site’s own addresses to a reader who may not read the story', async () => {
    asked.length = 0;
    const [anyone, registered] = [site.browser(), await reader('free@example.com', false)];
    const files = (id: number) =>
      ['0', '0.mp3', '1', 'chapters.json', 'transcript.txt'].map((name) => `/sound/${id}/${name}`);
    for (const path of [...files(202), ...files(203)]) expect((await anyone.get(path)).status, path).toBe(403);
    for (const path of files(203)) expect((await registered.get(path)).status, path).toBe(403);
    for (const path of ['/sound/203/0?key=x', '/sound/203/0?feed=x&until=9999999999&key=x', '/sound/203/0?key='])
      expect((await anyone.get(path)).status, path).toBe(403);
    for (const cookie of ['access=v1.k1.99999999999.subscriber.x', 'access=subscriber', 'gift=v1.k1.99999999999.x'])
      expect((await anyone.get('/sound/203/0', { headers: { cookie } })).status, cookie).toBe(403);
    expect(asked).toEqual([]);
  });

  it.each([
    '/sound',
    '/sound/',
    '/sound/0/0',
    '/sound/203',
    '/sound/203/9',
    '/sound/203/../203/0x',
    '/sound/999/0',
    '/sound/203/0/0',
    '/sound/203/secrets.txt',
    '/sound/1e9/0',
  ])('answer 404 at %s', async (path) => expect((await site.browser().get(path)).status).toBe(404));
});

describe('paid recordings, with access', () => {
  it('play from the site, whole or in part, with a private cache header', async () => {
    const subscriber = await reader('pays@example.com', true);
    const page = (await subscriber.get('/article/spoken-203')).text;
    expect(page).toMatch(/<audio [^>]*src="\/sound\/203\/0\.mp3"/);
    expect(page).toContain('src="/sound/203/1"');
    // Not even to subscribers: a shared address would work for everyone.
    expect(page).not.toMatch(/secret-203|in-text-203\.mp3/);
    const whole = await subscriber.get('/sound/203/0.mp3');
    expect([whole.status, whole.text, whole.headers['content-type'], whole.headers['cache-control']]).toEqual([
      200,
      bytes.toString(),
      'audio/mpeg',
      'private, max-age=3600',
    ]);
    expect([whole.headers['x-content-type-options'], whole.headers['set-cookie'] ?? []]).not.toContain('wordpress=1');
    const part = await subscriber.get('/sound/203/1', { headers: { range: 'bytes=5-8' } });
    expect([part.status, part.text, part.headers['content-range']]).toEqual([
      206,
      bytes.toString('utf8', 5, 9),
      `bytes 5-8/${bytes.byteLength}`,
    ]);
    // Several ranges would come in a multipart type, which isn't audio: a server may send the whole file instead (RFC 9110,
    // 14.2).
    const parts = await subscriber.get('/sound/203/1', { headers: { range: 'bytes=0-1, 5-8' } });
    expect([parts.status, parts.text]).toEqual([200, bytes.toString()]);
    expect((await subscriber.ask('/sound/203/0', { method: 'HEAD' })).headers['content-length']).toBe(
      String(bytes.byteLength),
    );
    expect((await subscriber.get('/sound/203/transcript.txt')).text).toContain('Transcript-canary-203');
    // The reader's cookies aren't passed on.
    expect(asked.every(({ cookie }) => cookie === undefined)).toBe(true);
  });

  it('open for a free account if the story needs one, and answer 403 for subscriber stories', async () => {
    const registered = await reader('free-too@example.com', false);
    expect([(await registered.get('/sound/202/0')).status, (await registered.get('/sound/203/0')).status]).toEqual([
      200, 403,
    ]);
  });

  it.each([
    ['a web page instead of a file', { status: 200, headers: { 'content-type': 'text/html' }, body: '<script>' }, 502],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/', 'content-type': 'audio/mpeg' } }, 502],
    ['status 500', { status: 500, headers: { 'content-type': 'audio/mpeg' } }, 502],
    ['status 404', { status: 404 }, 404],
  ] as const)('are not sent if WordPress answers with %s', async (what, answer, status) => {
    const subscriber = await reader(`${what.replaceAll(' ', '-')}@example.com`, true);
    odd = () => answer;
    try {
      const seen = await subscriber.get('/sound/203/0');
      expect([seen.status, seen.text.includes('<script>'), seen.headers.location]).toEqual([status, false, undefined]);
    } finally {
      odd = null;
    }
  });

  it('end when WordPress’s connection breaks, after which the reader may open as many as before', async () => {
    const subscriber = await reader('cut@example.com', true, '203.0.113.92');
    breaking = true;
    const all = await Promise.allSettled(Array.from({ length: 40 }, () => subscriber.get('/sound/203/0')));
    breaking = false;
    const ends = all.map((each) => (each.status === 'rejected' ? each.reason.code : each.value.status));
    expect(ends).toEqual(all.map(() => 'ECONNRESET'));
    // As many that still counted as open would be the most for one address.
    const next = await subscriber.get('/sound/203/0');
    expect([next.status, next.text]).toEqual([200, bytes.toString()]);
  });
});

it('one address may have 40 recordings open at once, and the next gets 429 while others can listen', async () => {
  const greedy = await reader('greedy@example.com', true, '203.0.113.90');
  const other = await reader('other@example.com', true, '203.0.113.91');
  held = [];
  const open = Array.from({ length: 40 }, () => greedy.get('/sound/203/0'));
  await expect.poll(() => held?.length).toBe(40);
  const refused = await greedy.get('/sound/203/0');
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
  open.push(other.get('/sound/203/0'));
  await expect.poll(() => held?.length).toBe(41);
  for (const response of held) response.end('y');
  held = null;
  expect((await Promise.all(open)).map(({ text }) => text)).toEqual(open.map(() => 'xy'));
  expect((await greedy.get('/sound/203/0')).status).toBe(200);
});

describe('a private podcast feed', () => {
  const page = '/account/podcast?series=how-it-works';
  const addressIn = ({ text }: Answer) =>
    /value="(https:\/\/paper\.example\/podcast\/[^"]+)"/.exec(text)?.[1]?.slice(siteUrl.length) ?? '';
  const form = async (browser: Browser) => {
    const after = /name="after" value="(\d+)"/.exec((await browser.get(page)).text)?.[1] ?? '0';
    return { action: 'create', after };
  };
  const make = async (browser: Browser) => addressIn(await browser.submit(page, await form(browser)));

  it('is created by a subscriber, shown once, and has every episode', async () => {
    const subscriber = await reader('feed@example.com', true);
    const sent = await form(subscriber);
    const made = await subscriber.submit(page, sent);
    const path = addressIn(made);
    expect(path).toMatch(/^\/podcast\/how-it-works\/private\/[\w-]{43}\.xml$/);
    expect(made.headers['cache-control']).toMatch(/no-store/);
    expect((await subscriber.get(page)).text).not.toContain(path);
    // A form that is submitted again, as a reload does, doesn't change the address.
    expect(addressIn(await subscriber.submit(page, sent))).toBe('');
    // An app has no cookies.
    const app = site.browser();
    const feed = await app.get(path);
    expect(feed.headers['content-type']).toMatch(/^application\/rss\+xml/);
    expect([feed.headers['cache-control'], feed.headers['referrer-policy'], feed.headers.etag]).toEqual([
      'private, no-store',
      'no-referrer',
      undefined,
    ]);
    expect(feed.text).not.toMatch(/secret-|canary/);
    const channel = parse(feed);
    expect(channel['itunes:block']).toBe('Yes');
    expect(channel.item.map(({ title }: { title: string }) => title).sort()).toEqual([
      'Episode 201',
      'Episode 202',
      'Episode 203',
    ]);
    for (const item of channel.item) {
      const file = await app.get(item.enclosure['@_url'].slice(siteUrl.length));
      expect([file.status, file.text]).toEqual([200, bytes.toString()]);
      const chapters = await app.get(item['podcast:chapters']['@_url'].slice(siteUrl.length));
      expect([chapters.status, chapters.json<{ version: string }>().version]).toEqual([200, '1.2.0']);
    }
    // The address of one episode doesn't open another.
    const [first, second] = channel.item.map(
      (item: { enclosure: { '@_url': string } }) => new URL(item.enclosure['@_url']),
    );
    expect((await app.get(first.pathname + second.search)).status).toBe(403);
  });

  it('cannot be guessed, used for another series, or created by a reader without a subscription', async () => {
    const subscriber = await reader('feed-2@example.com', true);
    const path = await make(subscriber);
    const app = site.browser();
    expect((await app.get(path.replace('how-it-works', 'another'))).status).toBe(404);
    for (const wrong of ['A'.repeat(43), 'x', `${'A'.repeat(42)}%00`, '..%2f..%2f'])
      expect((await app.get(`/podcast/how-it-works/private/${wrong}.xml`)).status, wrong).toBeGreaterThanOrEqual(400);
    const free = await reader('feed-free@example.com', false);
    const refused = await free.submit(page, { action: 'create' });
    expect([addressIn(refused), refused.text.includes('Subscribers get a private feed')]).toEqual(['', true]);
    expect((await site.browser().submit(page, { action: 'create' })).status).toBe(303);
    const foreign = await subscriber.submit(page, await form(subscriber), {
      headers: { origin: 'https://evil.example' },
    });
    expect(addressIn(foreign)).toBe('');
  });

  it('stops working, with its file addresses, when the subscriber replaces or ends it', async () => {
    const subscriber = await reader('feed-3@example.com', true);
    const app = site.browser();
    const first = await make(subscriber);
    const file = parse(await app.get(first)).item[0].enclosure['@_url'].slice(siteUrl.length);
    expect((await app.get(file)).status).toBe(200);
    const second = await make(subscriber);
    expect([(await app.get(first)).status, (await app.get(file)).status, (await app.get(second)).status]).toEqual([
      404, 403, 200,
    ]);
    await subscriber.submit(page, { action: 'revoke' });
    expect((await app.get(second)).status).toBe(404);
  });

  it('has a note and no episodes after the subscription ends, and its files answer 403', async () => {
    const email = 'feed-4@example.com';
    const subscriber = await reader(email, true);
    const app = site.browser();
    const path = await make(subscriber);
    const file = parse(await app.get(path)).item[0].enclosure['@_url'].slice(siteUrl.length);
    site.paid.set(email, []);
    const channel = parse(await app.get(path));
    expect([channel.item, channel.description.includes('Your subscription has ended')]).toEqual([undefined, true]);
    expect((await app.get(file)).status).toBe(403);
  });

  it('is deleted with the reader’s account', async () => {
    const subscriber = await reader('feed-5@example.com', true);
    const path = await make(subscriber);
    const { userId } = await site.database.db
      .selectFrom('users')
      .select('id as userId')
      .where('email', '=', 'feed-5@example.com')
      .executeTakeFirstOrThrow();
    expect(await site.privateFeeds.personalData.export({ userId, email: '', emailVerified: true })).toMatchObject({
      podcast_feeds: [{ series: 900 }],
    });
    await site.database.db.deleteFrom('users').where('id', '=', userId).execute();
    expect((await site.browser().get(path)).status).toBe(404);
  });

  it('answers 429 after too many guesses from one address or too many requests for one feed', async () => {
    const subscriber = await reader('feed-6@example.com', true);
    const path = await make(subscriber);
    const guesser = site.browser('203.0.113.77');
    const statuses: number[] = [];
    for (let count = 0; count < 61; count++)
      statuses.push((await guesser.get(`/podcast/how-it-works/private/${'B'.repeat(43)}.xml`)).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([404, 429]);
    const app = site.browser('203.0.113.78');
    let last = 0;
    for (let count = 0; count < 121 && last !== 429; count++) last = (await app.get(path)).status;
    expect(last).toBe(429);
  });

  it('opens a shared file address for 300 clients, and answers 429 to further ones', async () => {
    const [shared, own] = [await reader('feed-7@example.com', true), await reader('feed-8@example.com', true)];
    const fileOf = async (browser: Browser) =>
      parse(await site.browser().get(await make(browser))).item[0].enclosure['@_url'].slice(siteUrl.length);
    const file = await fileOf(shared);
    const statuses: number[] = [];
    for (let count = 0; count <= 300; count++)
      statuses.push((await site.browser(`198.18.${count >> 8}.${count & 255}`).get(file)).status);
    expect(new Set(statuses.slice(0, 300))).toEqual(new Set([200]));
    const refused = await site.browser('198.18.9.9').get(file);
    expect([statuses.at(-1), refused.status, Number(refused.headers['retry-after']) > 60]).toEqual([429, 429, true]);
    expect((await site.browser('198.18.9.9').get(await fileOf(own))).status).toBe(200);
    // On the site the feed's owner can still listen.
    expect((await shared.get('/sound/203/0')).status).toBe(200);
  });
});
