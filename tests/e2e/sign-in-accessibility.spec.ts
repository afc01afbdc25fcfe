/** axe over every state of the screens to sign in by, at the width of a phone and of a desktop. */
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import {
  askFor,
  askForCode,
  dialog,
  emailField,
  expect,
  linkTo,
  newEmail,
  test,
  typeCode,
  wrongCode,
} from '../world/readers.ts';

async function expectClean(page: Page, state: string): Promise<void> {
  // Half-way through an animation nothing has its colours.
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
  const { violations } = await new AxeBuilder({ page }).analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(', ')}`);
  expect(found, state).toEqual([]);
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  expect(content, `${state} is no wider than the screen`).toBeLessThanOrEqual(screen as number);
}

for (const width of [390, 1280]) {
  test.describe(`at ${width} pixels`, () => {
    test.use({ viewport: { width, height: 844 } });

    for (const path of ['/latest', '/media']) {
      test(`the popup on ${path}`, async ({ page }) => {
        await page.goto(path);
        await page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();
        await expect(emailField(page)).toBeFocused();
        await expectClean(page, 'idle');
        await page.keyboard.press('Enter');
        await expect(dialog(page).getByText('Please enter your email address.')).toBeVisible();
        await expectClean(page, 'error');
        await emailField(page).fill('ada.byron@gmial.com');
        await page.keyboard.press('Enter');
        await expect(page.getByRole('button', { name: 'ada.byron@gmail.com' })).toBeVisible();
        await expectClean(page, 'suggestion');
      });
    }

    test('link and code', async ({ page }) => {
      const email = newEmail('axe');
      await askFor(page, email);
      await expectClean(page, 'sent');
      await page.getByRole('button', { name: 'Resend' }).click();
      await expect(dialog(page).getByRole('status')).toHaveText('Resent!');
      await expectClean(page, 'resent');
      const code = await askForCode(page, newEmail('axe'));
      await expectClean(page, 'code');
      await typeCode(page, wrongCode(code));
      await expect(dialog(page).getByText('Invalid code.')).toBeVisible();
      await expectClean(page, 'code error');
    });

    test('the bar at the foot, open, wrong, done and folded', async ({ page }) => {
      await page.goto('/section/politics');
      const bar = page.getByRole('complementary', { name: 'Subscribe to The Sun' });
      const field = bar.getByLabel('Email address');
      await expectClean(page, 'open');
      await field.fill('ada.byron@gmial.com');
      await field.press('Enter');
      await expect(bar.getByRole('alert')).not.toBeEmpty();
      await expectClean(page, 'suggestion');
      await field.fill(newEmail('axe'));
      await field.press('Enter');
      await expect(bar.getByText('Thank you')).toBeVisible();
      await expectClean(page, 'thanks');
      await bar.getByRole('button', { name: 'Hide' }).click();
      await expectClean(page, 'folded');
    });

    test('the pages of forms', async ({ page, newDevice }) => {
      const email = newEmail('axe');
      await askFor(page, email);
      const other = await (await newDevice()).newPage();
      await other.setViewportSize({ width, height: 844 });
      await other.goto((await linkTo(email)).text);
      await expectClean(other, 'confirm');
      await other.goto('/blaize/token-exchange?token=this-is-not-a-token-of-ours');
      await expectClean(other, 'failed');
      for (const path of ['/account/link-sent', '/account/enter-code', '/account/signed-out']) {
        await other.goto(path);
        await expectClean(other, path);
      }
    });
  });
}
