/**
 * axe on every state of the sign-in screens: at a phone's width all of them, in one page as a reader sees them. On a desktop only
 * the popup looks different, so it is checked there, too. every-route.spec.ts checks the page behind the popup.
 */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import {
  boxes,
  codeTo,
  dialog,
  emailField,
  expect,
  linkTo,
  newEmail,
  test,
  typeCode,
  wrongCode,
} from '../world/readers.ts';

/** @param within selector of the part to check (default: the whole page) */
async function expectClean(page: Page, state: string, within?: string): Promise<void> {
  expect(await violationsOn(page, within), state).toEqual([]);
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  expect(content, `${state} is no wider than the screen`).toBeLessThanOrEqual(screen as number);
}

const open = (page: Page) => page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();
const popup = 'dialog[open]';

/** Goes through all states of the popup, up to a wrong code. */
async function walkThePopup(page: Page): Promise<void> {
  await open(page);
  await expect(emailField(page)).toBeFocused();
  // The page behind it, too: what is hidden from sighted readers must be hidden from screen readers.
  await expectClean(page, 'idle');
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByText('Please enter your email address.')).toBeVisible();
  await expectClean(page, 'error', popup);
  await emailField(page).fill('ada.byron@gmial.com');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'ada.byron@gmail.com' })).toBeVisible();
  await expectClean(page, 'suggestion', popup);
  const email = newEmail('axe');
  await emailField(page).fill(email);
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByText('login link has been sent to')).toBeVisible();
  await expectClean(page, 'sent', popup);
  const link = await linkTo(email);
  await page.getByRole('button', { name: 'Resend' }).click();
  await expect(dialog(page).getByRole('status')).toHaveText('Resent!');
  await expectClean(page, 'resent', popup);
  await page.getByRole('button', { name: 'Login with code instead' }).click();
  await expect(boxes(page).first()).toBeVisible();
  await expectClean(page, 'code', popup);
  await typeCode(page, wrongCode((await codeTo(email, link.number)).text));
  await expect(dialog(page).getByText('Invalid code.')).toBeVisible();
  await expectClean(page, 'code error', popup);
}

for (const [device, width] of [
  ['a phone', 390],
  ['a desktop', 1280],
] as const) {
  test.describe(`axe finds no violations on ${device}`, () => {
    test.use({ viewport: { width, height: 844 } });

    test('in any state of the sign-in popup', async ({ page }) => {
      await page.goto('/about');
      await walkThePopup(page);
    });
  });
}

test.describe('axe finds no violations on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('in the sign-in popup on a dark page', async ({ page }) => {
    await page.goto('/media');
    await open(page);
    await expect(emailField(page)).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(dialog(page).getByText('Please enter your email address.')).toBeVisible();
    await expectClean(page, 'error');
  });

  test('in the subscribe bar while open, with an error, done and folded', async ({ page }) => {
    await page.goto('/section/politics');
    const bar = page.getByRole('complementary', { name: 'Subscribe to The Sun' });
    const field = bar.getByLabel('Email address');
    const foot = 'aside[aria-label="Subscribe to The Sun"]';
    await expect(page.locator(foot)).toBeVisible();
    await expectClean(page, 'as it begins');
    await bar.getByText('Subscribe to The Sun', { exact: true }).click();
    await expectClean(page, 'open');
    await field.fill('ada.byron@gmial.com');
    await field.press('Enter');
    await expect(bar.getByRole('alert')).not.toBeEmpty();
    await expectClean(page, 'suggestion', foot);
    await field.fill(newEmail('axe'));
    await field.press('Enter');
    await expect(bar.getByText('Thank you')).toBeVisible();
    await expectClean(page, 'thanks', foot);
    await bar.locator('summary').click();
    await expectClean(page, 'folded', foot);
  });

  test('on the pages of the sign-in forms', async ({ page, newDevice }) => {
    const email = newEmail('axe');
    await page.goto('/socialLogin');
    await emailField(page).fill(email);
    await page.keyboard.press('Enter');
    const other = await (await newDevice()).newPage();
    await other.goto((await linkTo(email)).text);
    await expectClean(other, 'confirm');
    await other.goto('/blaize/token-exchange?token=this-is-not-a-token-of-ours');
    await expectClean(other, 'failed');
    for (const path of ['/account/link-sent', '/account/enter-code', '/account/signed-out', '/account/subscribed']) {
      await other.goto(path);
      await expectClean(other, path);
    }
  });
});
