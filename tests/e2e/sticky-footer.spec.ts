/** The bar at the bottom of home and section pages (spec section 2, "Sticky subscribe footer"). */
import type { Page } from '@playwright/test';
import { expect, expectSignedIn, linkTo, newEmail, signIn, test } from '../world/readers.ts';

const bar = (page: Page) => page.getByRole('complementary', { name: 'Subscribe to The Sun' });
const field = (page: Page) => bar(page).getByLabel('Email address');
const padding = (page: Page) =>
  page.evaluate(() => Number.parseFloat(getComputedStyle(document.body).paddingBottom) / 16);
const unfold = (page: Page) => bar(page).getByText('Subscribe to The Sun', { exact: true }).click();
async function expectMessageAboveField(page: Page): Promise<void> {
  const [message, input] = await Promise.all([
    bar(page).getByRole('alert').getByRole('paragraph').boundingBox(),
    field(page).boundingBox(),
  ]);
  expect((message?.y ?? Number.NaN) + (message?.height ?? 0)).toBeLessThanOrEqual(input?.y ?? Number.NaN);
}
const key = 'show-condensed-zephr-sticky-subscribe';

test.describe('the subscribe bar for signed-out readers', () => {
  for (const path of ['/', '/section/politics']) {
    test(`is fixed at the bottom of ${path}`, async ({ page }) => {
      await page.goto(path);
      await expect(bar(page)).toBeVisible();
      await expect(bar(page)).toHaveCSS('position', 'fixed');
      await page.emulateMedia({ media: 'print' });
      await expect(bar(page)).toBeHidden();
      await page.emulateMedia({ media: 'screen' });
      await expect.poll(() => padding(page)).toBe(2);
      await unfold(page);
      await expect(bar(page).getByRole('button', { name: 'Subscribe' })).toBeVisible();
      await expect(bar(page).getByRole('link', { name: 'Continue with Google' })).toBeVisible();
      await expect(bar(page).getByRole('link', { name: 'Continue with Facebook' })).toBeVisible();
      await expect(bar(page).getByRole('link', { name: 'privacy policy' })).toHaveAttribute('href', '/privacy-policy');
      await expect(bar(page).getByRole('link', { name: 'terms of use' })).toBeVisible();
      await expect(bar(page).getByText('It Shines for All')).toBeVisible();
      await expect.poll(() => padding(page)).toBe(6);
    });
  }

  test('does not appear on other pages', async ({ page }) => {
    for (const path of ['/latest', '/about', '/media', '/pricing']) {
      await page.goto(path);
      await expect(bar(page)).toHaveCount(0);
      await expect.poll(() => padding(page)).toBe(0);
    }
  });

  test('starts folded, and stays open or folded on the next page', async ({ page }) => {
    await page.goto('/');
    await expect(bar(page)).toBeVisible();
    await expect(field(page)).toBeHidden();
    await expect.poll(async () => (await bar(page).boundingBox())?.height).toBe(32);
    await unfold(page);
    await expect(field(page)).toBeVisible();
    await expect.poll(() => page.evaluate((name) => localStorage.getItem(name), key)).toBe('false');
    await page.goto('/section/culture');
    await expect(field(page)).toBeVisible();
    await expect.poll(() => padding(page)).toBe(6);
    await bar(page).locator('summary').click();
    await expect(field(page)).toBeHidden();
    await expect.poll(() => page.evaluate((name) => localStorage.getItem(name), key)).toBe('true');
    await page.goto('/');
    await expect(bar(page)).toBeVisible();
    await expect(field(page)).toBeHidden();
    await expect.poll(() => padding(page)).toBe(2);
  });

  test('never covers the end of the page', async ({ page }) => {
    for (const viewport of [
      { width: 390, height: 844 },
      { width: 1280, height: 800 },
    ]) {
      await page.setViewportSize(viewport);
      await page.goto('/section/politics');
      await page.evaluate((name) => localStorage.setItem(name, 'false'), key);
      await page.reload();
      await expect(field(page)).toBeVisible();
      const covered = () =>
        bar(page).evaluate((element) => {
          window.scrollTo(0, document.documentElement.scrollHeight);
          const end = document.querySelector('.imprint')?.getBoundingClientRect().bottom ?? Number.NaN;
          return end - element.getBoundingClientRect().top;
        });
      await expect.poll(covered).toBeLessThanOrEqual(0);
    }
  });

  test('confirms a sign-up, links to three webmail services, and the emailed link signs the reader in', async ({
    page,
  }) => {
    const email = newEmail('bar');
    await page.goto('/');
    await unfold(page);
    await field(page).fill(email);
    const created = page.waitForResponse((response) => response.url().endsWith('/api/zephr-create'));
    await bar(page).getByRole('button', { name: 'Subscribe' }).click();
    expect(await (await created).json()).toMatchObject({ sessionId: expect.any(String) });
    await expect(bar(page).getByText('Thank you for subscribing to The Sun')).toBeFocused();
    await expect(bar(page).getByText('Please check your inbox for a one-click verification link')).toBeVisible();
    await expect(bar(page).getByRole('link', { name: /^Open / })).toHaveCount(3);
    await page.goto((await linkTo(email)).text);
    await page.locator('main form').getByRole('button', { name: 'Create my account' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('You’re signed up');
    await page.goto('/about');
    await expectSignedIn(page);
  });

  test('stays hidden after a sign-up, and so does the welcome popup', async ({ page }) => {
    await page.goto('/section/politics');
    await unfold(page);
    await field(page).fill(newEmail('bar'));
    await field(page).press('Enter');
    await expect(bar(page).getByText('Thank you for subscribing to The Sun')).toBeVisible();
    await page.goto('/');
    await expect(page.locator('html')).not.toHaveAttribute('data-visitor');
    await page.evaluate(() => window.scrollTo(0, 2000));
    await page.waitForFunction(() => document.querySelector('[data-sticky-footer]')?.hasAttribute('data-shown'));
    await expect(bar(page)).toBeHidden();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect.poll(() => padding(page)).toBe(0);
  });

  test('suggests a correction for a mistyped address above the field, and accepts it with a click', async ({
    page,
  }) => {
    await page.goto('/');
    await unfold(page);
    const name = newEmail('bar').split('@')[0];
    await field(page).fill(`${name}@gmial.com`);
    await field(page).press('Enter');
    await expect(bar(page).getByRole('alert')).toHaveText(`Did you mean ${name}@gmail.com?`);
    await expectMessageAboveField(page);
    await bar(page)
      .getByRole('button', { name: `${name}@gmail.com` })
      .click();
    await expect(bar(page).getByText('Thank you for subscribing to The Sun')).toBeVisible();
  });

  test('shows a message above the field when the server’s error has none, and keeps the address', async ({ page }) => {
    await page.route('**/api/zephr-create', (route) => route.fulfill({ status: 500, body: 'oops' }));
    await page.goto('/');
    await unfold(page);
    const email = newEmail('bar');
    await field(page).fill(email);
    await field(page).press('Enter');
    await expect(bar(page).getByRole('alert')).toHaveText('Failed to create user');
    await expectMessageAboveField(page);
    await expect(field(page)).toHaveValue(email);
  });

  test('signs a reader in with Google in a popup window', async ({ page }) => {
    await page.goto('/');
    await unfold(page);
    // The first touch fetches the island, which then opens the window.
    await field(page).focus();
    await expect(bar(page).locator('astro-island:not([ssr])')).toBeAttached();
    const opened = page.waitForEvent('popup');
    await bar(page).getByRole('link', { name: 'Continue with Google' }).click();
    const popup = await opened;
    await popup.getByLabel('Email address of another account').fill(newEmail('bar'));
    await Promise.all([popup.waitForEvent('close'), popup.getByRole('button', { name: 'Continue' }).click()]);
    await expectSignedIn(page);
    await expect(bar(page)).toBeHidden();
    await expect.poll(() => padding(page)).toBe(0);
  });
});

test('the subscribe bar is hidden for signed-in readers', async ({ context, page }) => {
  await signIn(context);
  await page.goto('/');
  await expectSignedIn(page);
  await expect(bar(page)).toBeHidden();
  await expect.poll(() => padding(page)).toBe(0);
});

test('the subscribe bar loads no React until its field is focused', async ({ page }) => {
  const scripts: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'script') scripts.push(request.url());
  });
  await page.goto('/section/politics', { waitUntil: 'networkidle' });
  await expect(bar(page)).toBeVisible();
  await unfold(page);
  const before = scripts.length;
  expect(scripts.filter((url) => /StickyFooter\.island|client\.[\w-]+\.js/.test(url))).toEqual([]);
  await field(page).focus();
  await expect.poll(() => scripts.length).toBeGreaterThan(before);
});
