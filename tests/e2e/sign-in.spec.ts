/** Signing in through the popup on stored pages, with the sandbox's mailbox. Social sign-in: sign-in-social.spec.ts. */
import type { Page } from '@playwright/test';
import { intercept } from '../world/intercept.ts';
import {
  accountCalls,
  askFor,
  askForCode,
  boxes,
  codeTo,
  dialog,
  emailField,
  expect,
  expectAnonymous,
  expectSignedIn,
  lettersTo,
  linkTo,
  newEmail,
  newestLetter,
  signInByMail,
  test,
  typeCode,
  wrongCode,
} from '../world/readers.ts';

const invalid = 'Invalid code. Please check the code and try again.';
const error = (page: Page) => dialog(page).getByRole('alert').filter({ hasText: /./ });
const confirm = (page: Page) => page.getByRole('button', { name: 'Confirm' });

test.describe('signing in by link', () => {
  test('returns a new reader to the page, and signs in the tab that waited', async ({ page, context }) => {
    const email = newEmail();
    await askFor(page, email, '/section/politics');
    await expect(page.getByLabel('Email address', { exact: true }).and(page.locator('[readonly]'))).toHaveValue(email);

    const tab = await context.newPage();
    // In the browser that requested the link, the page presses the button itself.
    await tab.goto((await linkTo(email)).text);
    await expect(tab).toHaveURL(/\/section\/politics$/);
    await expectSignedIn(tab);

    await expect(dialog(page)).toBeHidden();
    await expectSignedIn(page);
  });

  test('on a second device signs in only that device', async ({ page, newDevice }) => {
    const email = newEmail();
    await askFor(page, email);
    const phone = await (await newDevice()).newPage();
    await phone.goto((await linkTo(email)).text);
    await expect(phone.getByText(email)).toBeVisible();
    await phone.getByRole('button', { name: 'Create my account' }).click();
    await expect(phone).toHaveURL(/\/about$/);
    await expectSignedIn(phone);
    await expect(dialog(page)).toBeVisible();
    await page.keyboard.press('Escape');
    await expectAnonymous(page);
  });

  test('with a used link says that it was used, and leads to a new one', async ({ page, newDevice }) => {
    const email = newEmail();
    await askFor(page, email);
    const link = (await linkTo(email)).text;
    const [phone, other] = [await (await newDevice()).newPage(), await (await newDevice()).newPage()];
    await phone.goto(link);
    await phone.getByRole('button', { name: 'Create my account' }).click();
    await expectSignedIn(phone);
    await other.goto(link);
    await expect(other.getByRole('heading', { level: 1 })).toHaveText('This link has been used');
    await other.getByRole('link', { name: 'Get a new link or code' }).click();
    await expect(emailField(other)).toBeVisible();
  });

  test('still works after a mail scanner has opened the link', async ({ page, request, newDevice }) => {
    const email = newEmail();
    await askFor(page, email);
    const link = (await linkTo(email)).text;
    for (let look = 0; look < 3; look += 1) expect((await request.get(link)).status()).toBe(200);
    const phone = await (await newDevice()).newPage();
    await phone.goto(link);
    await phone.getByRole('button', { name: 'Create my account' }).click();
    await expectSignedIn(phone);
  });

  test('sends the link again on request, and shows “Resent!” for a moment', async ({ page }) => {
    const email = newEmail();
    await page.clock.install();
    await askFor(page, email);
    const first = await linkTo(email);
    await page.getByRole('button', { name: 'Resend' }).click();
    await expect(dialog(page).getByRole('status')).toHaveText('Resent!');
    expect((await linkTo(email, first.number)).text).not.toBe(first.text);
    await page.clock.runFor(10_000);
    await expect(dialog(page).getByRole('status')).toBeEmpty();
  });

  test('sends the link to another address after Edit', async ({ page }) => {
    const [wrong, right] = [newEmail('wrong'), newEmail('right')];
    await askFor(page, wrong);
    await page.getByRole('button', { name: 'Edit' }).click();
    await expect(emailField(page)).toBeFocused();
    await expect(emailField(page)).toHaveValue(wrong);
    await emailField(page).fill(right);
    await page.keyboard.press('Enter');
    await expect(dialog(page).getByText('login link has been sent to')).toBeVisible();
    await linkTo(right);
    // Mails are sent in parallel, in no particular order.
    await expect.poll(() => lettersTo(wrong)).toHaveLength(1);
  });
});

test.describe('signing in by code', () => {
  test('keeps the step and the address after a reload', async ({ page }) => {
    const email = newEmail();
    const code = await askForCode(page, email);
    await page.reload();
    await expect(boxes(page)).toHaveCount(6);
    await expect(dialog(page)).toContainText(email);
    await typeCode(page, code);
    await expectSignedIn(page);
    await page.reload();
    await expectSignedIn(page);
    await expect(dialog(page)).toHaveCount(0);
  });

  test('does not reopen a closed popup after a reload', async ({ page }) => {
    await askForCode(page, newEmail());
    await page.keyboard.press('Escape');
    await expect(dialog(page)).toHaveCount(0);
    await page.reload();
    await expect(dialog(page)).toHaveCount(0);
    // Nor does a late answer continue it: the next attempt begins at the first step.
    await page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();
    await expect(emailField(page)).toBeVisible();
    await expect(boxes(page)).toHaveCount(0);
  });

  test('keeps the step after a reload on the sign-in page', async ({ page }) => {
    const email = newEmail();
    await page.goto('/socialLogin?return=%2Fabout');
    await emailField(page).fill(email);
    // Before the island is hydrated the form is posted, and the next page has one field for the code.
    await expect(page.locator('astro-island[ssr]').filter({ has: emailField(page) })).toHaveCount(0);
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByRole('button', { name: 'Login with code instead' }).click();
    await expect(boxes(page)).toHaveCount(6);
    await linkTo(email);
    await page.reload();
    await expect(boxes(page)).toHaveCount(6);
    await typeCode(page, (await codeTo(email)).text);
    await expect(page).toHaveURL(/\/about$/);
    await expectSignedIn(page);
  });

  test('empties the boxes when a new code is requested', async ({ page }) => {
    const code = await askForCode(page, newEmail());
    await typeCode(page, wrongCode(code));
    await expect(error(page)).toHaveText(invalid);
    await page.getByRole('button', { name: 'Click to resend.' }).click();
    await expect(dialog(page).getByRole('status')).toHaveText('Resent!');
    for (const box of await boxes(page).all()) await expect(box).toHaveValue('');
    await expect(boxes(page).first()).toBeFocused();
  });

  test('registers a new reader, and later signs the same reader in', async ({ page, newDevice }) => {
    const email = newEmail();
    const registered = page.waitForRequest((request) => request.url().endsWith('/blaize/register'));
    await typeCode(page, await askForCode(page, email));
    expect((await registered).postDataJSON()).toMatchObject({ identifiers: { email_address: email } });
    await expect(dialog(page)).toBeHidden();
    await expectSignedIn(page);
    await page.reload();
    await expectSignedIn(page);

    const laptop = await (await newDevice()).newPage();
    const signedIn = laptop.waitForRequest((request) => request.url().endsWith('/blaize/login'));
    await typeCode(laptop, await askForCode(laptop, email));
    await signedIn;
    await expectSignedIn(laptop);
  });

  test('submits a pasted code automatically', async ({ page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const code = await askForCode(page, newEmail());
    await page.evaluate((text) => navigator.clipboard.writeText(`Your code is ${text}.`), code);
    await boxes(page).nth(3).click();
    await page.keyboard.press('ControlOrMeta+v');
    await expectSignedIn(page);
  });

  test('keeps a wrong code in its boxes, and tries again only on Confirm', async ({ page }) => {
    const code = await askForCode(page, newEmail());
    await typeCode(page, wrongCode(code));
    await expect(error(page)).toHaveText(invalid);
    await expect(boxes(page).first()).toBeFocused();
    await expect(boxes(page).first()).toHaveValue(wrongCode(code).charAt(0));
    await page.keyboard.type(code);
    await expect(boxes(page).last()).toHaveValue(code.charAt(5));
    await expect(error(page)).toHaveText(invalid);
    await confirm(page).click();
    await expectSignedIn(page);
  });

  test('rejects a used code', async ({ page, newDevice }) => {
    const email = newEmail();
    await signInByMail(await newDevice(), email);
    const { text: code } = await codeTo(email);
    const fresh = await askForCode(page, email);
    expect(fresh, 'one time in a million both codes are the same').not.toBe(code);
    await typeCode(page, code);
    await expect(error(page)).toHaveText(invalid);
    await page.keyboard.press('Escape');
    await expectAnonymous(page);
  });

  test('rejects the sixth guess even when it is right', async ({ page }) => {
    const code = await askForCode(page, newEmail());
    await typeCode(page, wrongCode(code));
    await expect(error(page)).toHaveText(invalid);
    const checked = () => page.waitForResponse((response) => response.url().endsWith('/otp-check'));
    for (let guess = 2; guess <= 5; guess += 1) {
      const answer = checked();
      await confirm(page).click();
      expect((await answer).status()).toBeGreaterThanOrEqual(400);
      await expect(confirm(page)).toBeVisible();
    }
    await typeCode(page, code);
    const answer = checked();
    await confirm(page).click();
    expect((await answer).status()).toBeGreaterThanOrEqual(400);
    await expect(error(page)).not.toBeEmpty();
    await page.keyboard.press('Escape');
    await expectAnonymous(page);
  });

  test('rejects a code under six characters without a request, and sends a new code on demand', async ({
    page,
    context,
  }) => {
    const email = newEmail();
    await askForCode(page, email);
    const last = await newestLetter(email);
    const calls = accountCalls(context);
    await page.keyboard.type('123');
    await confirm(page).click();
    await expect(error(page)).toHaveText('Code must be six characters.');
    expect(calls.all).toEqual([]);
    await page.getByRole('button', { name: 'Click to resend.' }).click();
    await expect(dialog(page).getByRole('status')).toHaveText('Resent!');
    await typeCode(page, (await codeTo(email, last)).text);
    await confirm(page).click();
    await expectSignedIn(page);
  });
});

test.describe('the email address', () => {
  test('with a typo brings a suggestion that one click accepts', async ({ page }) => {
    await page.goto('/about');
    await page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();
    const name = newEmail().split('@')[0];
    await emailField(page).fill(`${name}@gmial.com`);
    await page.keyboard.press('Enter');
    await expect(error(page)).toHaveText(`Did you mean ${name}@gmail.com?`);
    await expect(emailField(page)).toHaveAttribute('aria-invalid', 'true');
    await page.getByRole('button', { name: `${name}@gmail.com` }).click();
    await expect(dialog(page).getByText('login link has been sent to')).toBeVisible();
    await linkTo(`${name}@gmail.com`);
  });

  test('is accepted when verification is unavailable', async ({ page }) => {
    await page.route('**/api/verification', (route) => route.abort());
    await askFor(page, newEmail());
  });

  test('is kept when the site can’t be reached', async ({ page, context }) => {
    await page.goto('/about');
    await page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();
    const email = newEmail();
    await emailField(page).fill(email);
    await context.setOffline(true);
    await page.keyboard.press('Enter');
    await expect(error(page)).toContainText('couldn’t reach the server');
    await expect(emailField(page)).toHaveValue(email);
    await context.setOffline(false);
    await page.keyboard.press('Enter');
    await expect(dialog(page).getByText('login link has been sent to')).toBeVisible();
  });

  test('over the request limit shows the server’s message', async ({ page }) => {
    await page.route('**/zephr/media/user/info', (route) =>
      route.fulfill({ status: 429, json: { message: 'Too many tries. Please wait 9 minutes.', retryAfter: 540 } }),
    );
    await page.goto('/about');
    await page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();
    await emailField(page).fill(newEmail());
    await page.keyboard.press('Enter');
    await expect(error(page)).toHaveText('Too many tries. Please wait 9 minutes.');
  });
});

test.describe('the sign-in popup', () => {
  const open = (page: Page) => page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();

  test('closes on Escape, a click outside or its button, and returns the focus', async ({ page }) => {
    await page.goto('/about');
    const link = page.locator('.site-header').getByRole('link', { name: 'Sign In' });
    for (const close of [
      () => page.keyboard.press('Escape'),
      () => page.mouse.click(10, 300),
      () => dialog(page).getByRole('button', { name: 'Close' }).click(),
    ]) {
      await link.focus();
      await page.keyboard.press('Enter');
      await expect(dialog(page)).toBeVisible();
      await expect(emailField(page)).toBeFocused();
      await close();
      await expect(dialog(page)).toBeHidden();
      await expect(link).toBeFocused();
    }
    await expect(page).toHaveURL(/\/about$/);
  });

  test('has its heading and links to the terms and the privacy policy', async ({ page }) => {
    await page.goto('/about');
    await open(page);
    await expect(dialog(page)).toHaveAccessibleName('Sign in or create a free account');
    await expect(dialog(page).getByRole('link', { name: 'terms of use' })).toHaveAttribute(
      'href',
      '/privacy-policy#Terms-of-use',
    );
    await expect(dialog(page).getByRole('link', { name: 'privacy policy' })).toHaveAttribute('href', '/privacy-policy');
  });

  test('keeps the focus inside', async ({ page }) => {
    await page.goto('/about');
    await open(page);
    await expect(emailField(page)).toBeFocused();
    for (let tab = 0; tab < 12; tab += 1) {
      await page.keyboard.press('Tab');
      const inside = await page.evaluate(
        () => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null,
      );
      expect(inside).toBe(true);
    }
  });

  test('moves nothing on the page behind it', async ({ page }) => {
    await page.goto('/about');
    const place = () => page.locator('main h1').first().boundingBox();
    const before = await place();
    await open(page);
    await expect(dialog(page)).toBeVisible();
    expect(await place()).toEqual(before);
  });

  test('is replaced by the sign-in page when its script can’t be fetched', async ({ page }) => {
    await page.goto('/about');
    await intercept(page, '**/_assets/*AuthPopup*', (route) => route.abort());
    await open(page);
    await expect(page).toHaveURL(/\/socialLogin\?return=%2Fabout$/);
    await expect(emailField(page)).toBeVisible();
  });

  test('signs a reader in by keyboard alone', async ({ page }) => {
    const email = newEmail();
    await page.goto('/about');
    await page.locator('.site-header').getByRole('link', { name: 'Sign In' }).focus();
    await page.keyboard.press('Enter');
    await expect(emailField(page)).toBeFocused();
    await page.keyboard.type(email);
    await page.keyboard.press('Enter');
    await expect(dialog(page).getByText('login link has been sent to')).toBeFocused();
    const link = await linkTo(email);
    const code = page.getByRole('button', { name: 'Login with code instead' });
    for (let tab = 0; tab < 6 && !(await code.evaluate((button) => button === document.activeElement)); tab += 1) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await expect(boxes(page).first()).toBeFocused();
    await page.keyboard.type((await codeTo(email, link.number)).text);
    await expectSignedIn(page);
  });
});
