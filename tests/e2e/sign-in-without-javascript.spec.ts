/** All sign-in and sign-up forms, with JavaScript off. */
import type { Page } from '@playwright/test';
import { codeTo, emailField, expect, linkTo, newEmail, test, wrongCode } from '../world/readers.ts';

test.use({ javaScriptEnabled: false });

const code = (page: Page) => page.getByLabel(/^Verification code/);
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

/** The reader's own page, which no other reader gets. */
async function expectSignedIn(page: Page, email: string): Promise<void> {
  await page.goto('/dashboard/account');
  await expect(page.locator('main')).toContainText(email);
}

async function askFor(page: Page, email: string, path = '/socialLogin'): Promise<void> {
  await page.goto(path);
  await emailField(page).fill(email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page.locator('main')).toContainText('login link has been sent to');
  await expect(page.locator('main')).toContainText(email);
}

test('without JavaScript, Sign In in the header leads to the sign-in page', async ({ page }) => {
  await page.goto('/latest');
  await page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();
  await expect(heading(page)).toHaveText('Sign in or create a free account');
  await expect(page.getByText('Have an account? Use this form to sign in.')).toBeVisible();
});

test('without JavaScript, a new reader signs in by link and lands on the page they wanted', async ({ page }) => {
  const email = newEmail();
  await askFor(page, email, '/socialLogin?return=%2Fsection%2Fpolitics');
  await page.goto((await linkTo(email)).text);
  await expect(page.locator('main')).toContainText(email);
  await page.getByRole('button', { name: 'Create my account' }).click();
  await expect(page).toHaveURL(/\/section\/politics$/);
  await expectSignedIn(page, email);
});

test('without JavaScript, signing in from a story leads back to the story', async ({ page }) => {
  const email = newEmail();
  await page.goto('/article/crack-closes-mississippi-bridge');
  await page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();
  await emailField(page).fill(email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.goto((await linkTo(email)).text);
  await page.getByRole('button', { name: 'Create my account' }).click();
  await expect(page).toHaveURL(/\/article\/crack-closes-mississippi-bridge$/);
});

test('without JavaScript, a wrong code is rejected, and a resent one signs the reader in', async ({ page }) => {
  const email = newEmail();
  await askFor(page, email);
  const link = await linkTo(email);
  await page.getByRole('button', { name: 'Login with code instead' }).click();
  await expect(heading(page)).toHaveText('Please check your email.');
  const first = await codeTo(email, link.number);
  await code(page).fill(wrongCode(first.text));
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect(page.getByRole('alert')).toHaveText('Invalid code. Please check the code and try again.');
  await page.getByRole('button', { name: 'Click to resend.' }).click();
  await expect(page.getByRole('status')).toHaveText('Resent!');
  const second = await codeTo(email, first.number);
  await code(page).fill(second.text);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expectSignedIn(page, email);
});

test('without JavaScript, a link is resent, and Edit returns to the form with the address', async ({ page }) => {
  const email = newEmail();
  await askFor(page, email);
  const first = await linkTo(email);
  await page.getByRole('button', { name: 'Resend' }).click();
  await expect(page.getByRole('status')).toHaveText('Resent!');
  expect((await linkTo(email, first.number)).text).not.toBe(first.text);
  await page.getByRole('link', { name: 'Edit' }).click();
  await expect(emailField(page)).toHaveValue(email);
});

test('without JavaScript, a typo in the address brings a suggestion, and the typed text is kept', async ({ page }) => {
  await page.goto('/socialLogin');
  const name = newEmail().split('@')[0];
  await emailField(page).fill(`${name}@gmial.com`);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(page.locator('main').getByRole('alert').filter({ hasText: /./ })).toHaveText(
    `Did you mean ${name}@gmail.com?`,
  );
  await expect(emailField(page)).toHaveValue(`${name}@gmial.com`);
});

for (const provider of ['Google', 'Facebook']) {
  test(`without JavaScript, signing in with ${provider} leads back to the page the reader wanted`, async ({ page }) => {
    const email = newEmail('plain');
    await page.goto('/socialLogin?return=%2Fsection%2Fpolitics');
    await page.getByRole('link', { name: `Continue with ${provider}` }).click();
    await page.getByLabel('Another account', { exact: false }).first().check();
    await page.getByLabel('Email address of another account').fill(email);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Create my account' }).click();
    await expect(page).toHaveURL(/\/section\/politics$/);
    await expectSignedIn(page, email);
  });
}

test('without JavaScript, a form signs up for newsletters, and the emailed link confirms it', async ({ page }) => {
  const email = newEmail('letters');
  await page.goto('/newsletter');
  await page.getByLabel(/Evening Sun/).check();
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await expect(heading(page)).toHaveText('Thank you for subscribing to The Sun');
  await expect(page.getByText('Please check your inbox for a one-click verification link')).toBeVisible();
  await expect(page.getByRole('link', { name: /^Open / })).toHaveCount(3);
  await page.goto((await linkTo(email)).text);
  await page.getByRole('button', { name: 'Create my account' }).click();
  await expect(heading(page)).toHaveText('You’re signed up');
  await expect(page.locator('main')).toContainText('Evening Sun');
});

for (const path of ['/newsletter-signUp', '/offer/newsletter', '/']) {
  test(`without JavaScript, the newsletter form on ${path} sends a confirmation link`, async ({ page }) => {
    const email = newEmail('letters');
    await page.goto(path);
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('button', { name: /^(Sign up|Subscribe)$/ }).click();
    await expect(heading(page)).toHaveText('Thank you for subscribing to The Sun');
    await linkTo(email);
  });
}

test('without JavaScript, signing out by the form ends the session', async ({ page }) => {
  const email = newEmail();
  await askFor(page, email);
  await page.goto((await linkTo(email)).text);
  await page.getByRole('button', { name: 'Create my account' }).click();
  await expectSignedIn(page, email);
  await page.locator('main').getByRole('button', { name: 'Sign out' }).click();
  await expect(heading(page)).toHaveText('You’re signed out');
  await page.goto('/dashboard/account');
  await expect(page).toHaveURL(/\/socialLogin/);
});
