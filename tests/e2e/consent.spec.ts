/** The question about third parties: asked if there are any, answers are honored, and consent can be withdrawn at any time. */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { cutWords, textSizeOf, withLargeText } from '../world/large-text.ts';
import { shiftsOn, watchShifts } from '../world/layout-shifts.ts';
import { banner, expect, rememberChoice, test } from '../world/third-parties.ts';

// In one worker, so that the file's site starts once.
test.describe.configure({ mode: 'default' });

const article = '/article/crack-closes-mississippi-bridge';
const choiceOf = async (page: Page) => (await page.context().cookies()).find(({ name }) => name === 'privacy-choices');

test('no third party is contacted before a choice, nor after "Reject all"', async ({
  page,
  vendors,
  troubles,
  baseURL,
}) => {
  await watchShifts(page, 'blocked');
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(baseURL ?? '')) foreign.push(request.url());
  });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(article, { waitUntil: 'networkidle' });
  await expect(banner(page)).toBeVisible();
  expect(await violationsOn(page)).toEqual([]);
  // The banner doesn't get in the reader's way: no dialog, no focus taken, and less than half of a phone's screen.
  expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
  expect((await banner(page).boundingBox())?.height ?? 999).toBeLessThan(400);
  const sizes = await Promise.all(
    ['Accept all', 'Reject all'].map((name) => banner(page).getByRole('button', { name }).boundingBox()),
  );
  expect(sizes[0]?.width).toBe(sizes[1]?.width);
  await banner(page).getByRole('button', { name: 'Reject all' }).click();
  await expect(banner(page)).toBeHidden();
  await expect(page.locator('#main')).toBeFocused();
  await expect.poll(async () => (await choiceOf(page))?.value).toBe('1');
  const days = ((await choiceOf(page))?.expires ?? 0) / 86_400 - Date.now() / 86_400_000;
  expect(days).toBeGreaterThan(180);
  await page.goto('/', { waitUntil: 'networkidle' });
  await expect(banner(page)).toBeHidden();
  expect(await vendors.scripts()).toEqual([]);
  expect(foreign.filter((url) => !url.startsWith('data:'))).toEqual([]);
  expect(await shiftsOn(page)).toEqual([]);
  expect(troubles.all).toEqual([]);
});

test('"Accept all" loads each third party once per page view', async ({ page, vendors, troubles }) => {
  await page.goto('/about', { waitUntil: 'networkidle' });
  await banner(page).getByRole('button', { name: 'Accept all' }).click();
  const each = ['growsurf', 'gtm', 'marfeel', 'onesignal'];
  await expect.poll(async () => (await vendors.scripts()).toSorted()).toEqual(each);
  await expect.poll(async () => (await choiceOf(page))?.value).toBe('1.measurement.marketing.advertising');
  await page.goto('/about', { waitUntil: 'networkidle' });
  await expect.poll(async () => (await vendors.scripts()).toSorted()).toEqual([...each, ...each].toSorted());
  await expect(banner(page)).toBeHidden();
  expect(troubles.all).toEqual([]);
});

test('a choice for each purpose is obeyed, shown, and can be withdrawn on its page, in every tab at once', async ({
  page,
  context,
  vendors,
}) => {
  await page.goto('/about');
  await banner(page).getByText('Choose for each purpose').click();
  await banner(page).getByLabel('Measurement').check();
  expect(await violationsOn(page, '.privacy')).toEqual([]);
  await banner(page).getByRole('button', { name: 'Save my choices' }).click();
  await expect.poll(async () => (await vendors.scripts()).toSorted()).toEqual(['gtm', 'marfeel']);
  await expect.poll(async () => (await context.cookies()).some(({ name }) => name === '_ga')).toBe(true);

  const second = await context.newPage();
  await second.goto('/about');
  await second.getByRole('contentinfo').getByRole('link', { name: 'Privacy choices' }).click();
  await expect(second.getByRole('checkbox', { name: 'Measurement' })).toBeChecked();
  await expect(second.getByRole('checkbox', { name: 'Advertising' })).not.toBeChecked();
  expect(await violationsOn(second)).toEqual([]);
  await second.getByRole('button', { name: 'Reject all' }).click();
  await expect(second.getByRole('status')).toContainText('Only what’s necessary');
  await expect(second.getByRole('checkbox', { name: 'Measurement' })).not.toBeChecked();
  await expect.poll(async () => (await context.cookies()).some(({ name }) => name === '_ga')).toBe(false);
  await page.bringToFront();
  const denied = async () =>
    (await vendors.calls('gtm')).findLast(({ what }) => what === 'consent update')?.details as object;
  await expect.poll(denied).toMatchObject({ analytics_storage: 'denied', ad_storage: 'denied' });
  const before = (await vendors.scripts()).length;
  await page.goto(article, { waitUntil: 'networkidle' });
  expect((await vendors.scripts()).length).toBe(before);
});

test.describe('Global Privacy Control', () => {
  test.use({ extraHTTPHeaders: async ({ reader }, use) => use({ 'x-forwarded-for': reader, 'sec-gpc': '1' }) });
  test('keeps marketing and advertising off unless the reader chooses them, and the banner explains it', async ({
    context,
    page,
    vendors,
    baseURL,
  }) => {
    await context.addInitScript(() =>
      Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { value: true }),
    );
    await page.goto('/about', { waitUntil: 'networkidle' });
    await expect(banner(page)).toContainText('Global Privacy Control');
    await expect(banner(page).getByRole('button', { name: 'Accept all' })).toBeHidden();
    await banner(page).getByRole('button', { name: 'Accept the rest' }).click();
    await expect.poll(async () => (await vendors.scripts()).toSorted()).toEqual(['gtm', 'marfeel']);
    // Consent given before the signal no longer counts.
    await rememberChoice(context, baseURL ?? '', 'measurement', 'marketing', 'advertising');
    await page.goto('/privacy-choices');
    await expect(page.getByText('Your browser asks us not to share your data')).toBeVisible();
    await expect(page.getByRole('checkbox', { name: 'Marketing' })).not.toBeChecked();
    await page.getByRole('checkbox', { name: 'Marketing' }).check();
    await page.getByRole('button', { name: 'Save my choices' }).click();
    await expect(page.getByRole('status')).toBeVisible();
    await expect(page.getByRole('checkbox', { name: 'Marketing' })).toBeChecked();
    await expect.poll(async () => (await vendors.scripts()).includes('growsurf')).toBe(true);
    expect(await vendors.scripts()).not.toContain('gpt');
  });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });
  test('no banner is shown, and the privacy choices page works', async ({ page }) => {
    await page.goto('/about');
    await expect(banner(page)).toBeHidden();
    await page.goto('/privacy-choices');
    await page.getByRole('checkbox', { name: 'Advertising' }).check();
    await page.getByRole('button', { name: 'Save my choices' }).click();
    await expect(page).toHaveURL(/\/privacy-choices\?saved$/);
    await expect(page.getByRole('checkbox', { name: 'Advertising' })).toBeChecked();
    expect((await choiceOf(page))?.value).toBe('1.advertising');
  });
});

test('with large text on a phone the consent banner is readable, and both of its buttons are visible', async ({
  page,
}) => {
  for (const size of [
    { width: 390, height: 664 },
    { width: 320, height: 568 },
  ]) {
    await page.setViewportSize(size);
    await page.goto('/about');
    await expect(banner(page)).toBeVisible();
    await withLargeText(await textSizeOf(page), page, async () => {
      expect(await cutWords(page)).toEqual([]);
      for (const name of ['Accept all', 'Reject all'])
        await expect(banner(page).getByRole('button', { name })).toBeInViewport({ ratio: 1 });
      const box = await banner(page).boundingBox();
      expect(box?.y, 'top of the question').toBeGreaterThanOrEqual(0);
    });
  }
});
