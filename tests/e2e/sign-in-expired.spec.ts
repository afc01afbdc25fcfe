/** Links and codes used too late: after ten minutes (spec section 9), in the browser. */
import type { Page } from '@playwright/test';
import { letMinutesPass } from '../world/minutes-pass.ts';
import {
  askFor,
  askForCode,
  codeTo,
  dialog,
  emailField,
  expect,
  expectSignedIn,
  linkTo,
  newEmail,
  newestLetter,
  test,
  typeCode,
} from '../world/readers.ts';

const create = (page: Page) => page.getByRole('button', { name: 'Create my account' });
const heading = (page: Page) => page.getByRole('heading', { level: 1 });

test('a sign-in link expires after ten minutes, and its page leads to a new one', async ({ page, newDevice }) => {
  const email = newEmail('late');
  await askFor(page, email, '/about');
  const first = await linkTo(email);
  const device = await newDevice();
  const phone = await device.newPage();

  letMinutesPass(email, 9);
  await phone.goto(first.text);
  await expect(create(phone)).toBeVisible();
  // The reader waits a while before pressing the button.
  letMinutesPass(email, 1);
  await create(phone).click();
  await expect(heading(phone)).toHaveText('This link has expired');
  await expect(phone.getByText('Links work for 10 minutes.')).toBeVisible();
  expect((await phone.request.get(first.text)).status()).toBe(401);
  expect(await device.cookies()).toEqual([]);

  await phone.getByRole('link', { name: 'Get a new link or code' }).click();
  await emailField(phone).fill(email);
  await phone.keyboard.press('Enter');
  await expect(phone.getByText('login link has been sent to')).toBeVisible();
  const second = await linkTo(email, first.number);
  const laptop = await (await newDevice()).newPage();
  await laptop.goto(second.text);
  await create(laptop).click();
  await expect(laptop).toHaveURL(/\/$/);
  await expectSignedIn(laptop);
});

test('a sign-in code expires after ten minutes, and a new one is sent on request', async ({ page, context }) => {
  const email = newEmail('late');
  const first = await askForCode(page, email, '/about');
  letMinutesPass(email, 10);
  await typeCode(page, first);
  const alert = dialog(page).getByRole('alert').filter({ hasText: /./ });
  await expect(alert).toHaveText('Invalid code. Please check the code and try again.');
  expect((await context.cookies()).map(({ name }) => name)).not.toContain('blaize_session');

  const last = await newestLetter(email);
  await page.getByRole('button', { name: 'Click to resend.' }).click();
  await expect(dialog(page).getByRole('status')).toHaveText('Resent!');
  await typeCode(page, (await codeTo(email, last)).text);
  // After an error nothing is submitted automatically.
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expectSignedIn(page);
});

test('a sign-in code still works after nine minutes', async ({ page }) => {
  const email = newEmail('late');
  const code = await askForCode(page, email, '/about');
  letMinutesPass(email, 9);
  await typeCode(page, code);
  await expectSignedIn(page);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('an expired sign-in code is rejected as invalid, and a new one works', async ({ page }) => {
    const email = newEmail('late');
    await page.goto('/socialLogin?return=%2Fabout');
    await emailField(page).fill(email);
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByRole('button', { name: 'Login with code instead' }).click();
    const first = await codeTo(email);
    letMinutesPass(email, 10);
    const field = page.getByLabel(/^Verification code/);
    await field.fill(first.text);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await expect(page.getByRole('alert')).toHaveText('Invalid code. Please check the code and try again.');
    await page.getByRole('button', { name: 'Click to resend.' }).click();
    await field.fill((await codeTo(email, first.number)).text);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await expect(page).toHaveURL(/\/about$/);
    await page.goto('/profile');
    await expect(page.locator('main')).toContainText(email);
  });
});
