/** Most read stories: counted once per browser, after a reader has really read (spec sections 3, 7 and 8), and listed. */
import type { Page, Request } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { expect, test } from '../world/readers.ts';

interface Listed {
  readonly id: number;
  readonly slug: string;
}

const listed = async (page: Page, query = ''): Promise<readonly Listed[]> =>
  ((await (await page.request.get(`/api/v1/articles/popular/list${query}`)).json()) as { articles: Listed[] }).articles;

const isIncrement = (request: Request): boolean => request.url().includes('/popular/increment/');

/** Records the counting calls that a page makes. */
function increments(page: Page): string[] {
  const made: string[] = [];
  page.on('request', (request) => {
    if (isIncrement(request)) made.push(request.url());
  });
  return made;
}

const tracked = (page: Page) => page.evaluate(() => localStorage.getItem('trackedArticles'));

test('a story is counted once, when it was open for five seconds after a scroll, and rises in the most-read list', async ({
  page,
}) => {
  // The last of fifty stories: only this test reads it. Other tests read other stories at the same time, often more than once.
  const before = await listed(page, '?limit=50');
  const story = before.at(-1) as Listed;
  const storiesAhead = async () => {
    const at = (await listed(page, '?limit=50')).findIndex(({ id }) => id === story.id);
    return at < 0 ? before.length : at;
  };
  const made = increments(page);
  await page.clock.install();
  await page.goto(`/article/${story.slug}`);
  // Opening isn't reading.
  await page.clock.runFor(20_000);
  expect(made).toEqual([]);
  // From here on, time passes only where the test lets it.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000);
  const loaded = page.waitForResponse(/reading\.[^/]*\.js/);
  await page.mouse.wheel(0, 400);
  const script = (await loaded).url();
  // Resolves when the page has run the script, which then counts seconds.
  await page.evaluate((url) => import(url), script);
  await page.clock.runFor(4999);
  expect(made).toEqual([]);
  await page.clock.runFor(1);
  await expect.poll(() => made.length).toBe(1);
  expect(made[0]).toMatch(new RegExp(`/increment/${story.id}\\?categoryId=\\d+$`));
  await expect.poll(() => tracked(page)).toBe(JSON.stringify([story.id]));
  await expect.poll(storiesAhead).toBeLessThan(before.length - 1);

  await page.clock.resume();
  await page.reload();
  await page.mouse.wheel(0, 400);
  await page.evaluate((url) => import(url), script);
  await page.clock.runFor(30_000);
  expect(made).toHaveLength(1);
});

test('a story’s page works when its reading can’t be counted', async ({ page }) => {
  const [story] = (await listed(page)) as [Listed];
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.addInitScript(() => localStorage.setItem('trackedArticles', '{"no":"list"'));
  await page.route('**/popular/increment/**', (route) => route.abort());
  await page.clock.install();
  await page.goto(`/article/${story.slug}`);
  const tried = page.waitForRequest(isIncrement);
  await page.mouse.wheel(0, 400);
  let waiting = true;
  void tried.then(() => {
    waiting = false;
  });
  await expect
    .poll(async () => {
      await page.clock.runFor(1000);
      return waiting;
    })
    .toBe(false);
  expect(faults).toEqual([]);
  // It may be counted another time.
  expect(await tracked(page)).toBe('{"no":"list"');
});

test('the most-read list appears on the front page, on a section page and on stories, in rank order', async ({
  page,
}) => {
  await page.addInitScript(() => localStorage.setItem('seen-welcome-modal', 'true'));
  for (const path of ['/', '/section/politics']) {
    await page.goto(path);
    const list = page.locator('.most-read');
    await expect(list.getByRole('listitem')).toHaveCount(5);
    expect(await violationsOn(page, '.most-read'), path).toEqual([]);
  }
  // Other tests' readings change the list, so the page is compared with the response that it got.
  const answered = page.waitForResponse((response) => response.url().endsWith('/fragments/popular'));
  const first = page.locator('.most-read').getByRole('link').first();
  await first.focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/article\//);
  const beside = page.locator('.most-read');
  await beside.scrollIntoViewIfNeeded();
  await expect(beside.getByRole('listitem')).toHaveCount(5);
  const shown = await beside.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  const fragment = await (await answered).text();
  // A ranking is complete, even if its stories are elsewhere on the page, too.
  expect(shown).toEqual([...fragment.matchAll(/href="(\/article\/[^"]+)"/g)].map(([, href]) => href).slice(0, 5));
  expect(await violationsOn(page, '.most-read')).toEqual([]);
});

test('the most-read API limits its lists, validates requests, and answers a flood with 429', async ({
  page,
  request,
  baseURL,
}) => {
  const [first] = (await listed(page)) as [Listed];
  expect(await listed(page)).toHaveLength(10);
  expect(await listed(page, '?limit=4')).toHaveLength(4);
  expect((await listed(page, '?limit=9000')).length).toBeLessThanOrEqual(50);
  expect(await listed(page, '?limit=many')).toHaveLength(10);
  const section = await listed(page, '?section=politics&limit=3');
  expect(section).toHaveLength(3);
  expect((await request.get('/api/v1/articles/popular/list?section=none')).status()).toBe(404);
  const increment = async (id: string, origin = baseURL ?? '') =>
    (await request.post(`/api/v1/articles/popular/increment/${id}`, { headers: { origin } })).status();
  expect(await increment('999999999')).toBe(404);
  expect(await increment('1e3')).toBe(400);
  expect(await increment(`${first.id}?categoryId=%3Cscript%3E`)).toBe(400);
  expect(await increment(String(first.id), 'https://elsewhere.example')).toBe(403);
  expect((await request.get(`/api/v1/articles/popular/increment/${first.id}`)).status()).toBe(405);
  // A flood counts as one reader, and is refused in the end.
  const answers = await Promise.all(Array.from({ length: 300 }, () => increment(String(first.id))));
  expect(answers.filter((status) => status === 200).length).toBeGreaterThan(0);
  expect(answers.filter((status) => status === 429).length).toBeGreaterThan(50);
});
