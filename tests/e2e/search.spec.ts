/** Search: the sheet over the page, the search page, and their address (spec section 2, "Search overlay"). */
import type { Page, Route } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { intercept } from '../world/intercept.ts';
import { isOfTest } from '../world/newsroom.ts';
import { expect, test } from '../world/readers.ts';

const article = '/article/crack-closes-mississippi-bridge';
const api = '**/api/v1/articles/search?*';

const sheet = (page: Page) => page.getByRole('dialog', { name: 'Search The Sun' });
const field = (page: Page) => sheet(page).getByRole('searchbox');
const says = (page: Page) => sheet(page).getByRole('status');
const results = (page: Page) => sheet(page).locator('[data-result]');

async function openSheet(page: Page): Promise<void> {
  await page.locator('.search-link').click();
  await expect(field(page)).toBeFocused();
}

test('the search sheet opens from the icon, searches while typing, works by keyboard, and returns the focus', async ({
  page,
}) => {
  const scripts: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'script') scripts.push(request.url());
  });
  await page.goto(article);
  const sheetScripts = () => scripts.filter((url) => /SearchOverlay\.island/.test(url)).length;
  expect(sheetScripts()).toBe(0);
  await openSheet(page);
  await expect.poll(sheetScripts).toBe(1);
  await page.keyboard.type('bridg');
  await expect(sheet(page).getByRole('heading', { name: 'Top articles on “bridg”' })).toBeVisible();
  await expect(says(page)).toHaveText(/^\d+ stor(y|ies)/);
  await expect(sheet(page).locator('mark').first()).toBeVisible();
  expect(await violationsOn(page, 'dialog')).toEqual([]);

  await page.keyboard.press('ArrowDown');
  await expect(results(page).first()).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(results(page).nth(1)).toBeFocused();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowUp');
  await expect(field(page)).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(sheet(page)).toHaveCount(0);
  await expect(page.locator('.search-link')).toBeFocused();

  // The query is cleared when the sheet closes, and on the way to another page.
  await page.keyboard.press('Enter');
  await expect(field(page)).toHaveValue('');
  await field(page).fill('bridge');
  // The suggestions before a search are links, too.
  await expect(sheet(page).getByRole('heading', { name: 'Top articles on “bridge”' })).toBeVisible();
  const target = await results(page).first().getAttribute('href');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`${target}$`));
  await page.goBack();
  await expect(sheet(page)).toHaveCount(0);
});

test('the search sheet scrolls back to the top for each new search', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 664 });
  await page.goto(article);
  await openSheet(page);
  await expect(results(page).first()).toBeVisible();
  for (const query of ['harbor', 'bridge']) {
    await sheet(page).evaluate((dialog) => dialog.scrollTo(0, 400));
    await field(page).fill(query);
    await expect(sheet(page).getByRole('heading', { name: `Top articles on “${query}”` })).toBeInViewport();
  }
});

test('the search sheet opens with featured stories', async ({ page }) => {
  await page.goto(article);
  await openSheet(page);
  await expect(sheet(page).getByRole('region', { name: 'Featured' }).getByRole('link').first()).toBeVisible();
  await page.keyboard.type('bridg');
  await expect(sheet(page).getByRole('heading', { name: 'Top articles on “bridg”' })).toBeVisible();
  await expect(sheet(page).getByRole('region', { name: 'Featured' })).toHaveCount(0);
});

test('typing in the search box of a wide home page opens the search sheet with that text', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('/');
  const box = page.locator('#header-search');
  await box.click();
  await page.keyboard.type('bridge');
  await expect(field(page)).toHaveValue('bridge');
  await expect(results(page).first()).toBeVisible();
  await expect(box).toHaveValue('');
  await sheet(page).getByRole('button', { name: 'Close' }).click();
  await expect(box).toBeFocused();
  await expect(box).toHaveValue('');
});

test('the search sheet offers featured and popular stories when nothing is found, and corrects a typo', async ({
  page,
}) => {
  await page.goto(article);
  await openSheet(page);
  await field(page).fill('qqzzxxy');
  await expect(says(page)).toHaveText('No results found. Here are some articles you may find interesting...');
  await expect(sheet(page).getByRole('region', { name: 'Featured' }).getByRole('listitem')).toHaveCount(4);
  await expect(sheet(page).getByRole('region', { name: 'Popular' }).getByRole('listitem')).toHaveCount(4);
  expect(await violationsOn(page, 'dialog')).toEqual([]);
  await field(page).fill('missisippi');
  await expect(says(page)).toContainText('also with “mississippi”');
});

test('the search sheet says when it is loading, has failed or is offline, and recovers', async ({ context, page }) => {
  await page.goto(article);
  await openSheet(page);
  let answer: (route: Route) => unknown = (route) => route.fulfill({ status: 503, json: { message: 'Not now.' } });
  const held = Promise.withResolvers<void>();
  await intercept(page, api, async (route) => {
    await held.promise;
    await answer(route);
  });
  await field(page).fill('bridge');
  await sheet(page).getByRole('button', { name: 'Search', exact: true }).click();
  await expect(says(page)).toHaveText('Searching…');
  held.resolve();
  await expect(says(page)).toHaveText('Search is unavailable right now. Try again in a moment.');
  await expect(sheet(page).getByRole('link', { name: 'Open the search page' })).toHaveAttribute(
    'href',
    '/search?q=bridge',
  );
  expect(await violationsOn(page, 'dialog')).toEqual([]);
  answer = (route) => route.continue();
  await sheet(page).getByRole('button', { name: 'Try again' }).click();
  await expect(results(page).first()).toBeVisible();

  await context.setOffline(true);
  await field(page).fill('mayor');
  await expect(says(page)).toHaveText(/^You’re offline/);
  await context.setOffline(false);
  await expect(sheet(page).getByRole('heading', { name: 'Top articles on “mayor”' })).toBeVisible();
});

test('the search icon leads to the search page when the sheet’s script can’t be fetched', async ({ page }) => {
  await page.route(/\/_assets\/SearchOverlay\.island.*\.js$/, (route) => route.abort());
  await page.goto(article);
  await page.locator('.search-link').click();
  await expect(page).toHaveURL(/\/search$/);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the search page finds stories, filters them, and turns pages', async ({ page }) => {
    await page.goto(article);
    await page.locator('.search-link').click();
    await expect(page).toHaveURL(/\/search$/);
    const form = page.locator('.search-page form');
    await form.getByLabel('Search the paper').fill('the');
    await form.getByText('Section and dates').click();
    await form.getByLabel('Section').selectOption('politics');
    await form.getByRole('button', { name: 'Search' }).click();
    await expect(page).toHaveURL(/\/search\?q=the&section=politics/);
    await expect(page.getByRole('heading', { name: 'Top articles on “the”' })).toBeVisible();
    await expect(form.getByLabel('Section')).toHaveValue('politics');

    await page.goto('/search?q=bridge&from=2026-02-30');
    await expect(page.getByRole('alert')).toContainText('Enter dates');
    await expect(page.getByLabel('Search the paper')).toHaveValue('bridge');

    await page.goto('/search?q=the');
    await page.getByRole('link', { name: 'Older results' }).click();
    await expect(page).toHaveURL(/q=the&page=2/);

    await page.goto('/search?q=qqzzxxy');
    await expect(page.getByText('No results found. Here are some articles you may find interesting...')).toBeVisible();
    for (const name of ['Featured', 'Popular']) {
      await expect(page.getByRole('region', { name }).getByRole('article')).toHaveCount(4);
    }
  });
});

test('/search/ redirects to /search, and the search API answers in the specified shape', async ({ request }) => {
  const slash = await request.get('/search/?q=bridge', { maxRedirects: 0 });
  expect([slash.status(), slash.headers().location]).toEqual([301, '/search?q=bridge']);

  const answer = await (await request.get('/api/v1/articles/search?q=bridge')).json();
  expect(answer.nbHits).toBeGreaterThan(0);
  // A story that another test writes at the same time may be the best match, and has no picture.
  expect(answer.hits.find(({ slug }: { slug: string }) => !isOfTest(slug))).toMatchObject({
    slug: expect.any(String),
    post_id: expect.any(Number),
    post_title: expect.any(String),
    image_url: expect.stringMatching(/^\/image\?url=http/),
    author: { post_title: expect.any(String) },
  });
  for (const bad of ['', 'q=', 'q=x&page=0', 'q=x&limit=1000', 'q=x&from=tomorrow']) {
    const refused = await request.get(`/api/v1/articles/search?${bad}`);
    expect([bad, refused.status(), typeof (await refused.json()).message]).toEqual([bad, 400, 'string']);
  }
  const unknown = await (await request.get('/api/v1/articles/search?q=bridge&section=nowhere')).json();
  expect(unknown).toMatchObject({ nbHits: 0, hits: [] });
  const featured = await (await request.get('/api/v1/articles/featured?limit=4')).json();
  expect(featured.articles).toHaveLength(4);
});

test('markup typed into search is shown as text and runs no script', async ({ page }) => {
  const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
  const dialogs: string[] = [];
  page.on('dialog', async (dialog) => {
    dialogs.push(dialog.message());
    await dialog.dismiss();
  });
  await page.goto(`/search?q=${encodeURIComponent(hostile)}&section=${encodeURIComponent(hostile)}`);
  await expect(page.getByLabel('Search the paper')).toHaveValue(hostile);
  await expect(page.locator('main img[src="x"], main script:not([src]):not([type])')).toHaveCount(0);
  expect(await violationsOn(page)).toEqual([]);
  await page.locator('.search-link').click();
  await field(page).fill(`bridge ${hostile}`);
  await sheet(page).getByRole('button', { name: 'Search', exact: true }).click();
  await expect(says(page)).not.toHaveText(/^(Searching…)?$/);
  await expect(sheet(page).locator('img[src="x"], script')).toHaveCount(0);
  expect(dialogs, 'a script ran').toEqual([]);
});
