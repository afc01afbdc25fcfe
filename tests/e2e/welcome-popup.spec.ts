/** The welcome popup's five conditions (spec section 4). */
import type { Page } from '@playwright/test';
import { twoFrames } from '../world/layout-shifts.ts';
import { dialog, emailField, expect, expectSignedIn, newEmail, signIn, test } from '../world/readers.ts';

const heading = 'Sign up for breaking news and exclusive daily updates';
const welcome = (page: Page) => page.getByRole('dialog', { name: heading });
const scrollTo = async (page: Page, y: number) => {
  await page.evaluate((top) => window.scrollTo(0, top), y);
  await twoFrames(page);
};
const seen = (page: Page) => page.evaluate(() => localStorage.getItem('seen-welcome-modal'));

test('the welcome popup opens once, after scrolling past 800 pixels on the home page', async ({ page }) => {
  await page.setViewportSize({ width: 768, height: 900 });
  await page.goto('/');
  await scrollTo(page, 800);
  expect(await seen(page)).toBeNull();
  await scrollTo(page, 801);
  await expect(welcome(page)).toBeVisible();
  await expect(emailField(page)).toBeVisible();
  await expect.poll(() => seen(page)).not.toBeNull();
  await page.keyboard.press('Escape');
  await expect(welcome(page)).toBeHidden();

  await page.reload();
  await scrollTo(page, 0);
  await scrollTo(page, 1500);
  await expect(dialog(page)).toHaveCount(0);
});

test('the welcome popup does not open in a window narrower than 768 pixels', async ({ page }) => {
  await page.setViewportSize({ width: 767, height: 900 });
  await page.goto('/');
  await scrollTo(page, 2000);
  await expect(dialog(page)).toHaveCount(0);
  expect(await seen(page)).toBeNull();
});

test('the welcome popup does not open on a section page', async ({ page }) => {
  await page.goto('/section/politics');
  await scrollTo(page, 2000);
  await expect(dialog(page)).toHaveCount(0);
  expect(await seen(page)).toBeNull();
});

test('the welcome popup does not open for a signed-in reader', async ({ context, page }) => {
  await signIn(context);
  await page.goto('/');
  await expectSignedIn(page);
  await scrollTo(page, 2000);
  await expect(dialog(page)).toHaveCount(0);
  expect(await seen(page)).toBeNull();
});

test('a reader who signs up in the welcome popup is not asked again by the subscribe bar', async ({ page }) => {
  await page.goto('/');
  await scrollTo(page, 1000);
  await expect(welcome(page)).toBeVisible();
  await emailField(page).fill(newEmail('welcome'));
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByText('login link has been sent to')).toBeVisible();

  await page.keyboard.press('Escape');
  await page.goto('/section/politics');
  await page.waitForFunction(() => document.querySelector('[data-sticky-footer]')?.hasAttribute('data-shown'));
  await expect(page.getByRole('complementary', { name: 'Subscribe to The Sun' })).toBeHidden();
});
