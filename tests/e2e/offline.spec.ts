/** Reading without a network (docs/decisions/0021), with the service worker that all other tests leave out. */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { expect, expectAnonymous, newEmail, signIn, test } from '../world/readers.ts';

test.use({ serviceWorkers: 'allow' });

const story = '/article/crack-closes-mississippi-bridge';
const other = '/article/railroads-publish-their-delays';

/** Paths of the stories that the browser has stored. */
const kept = (page: Page) =>
  page.evaluate(async () =>
    (await caches.has('broadsheet-stories'))
      ? (await (await caches.open('broadsheet-stories')).keys()).map(({ url }) => new URL(url).pathname)
      : [],
  );

/** Addresses of the pictures that the browser has stored, as the newsroom knows them. */
const keptPictures = (page: Page) =>
  page.evaluate(async () =>
    (await (await caches.open('broadsheet-pictures')).keys()).map(({ url }) => new URL(url).searchParams.get('url')),
  );

/** Opens a story, reads it, and waits until the browser has stored it. */
async function read(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.mouse.wheel(0, 600);
  await expect.poll(() => kept(page)).toContain(path);
}

test('recently read stories open offline with their pictures, and can be removed', async ({ page, context }) => {
  await read(page, story);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  // Pictures are stored after the text.
  const shown = await page.locator('.lead img').evaluate((image: HTMLImageElement) => image.currentSrc);
  await expect.poll(() => keptPictures(page)).toContain(new URL(shown).searchParams.get('url'));
  await read(page, other);
  await context.setOffline(true);
  await page.goto(`${story}?utm_source=letter`);
  await expect(page.getByText('You’re offline. This is the story as you last read it.')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Mississippi Bridge');
  const picture = page.locator('.lead img');
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  // The styles are there, too.
  await expect(page.locator('.story .prose p').first()).toHaveCSS('font-family', /^"?Text\b/);
  await page.goto('/section/politics');
  await expect(page.getByRole('heading', { name: 'You’re offline' })).toBeVisible();
  await expect(page.locator('[data-kept] a')).toHaveCount(2);
  expect(await violationsOn(page, 'main')).toEqual([]);
  await page.locator('[data-kept] a').last().click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Mississippi Bridge');

  await context.setOffline(false);
  await page.goto('/offline');
  await page.getByRole('button', { name: 'Remove these stories' }).click();
  await expect(page.getByText('Nothing here yet.')).toBeFocused();
  expect(await kept(page)).toEqual([]);
});

test('a registered reader’s stored stories open offline, and signing out in one tab removes them from every tab', async ({
  page,
  context,
}) => {
  const registered = '/article/what-registered-readers-know-about-chalk';
  await signIn(context, newEmail('traveler'));
  await read(page, registered);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await context.setOffline(true);
  await page.reload();
  await expect(page.locator('.paywall')).toHaveCount(0);
  await context.setOffline(false);
  // The story stays open in this tab, and the reader signs out in another one.
  await page.reload();
  const other = await context.newPage();
  await other.goto('/dashboard/saved');
  await expect.poll(() => kept(other)).toEqual([registered]);
  await other.getByRole('button', { name: 'Sign out' }).first().click();
  await expect(other).toHaveURL(/signed-out$/);
  await expect.poll(() => kept(other)).toEqual([]);
  await expectAnonymous(page);
  await context.setOffline(true);
  for (const tab of [page, other]) {
    await tab.goto(registered);
    await expect(tab.getByRole('heading', { name: 'You’re offline' })).toBeVisible();
    await expect(tab.getByText('Nothing here yet.')).toBeVisible();
  }
});

test('a new service worker takes over while a story is open, and stored stories stay available', async ({
  page,
  context,
}) => {
  await read(page, story);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  // A browser treats a worker at another address as a new one, like another build's worker at the same address.
  await page.evaluate(async () => {
    const taken = new Promise((resolve) =>
      navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true }),
    );
    await navigator.serviceWorker.register('/sw.js?next');
    await taken;
  });
  expect(await page.evaluate(() => navigator.serviceWorker.controller?.scriptURL)).toMatch(/next$/);
  expect(await kept(page)).toEqual([story]);
  await context.setOffline(true);
  await page.reload();
  await expect(page.getByText('You’re offline. This is the story')).toBeVisible();
});
