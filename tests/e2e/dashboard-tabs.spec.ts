/** The tabs of the account on a phone: a strip that is wider than the window. */
import type { Page } from '@playwright/test';
import { expect, signIn, test } from '../world/readers.ts';

test.use({ viewport: { width: 390, height: 664 } });

const strip = (page: Page) => page.locator('[data-tab-strip]');

/** Whether a tab is completely within the window. */
const inView = (page: Page, name: string) =>
  strip(page)
    .getByRole('link', { name, exact: true })
    .evaluate((tab) => {
      const { left, right } = tab.getBoundingClientRect();
      return left >= 0 && right <= innerWidth;
    });

test('/dashboard redirects to the first tab, /dashboard/account', async ({ context, page }) => {
  await signIn(context);
  await page.goto('/dashboard');
  await expect(page).toHaveURL(/\/dashboard\/account$/);
  await expect(page.getByRole('heading', { level: 1, name: 'Your account' })).toBeVisible();
});

test('the tab strip scrolls the current tab into view and marks the sides that have more tabs', async ({
  context,
  page,
}) => {
  await signIn(context);
  await page.goto('/dashboard/account');
  await expect(strip(page)).toHaveAttribute('data-after');
  await expect(strip(page)).not.toHaveAttribute('data-before');
  expect(await inView(page, 'Contact')).toBe(false);

  await page.goto('/dashboard/contact');
  await expect(strip(page)).toHaveAttribute('data-before');
  await expect(strip(page)).not.toHaveAttribute('data-after');
  expect(await inView(page, 'Contact')).toBe(true);

  // By keyboard, too: the focused tab is scrolled into view.
  await strip(page).getByRole('link').first().focus();
  await expect.poll(() => strip(page).evaluate((nav) => nav.hasAttribute('data-before'))).toBe(false);
});
