/**
 * Page guards in both directions (spec section 6): readers who aren't signed in are redirected to sign in and back, signed-in
 * readers to their account.
 */
import { pathsOf } from '../../src/lib/http/fixed-pages.ts';
import { intercept } from '../world/intercept.ts';
import {
  codeTo,
  emailField,
  expect,
  islandsReady,
  linkTo,
  newEmail,
  signIn,
  test,
  typeCode,
} from '../world/readers.ts';

const guarded = [
  '/dashboard/account',
  '/dashboard/profile',
  '/dashboard/shipping',
  '/dashboard/contact',
  ...pathsOf('signedIn'),
];

test('account pages redirect a signed-out reader to the sign-in page with 303 and an empty body', async ({
  request,
}) => {
  for (const path of guarded) {
    const answer = await request.get(`${path}?from=mail`, { maxRedirects: 0 });
    expect(answer.status(), path).toBe(303);
    expect(answer.headers().location, path).toBe(`/socialLogin?return=${encodeURIComponent(`${path}?from=mail`)}`);
    expect(answer.headers()['cache-control'], path).toBe('private, no-store');
    expect(await answer.text(), path).toBe('');
  }
});

test('the sign-in page works although the form’s script fails to load once', async ({ page }) => {
  let failed = 0;
  await intercept(page, '**/_assets/*SignIn*', (route) => (failed++ === 0 ? route.abort() : route.continue()));
  await page.goto('/socialLogin');
  await islandsReady(page);
  await emailField(page).fill(newEmail('guard'));
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-step="sent"]')).toBeVisible();
  await expect(page).toHaveURL(/\/socialLogin$/);
  expect(failed).toBeGreaterThan(1);
});

test('a signed-out reader who opens the profile signs in by code and lands on the profile', async ({ page }) => {
  const email = newEmail('guard');
  await page.goto('/dashboard/profile');
  await expect(page).toHaveURL(/\/socialLogin\?return=%2Fdashboard%2Fprofile$/);
  await islandsReady(page);
  await emailField(page).fill(email);
  await page.keyboard.press('Enter');
  const link = await linkTo(email);
  await page.getByRole('button', { name: 'Login with code instead' }).click();
  await typeCode(page, (await codeTo(email, link.number)).text);
  await expect(page).toHaveURL(/\/dashboard\/profile$/);
  await expect(page.getByRole('heading', { name: 'Profile Information' })).toBeVisible();
  await expect(page.locator('main')).toContainText(email);
});

test('a signed-out reader who opens the profile signs in by link on another device and lands there', async ({
  page,
  newDevice,
}) => {
  const email = newEmail('guard');
  await page.goto('/profile');
  await emailField(page).fill(email);
  await page.keyboard.press('Enter');
  const phone = await (await newDevice()).newPage();
  await phone.goto((await linkTo(email)).text);
  await phone.getByRole('button', { name: 'Create my account' }).click();
  await expect(phone).toHaveURL(/\/profile$/);
  await expect(phone.locator('main')).toContainText(email);
});

test('the sign-in page redirects a signed-in reader, and only to addresses on this site', async ({ context, page }) => {
  const email = await signIn(context, newEmail('guard'));
  await page.goto('/socialLogin?return=%2Fprofile');
  await expect(page).toHaveURL(/\/profile$/);
  await expect(page.locator('main')).toContainText(email);
  for (const [wanted, end] of [
    ['', '/'],
    ['?return=%2Fabout', '/about'],
    ['?return=https%3A%2F%2Felsewhere.example%2F', '/'],
    ['?return=%2F%2Felsewhere.example', '/'],
    ['?return=%2FsocialLogin', '/'],
  ] as const) {
    const answer = await context.request.get(`/socialLogin${wanted}`, { maxRedirects: 0 });
    expect([answer.status(), answer.headers().location], wanted).toEqual([303, end]);
    expect(answer.headers()['cache-control'], wanted).toBe('private, no-store');
  }
  for (const path of guarded) expect((await context.request.get(path, { maxRedirects: 0 })).status(), path).toBe(200);
});

test('a forged session cookie is rejected and deleted', async ({ context, page, baseURL }) => {
  const url = baseURL ?? '';
  await context.addCookies([
    { name: 'visitor', value: 'founder', url },
    { name: 'blaize_session', value: 'A'.repeat(43), url },
  ]);
  await page.goto('/dashboard/account');
  await expect(page).toHaveURL(/\/socialLogin\?return=%2Fdashboard%2Faccount$/);
  expect(await context.cookies()).toEqual([]);
});
