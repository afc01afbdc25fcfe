/**
 * Saved stories and the reading history over HTTP, on the built site: the shapes of wire.ts, the forms without a script, and that no
 * reader sees or changes another reader's by guessing a number. src/lib/saved/saved.test.ts tests the service itself on both engines.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { historyAnswer, readingAnswer, savedAnswer, savedState } from '../../src/lib/saved/model.ts';
import { type AccountSite, type Browser, startAccountSite } from '../fixtures/account-site.ts';

let site: AccountSite;
let count = 0;
beforeAll(async () => {
  site = await startAccountSite();
});
afterAll(() => site.stop());

async function reader(): Promise<{ browser: Browser; email: string }> {
  const browser = site.browser();
  const email = `saved-${++count}@example.com`;
  await browser.signIn(site, email);
  return { browser, email };
}
const saved = (id: number | string) => `/api/v1/me/saved/${id}`;
const history = '/api/v1/me/history';
const put = (browser: Browser, id: number | string, json?: unknown) => browser.ask(saved(id), { method: 'PUT', json });
const idsOf = async (browser: Browser, path: string) =>
  savedAnswer.parse((await browser.get(path)).json()).articles.map(({ id }) => id);

describe('saved stories', () => {
  it('can be saved, listed page by page, and removed, and are not cached', async () => {
    const { browser } = await reader();
    for (const id of [1, 2, 3, 2]) {
      const answer = await put(browser, id);
      expect([answer.status, savedState.parse(answer.json()), answer.headers['cache-control']]).toEqual([
        200,
        { saved: true },
        'no-store',
      ]);
    }
    const first = savedAnswer.parse((await browser.get('/api/v1/me/saved?limit=2')).json());
    expect([first.articles.length, first.total, first.next]).toEqual([2, 3, 2]);
    const rest = savedAnswer.parse((await browser.get('/api/v1/me/saved?limit=2&offset=2')).json());
    expect([rest.articles.length, rest.next]).toEqual([1, null]);
    expect([...first.articles, ...rest.articles].map(({ id }) => id).toSorted()).toEqual([1, 2, 3]);
    expect(savedState.parse((await browser.ask(saved(2), { method: 'DELETE' })).json())).toEqual({ saved: false });
    expect(savedState.parse((await browser.get(saved(2))).json())).toEqual({ saved: false });
  });

  it('cannot be seen or changed by another reader', async () => {
    const { browser: ada } = await reader();
    const { browser: bob, email } = await reader();
    await put(ada, 1);
    await ada.post(history, { articleId: 2 });
    expect(savedState.parse((await bob.get(saved(1))).json())).toEqual({ saved: false });
    expect(await idsOf(bob, '/api/v1/me/saved')).toEqual([]);
    expect(await idsOf(bob, history)).toEqual([]);
    await bob.ask(saved(1), { method: 'DELETE' });
    await bob.ask(`${history}/2`, { method: 'DELETE' });
    await bob.ask(history, { method: 'DELETE' });
    await bob.submit('/account/saved', { article: '1', do: 'remove' });
    await bob.submit('/account/history', { do: 'off' });
    expect(await idsOf(ada, '/api/v1/me/saved')).toEqual([1]);
    expect(historyAnswer.parse((await ada.get(history)).json())).toMatchObject({ on: true, total: 1 });
    const page = await ada.get('/dashboard/saved');
    expect(page.headers['cache-control']).toBe('private, no-store');
    expect(page.text.includes(email)).toBe(false);
  });

  it('are refused to signed-out readers (401) and other sites (403), and for unknown articles (404)', async () => {
    const { browser } = await reader();
    const stranger = site.browser();
    for (const [method, path] of [
      ['GET', '/api/v1/me/saved'],
      ['GET', saved(1)],
      ['PUT', saved(1)],
      ['DELETE', saved(1)],
      ['GET', history],
      ['POST', history],
      ['PUT', history],
      ['DELETE', history],
      ['DELETE', `${history}/1`],
    ] as const) {
      const json =
        path === history && method === 'POST' ? { articleId: 1 } : method === 'PUT' ? { on: true } : undefined;
      expect((await stranger.ask(path, { method, json })).status, `${method} ${path}`).toBe(401);
      if (method === 'GET') continue;
      const headers = { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' };
      expect((await browser.ask(path, { method, json, headers })).status, `${method} ${path}`).toBe(403);
    }
    for (const id of [4711, 0, -1, '1e3', 'x', '9'.repeat(30), "1'--"])
      expect((await put(browser, id)).status, String(id)).toBe(404);
    for (const articleId of [4711, 0, -1, 1.5, '1', null, [1], 1e300])
      expect((await browser.post(history, { articleId })).status, String(articleId)).toBeGreaterThanOrEqual(400);
    expect(await idsOf(browser, '/api/v1/me/saved')).toEqual([]);
    expect((await browser.ask(saved(1), { method: 'PATCH' })).status).toBe(405);
  });

  it('are saved after sign-in if a signed-out reader asked for it, by API or by form', async () => {
    for (const wish of ['call', 'form'] as const) {
      const browser = site.browser();
      const answer =
        wish === 'call' ? await put(browser, 1) : await browser.submit('/account/saved', { article: '1', do: 'save' });
      expect(answer.status).toBe(wish === 'call' ? 401 : 303);
      if (wish === 'form') expect(answer.headers.location).toBe('/socialLogin?return=%2Faccount%2Fsaved');
      expect(answer.cookies.join()).toMatch(
        /save_later=[^;]+; Path=\/; Max-Age=3600; Expires=[^;]+ GMT; SameSite=Lax; HttpOnly; Secure/,
      );
      await browser.signIn(site, `wish-${wish}@example.com`);
      const back = await browser.get('/account/saved');
      expect([back.status, back.headers.location]).toEqual([303, '/dashboard/saved?state=saved&article=1']);
      expect(await idsOf(browser, '/api/v1/me/saved')).toEqual([1]);
      // Saved only once: a story that is removed afterward stays removed.
      await browser.ask(saved(1), { method: 'DELETE' });
      expect((await browser.get('/account/saved')).headers.location).toBe('/dashboard/saved');
      expect(await idsOf(browser, '/api/v1/me/saved')).toEqual([]);
    }
  });

  it('are not saved because of a forged save-later cookie', async () => {
    const { browser } = await reader();
    browser.jar.set('__Host-save_later', '1');
    expect((await browser.get('/account/saved')).headers.location).toBe('/dashboard/saved');
    expect(savedState.parse((await browser.get(saved(1))).json())).toEqual({ saved: false });
  });
});

describe('corrections of stories in the reading history', () => {
  const path = `${history}/corrections`;
  it('are listed and marked as seen only for signed-in readers, and are not cached', async () => {
    const { browser } = await reader();
    await browser.post(history, { articleId: 1 });
    const answer = await browser.get(path);
    expect([answer.json(), answer.headers['cache-control']]).toEqual([{ stories: [], until: null }, 'no-store']);
    const until = '2026-11-20T12:00:00.000Z';
    expect((await browser.post(path, { until })).json()).toEqual({ until });
    // A time in the future would hide later corrections from the reader.
    const ahead = (await browser.post(path, { until: '9999-01-01T00:00:00Z' })).json() as { until: string };
    expect(Date.parse(ahead.until)).toBeLessThanOrEqual(Date.now());
    for (const wrong of ['yesterday', '', 7, null, ['2026-11-20T12:00:00Z'], '2026-02-30T00:00:00Z'])
      expect((await browser.post(path, { until: wrong })).status, String(wrong)).toBeGreaterThanOrEqual(400);
    const stranger = site.browser();
    expect([(await stranger.get(path)).status, (await stranger.post(path, { until })).status]).toEqual([401, 401]);
    const headers = { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' };
    expect((await browser.ask(path, { method: 'POST', json: { until }, headers })).status).toBe(403);
    expect((await browser.ask(path, { method: 'DELETE' })).status).toBe(405);
  });
});

describe('the reading history', () => {
  it('is recorded, cleared, and turned off and on, by API and by form', async () => {
    const { browser } = await reader();
    const read = async (articleId: number) =>
      readingAnswer.parse((await browser.post(history, { articleId })).json()).noted;
    expect(await read(1)).toBe(true);
    expect(await read(2)).toBe(true);
    await browser.submit('/account/history', { do: 'remove', article: '2' });
    expect(await idsOf(browser, history)).toEqual([1]);
    await browser.submit('/account/history', { do: 'clear' });
    expect(await idsOf(browser, history)).toEqual([]);
    await read(1);
    const off = await browser.submit('/account/history', { do: 'off' });
    expect(off.headers.location).toBe('/dashboard/saved?state=history-off#history');
    expect(await read(2)).toBe(false);
    expect(historyAnswer.parse((await browser.get(history)).json())).toMatchObject({ on: false, total: 0 });
    expect((await browser.ask(history, { method: 'PUT', json: { on: true } })).json()).toEqual({ on: true });
    expect(await read(2)).toBe(true);
  });

  it('is in the export of the reader’s data, as saved stories are, and both are deleted with the account', async () => {
    const { browser, email } = await reader();
    const { db } = site.database;
    const { id } = await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
    const stored = async () => {
      const [saved, read] = await Promise.all(
        (['saved_articles', 'reading_history'] as const).map((table) =>
          db.selectFrom(table).select('article_id').where('user_id', '=', id).execute(),
        ),
      );
      return [saved, read].map((rows) => rows?.map(({ article_id }) => Number(article_id)));
    };
    await put(browser, 3);
    await browser.post(history, { articleId: 1 });
    const copy = (await browser.get('/api/v1/me/export')).json();
    expect(copy).toMatchObject({
      saved_articles: [{ article: 3 }],
      reading_history: [{ article: 1 }],
      reading_history_kept: true,
    });
    expect(await stored()).toEqual([[3], [1]]);
    expect((await browser.post('/blaize/forget-me', {})).status).toBe(200);
    expect(await stored()).toEqual([[], []]);
    expect((await browser.get('/api/v1/me/saved')).status).toBe(401);
  });
});

it('a subscriber sees how many gift links are left; other readers get 403', async () => {
  const { browser, email } = await reader();
  expect((await site.browser().get('/api/v1/gifts')).status).toBe(401);
  expect((await browser.get('/api/v1/gifts')).status).toBe(403);
  site.paid.set(email, [{ product: 'sun-reader', until: Date.now() + 86_400_000, trialing: false }]);
  expect((await browser.get('/api/v1/gifts')).json()).toEqual({ most: 10, left: 10 });
  expect((await browser.post('/api/v1/gifts', { articleId: 3 })).json()).toMatchObject({ most: 10, left: 9 });
});

it('a gift link shows social networks the story’s headline, but is not indexed', async () => {
  const { browser, email } = await reader();
  site.paid.set(email, [{ product: 'sun-reader', until: Date.now() + 86_400_000, trialing: false }]);
  const { url } = (await browser.post('/api/v1/gifts', { articleId: 3 })).json<{ url: string }>();
  const path = new URL(url).pathname;
  const robots = (await site.browser().get('/robots.txt')).text;
  expect(robots.match(/(?<=^Disallow: )\S+$/gm)?.filter((closed) => path.startsWith(closed))).toEqual([]);
  const page = (await site.browser().get(path)).text;
  const tag = (name: string) => new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)"`).exec(page)?.[1];
  expect([tag('og:title'), tag('og:url'), tag('robots')]).toEqual(['Headline 3', url, 'noindex, nofollow']);
});

it('the service worker may connect only to this site, and is always revalidated', async () => {
  const { status, headers } = await site.browser().get('/sw.js');
  expect([status, headers['cache-control'], headers['content-security-policy']]).toEqual([
    200,
    'no-cache',
    "default-src 'none'; connect-src 'self'; frame-ancestors 'none'",
  ]);
  const page = await site.browser().get('/offline');
  expect([page.status, page.headers['set-cookie']]).toEqual([200, undefined]);
  expect(page.headers['cache-control']).not.toMatch(/no-store|private/);
});
