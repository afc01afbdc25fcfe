/**
 * Dialogs, the subscribe bar, the surroundings of a story, and the account on a phone whose text has twice its usual size: nothing is cut
 * off or scrolls sideways, no short word is broken, and every dialog can be closed. The other pages: every-route.spec.ts.
 */
import type { Page } from '@playwright/test';
import { dashboardTabs } from '../../src/lib/dashboard/model.ts';
import { applyCoupon, cardFields, enterEmail, openPaywall, sheet } from '../world/checkout.ts';
import { brokenWords, cutWords, textSizeOf, withLargeText } from '../world/large-text.ts';
import { askFor, test as base, dialog, expect } from '../world/readers.ts';
import { subscribeAt } from '../world/shop.ts';
import { newEmail } from '../world/sign-in.ts';

const test = base.extend({
  baseURL: ({ shop }, use) => use(shop.site),
  viewport: { width: 390, height: 664 },
});

/** Text in a part of the open page that a reader can't read. */
async function unreadable(page: Page, part: string) {
  const sideways = await page
    .locator(part)
    .first()
    .evaluate((box) => box.scrollWidth - box.clientWidth);
  return { sideways, cut: await cutWords(page), broken: await brokenWords(page, part) };
}
const readable = { sideways: 0, cut: [], broken: [] };

/** Checks a part of the page with text of twice the size, then runs `further`. */
async function check(page: Page, part: string, further = async () => {}): Promise<void> {
  await withLargeText(await textSizeOf(page), page, async () => {
    expect(await unreadable(page, part)).toEqual(readable);
    await further();
  });
}

test('text at double size is readable in the menu, the search and its results', async ({ page }) => {
  // The first search starts the site's thread for searches, which may take longer than a search waits.
  await expect.poll(async () => (await page.request.get('/api/v1/articles/search?q=harbor')).status()).toBe(200);
  await page.goto('/about');
  await page.locator('.site-header').getByRole('button', { name: 'Menu' }).click();
  await check(page, '.site-menu');
  await page.getByRole('button', { name: 'Close menu' }).click();
  await page.locator('.site-header').getByRole('link', { name: 'Search' }).click();
  const field = dialog(page).getByRole('searchbox');
  await check(page, 'dialog[open]', async () => {
    expect((await field.boundingBox())?.width, 'width of the field').toBeGreaterThan(250);
  });
  await field.fill('harbor');
  await field.press('Enter');
  await expect(dialog(page).getByText('Top articles on')).toBeVisible();
  await check(page, 'dialog[open]');
});

test('text at double size is readable while signing in by link and by code', async ({ page }) => {
  await askFor(page, newEmail('a.reader.with.a.long.name'));
  await check(page, 'dialog[open]');
  await page.getByRole('button', { name: 'Login with code instead' }).click();
  await expect(page.getByRole('heading', { name: 'Please check your email.' })).toBeVisible();
  await check(page, 'dialog[open]');
});

test('text at double size is readable in the paywall, down to the coupon and the renewal date', async ({ page }) => {
  await openPaywall(page, 'reader-yearly');
  await check(page, 'dialog[open]');
  await enterEmail(page, newEmail());
  await expect(cardFields(page).getByLabel('Card number')).toBeVisible();
  await applyCoupon(page, 'NOPE');
  await expect(sheet(page).getByRole('alert').filter({ hasText: /./ })).toBeVisible();
  await expect(sheet(page).getByText('Renewal date')).toBeVisible();
  await check(page, 'dialog[open]', async () => {
    const coupon = await sheet(page).getByLabel('Coupon').boundingBox();
    expect(coupon?.width, 'width of the coupon').toBeGreaterThan(250);
  });
});

test('text at double size is readable in the subscribe bar, which can still be folded', async ({ page }) => {
  await page.goto('/section/politics');
  const bar = page.locator('[data-sticky-footer]');
  await bar.locator('summary').click();
  await check(page, '[data-sticky-footer]', async () => {
    await expect(bar.locator('summary')).toBeInViewport({ ratio: 1 });
    await bar.locator('summary').click();
    await expect(bar.getByRole('textbox')).toBeHidden();
  });
});

test('text at double size is readable in a story’s author box, comments heading and text-size menu', async ({
  page,
}) => {
  await page.goto('/article/crack-closes-mississippi-bridge');
  await check(page, '.author-box');
  await check(page, '.comments-head');
  await page.getByRole('button', { name: 'Text size' }).click();
  await check(page, '.menu.sizes');
});

test('text at double size is readable on every account page of a subscriber', async ({ page, shop }) => {
  await subscribeAt(shop, page.context(), 'member-monthly');
  for (const path of [...dashboardTabs.map(({ slug }) => `/dashboard/${slug}`), '/cancel', '/account/card']) {
    await test.step(path, async () => {
      await page.goto(path);
      await check(page, 'main');
    });
  }
});
