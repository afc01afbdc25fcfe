/** Headline tests over HTTP: what each group of readers sees, who is counted, and what the plugin receives. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groups, headlineFor } from '../../src/lib/headline-tests/model.ts';
import type { TestReport } from '../../src/lib/headline-tests/service.server.ts';
import { type AccountSite, type Browser, startAccountSite } from '../fixtures/account-site.ts';
import { secret, webhookRequest } from '../fixtures/paper.ts';
import { wirePost } from '../fixtures/wordpress.ts';

const id = '0123456789abcdef';
const headlines = ['Own & only', 'Second <headline>', 'Third'];
let site: AccountSite;

beforeAll(async () => {
  site = await startAccountSite({
    settings: {
      HEADLINE_TESTS: 'consent',
      NEWSROOM_SECRET: secret,
      WORDPRESS_URL: 'http://127.0.0.1:8830',
      WORDPRESS_USER: 'site',
      WORDPRESS_APP_PASSWORD: 'abcd',
    },
    write(wordpress) {
      const others = headlines.slice(1).map((headline) => ({ headline: headline.replace('<', '&lt;'), image: null }));
      const started = new Date().toISOString().replace(/\.\d+/, '');
      const headline_test = { id, state: 'running', started, others };
      const title = { rendered: 'Own &amp; only' };
      wordpress.put('articles', {
        ...wirePost({ id: 4, slug: 'story-4', category: [2], title, headline_test }),
        id: 4,
      });
    },
  });
});
afterAll(() => site?.stop());

const section = '/section/politics';
/** A reader who allows measurement. */
function participant(group: number | null): Browser {
  const browser = site.browser();
  browser.jar.set('privacy-choices', '1.measurement');
  if (group !== null) browser.jar.set('headline-group', String(group));
  return browser;
}
/** The headlines on the tested story's cards on a page. */
const seen = (html: string): string[] =>
  [...html.matchAll(/<a [^>]*href="\/article\/story-4"[^>]*>([\s\S]*?)<\/a>/g)].map((found) => found[1]?.trim() ?? '');
const escaped = ['Own &amp; only', 'Second &lt;headline&gt;', 'Third'];
const count = (browser: Browser) => browser.post('/api/v1/articles/popular/increment/4', undefined);

describe('readers see', () => {
  it('the headline of their group on every list, in one of three versions of each page', async () => {
    const bodies = new Set<string>();
    for (let group = 0; group < groups; group++) {
      const expected = escaped[headlineFor(id, 3, group)];
      const { text } = await participant(group).get(section);
      expect(new Set(seen(text))).toEqual(new Set([expected]));
      expect(text).not.toContain(id);
      bodies.add(text);
      const latest = await participant(group).get('/latest');
      expect(new Set(seen(latest.text))).toEqual(new Set([expected]));
    }
    expect(bodies.size).toBe(3);
  });

  // Read less strictly, most of these values would name a group that sees another headline.
  it.each([
    ['no headline-group cookie', undefined],
    ['a headline-group cookie of 4,000 characters', 'x'.repeat(4000)],
    ...['12', '-1', '01', '7x', '<script>', '%35'].map(
      (value) => [`the headline-group cookie ${value}`, value] as const,
    ),
  ] as const)('the story’s own headline with %s', async (_, value) => {
    const cookie = value === undefined ? null : `headline-group=${value}`;
    const { text, status } = await site.browser().get(section, { headers: { cookie } });
    expect([status, new Set(seen(text))]).toEqual([200, new Set([escaped[0]])]);
    expect(text).not.toContain(id);
  });

  it('the headline of the first group if the cookie was sent twice', async () => {
    expect([5, 0].map((group) => headlineFor(id, 3, group))).toEqual([1, 2]);
    const cookie = 'headline-group=5; headline-group=0';
    const { text } = await site.browser().get(section, { headers: { cookie } });
    expect(new Set(seen(text))).toEqual(new Set([escaped[1]]));
  });

  it('the story’s own headline on its page, in feeds, structured data and search', async () => {
    const browser = participant(
      Array.from({ length: groups }, (_, at) => at).find((at) => headlineFor(id, 3, at) === 1) ?? 0,
    );
    const story = await browser.get('/article/story-4');
    expect(story.text).toMatch(/<h1[^>]*>[^<]*Own &amp; only/);
    expect(story.text).not.toContain('Second &lt;headline');
    for (const path of ['/section/politics/rss.xml', '/rss.xml', '/search?q=only', '/api/v1/articles/popular/list']) {
      const { text } = await browser.get(path);
      expect([path, text.includes('Second')]).toEqual([path, false]);
    }
    const { text } = await browser.get(section);
    const data = [...text.matchAll(/<script type="application\/ld\+json"[^>]*>([\s\S]*?)<\/script>/g)].map(
      (found) => found[1],
    );
    expect(data.join()).not.toContain('Second');
  });

  it('no extra script with another headline, whose page shared caches may not store', async () => {
    const own = await site.browser().get(section);
    const other = await participant(
      Array.from({ length: groups }, (_, at) => at).find((at) => headlineFor(id, 3, at) === 2) ?? 0,
    ).get(section);
    const scripts = (text: string) => [...text.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
    expect(scripts(other.text)).toEqual(scripts(own.text));
    expect(own.headers['cache-control']).toBe('public, max-age=0, must-revalidate');
    expect(other.headers['cache-control']).toBe('private, max-age=0, must-revalidate');
    expect(other.headers['cdn-cache-control']).toBe('no-store');
    expect(own.headers['cdn-cache-control']).toContain('max-age=31536000');
    expect(other.headers.etag).not.toBe(own.headers.etag);
    const again = await participant(null).get(section, { headers: { 'if-none-match': String(own.headers.etag) } });
    expect(again.status).toBe(304);
  });
});

async function report(story = 4, test = id) {
  const { headers, body } = webhookRequest({ event: 'test', type: 'headline-tests', id: story, slug: test });
  const answer = await site.browser().ask('/api/v1/headline-tests/report', { method: 'POST', body, headers });
  return { status: answer.status, report: JSON.parse(answer.text) as TestReport & { ok: boolean } };
}
const total = async (): Promise<number> => {
  const { readings } = (await report()).report;
  return readings.reduce((sum, each) => sum + each, 0);
};

describe('readings', () => {
  it('are counted for the reader’s headline, if the reader allows measurement, and once a day per address', async () => {
    for (const [group, times] of [
      [0, 2],
      [5, 3],
    ] as const)
      for (let at = 0; at < times; at++) expect((await count(participant(group))).status).toBe(200);
    const same = participant(7);
    for (let at = 0; at < 3; at++) await count(same);
    const without = [site.browser(), participant(null), site.browser()];
    without[0]?.jar.set('headline-group', '3');
    without[2]?.jar.set('privacy-choices', '1.advertising').set('headline-group', '3');
    for (const browser of without) await count(browser);
    await site.headlineTests.runRound();
    const expected = [0, 0, 0];
    for (const [group, times] of [
      [0, 2],
      [5, 3],
      [7, 1],
    ] as const)
      expected[headlineFor(id, 3, group)] = (expected[headlineFor(id, 3, group)] ?? 0) + times;
    expect((await report()).report).toMatchObject({ ok: true, state: 'running', readings: expected, winner: null });
  });

  it('are not counted for prefetched pages, for requests from another site, or for other stories', async () => {
    const before = await total();
    const path = '/api/v1/articles/popular/increment/4';
    const ahead = { headers: { 'sec-purpose': 'prefetch' } };
    expect((await participant(2).post(path, undefined, ahead)).status).toBe(409);
    const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
    expect((await participant(2).post(path, undefined, foreign)).status).toBe(403);
    await participant(2).post('/api/v1/articles/popular/increment/1', undefined);
    expect((await participant(2).post('/api/v1/articles/popular/increment/4x', undefined)).status).toBe(400);
    await site.headlineTests.runRound();
    expect(await total()).toBe(before);
  });

  it('give a reader who allows measurement a group, which is deleted when consent is withdrawn', async () => {
    const browser = participant(null);
    await count(browser);
    expect(Number(browser.jar.get('headline-group'))).toBeLessThan(groups);
    await browser.submit('/privacy-choices/save', { choice: 'none', return: '/privacy-choices' });
    expect(browser.jar.has('headline-group')).toBe(false);
    const refusing = site.browser();
    const answer = await count(refusing);
    expect([answer.cookies, refusing.jar.size]).toEqual([[], 0]);
  });

  it('need no script: the consent form also gives the reader a group', async () => {
    const browser = site.browser();
    await browser.submit('/privacy-choices/save', {
      choice: 'chosen',
      purpose: 'measurement',
      return: '/privacy-choices',
    });
    expect(Number(browser.jar.get('headline-group'))).toBeLessThan(groups);
  });
});

describe('the report of a headline test', () => {
  it('is given only to the plugin’s signed requests, for tests that exist', async () => {
    const ask = async (...given: Parameters<typeof webhookRequest>) => {
      const { headers, body } = webhookRequest(...given);
      return (await site.browser().ask('/api/v1/headline-tests/report', { method: 'POST', body, headers })).status;
    };
    const question = { event: 'test', type: 'headline-tests', id: 4, slug: id };
    expect(await ask(question)).toBe(200);
    expect(await ask(question, { secret: 'another plugin’s' })).toBe(401);
    expect(await ask(question, { timestamp: Math.floor(Date.now() / 1000) - 600 })).toBe(412);
    expect(await ask({ ...question, type: 'alerts' })).toBe(422);
    for (const slug of ['', 'x', '../../..', "1' OR 1=1", '0'.repeat(17), null, 7])
      expect(await ask({ ...question, slug })).toBe(422);
    expect(await ask({ ...question, id: 'x' })).toBe(422);
    expect(await ask({}, { body: '{' })).toBe(422);
    expect(await ask({}, { body: JSON.stringify({ ...question, modified: 'x'.repeat(5000) }) })).toBe(413);
    expect(await ask({ ...question, slug: 'f'.repeat(16) })).toBe(404);
    expect(await ask({ ...question, id: 1 })).toBe(404);
    expect((await site.browser().get('/api/v1/headline-tests/report')).status).toBe(405);
  });
});
