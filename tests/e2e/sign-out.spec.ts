/** Signing out ends every session of the reader (spec section 6), also on their other devices. */
import type { BrowserContext, Page } from '@playwright/test';
import { sharedFor } from '../../src/lib/accounts/storage.ts';
import { sessionName } from '../../src/lib/accounts/visitor.ts';
import { correctionsId } from '../../src/lib/corrections/schema.ts';
import { expect, expectAnonymous, expectSignedIn, signIn, signInByMail, test } from '../world/readers.ts';

const plain = '/about';

async function signOut(page: Page): Promise<void> {
  await page.locator('.site-header').getByRole('button', { name: 'Account' }).click();
  // The page is fetched again, without the former reader's data.
  const again = page.waitForEvent('load');
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await again;
  await expectAnonymous(page);
}

/** A reader with two tabs here and one on another device. */
async function everywhere(context: BrowserContext, phone: BrowserContext) {
  const email = await signIn(context);
  await signInByMail(phone, email, 'login');
  // Prevents the question about corrections, seconds after a page: its answer would tell the other device, too.
  for (const each of [context, phone])
    await each.addInitScript((name) => localStorage.setItem(name, `${Date.now()}`), correctionsId);
  const [here, tab, there] = [await context.newPage(), await context.newPage(), await phone.newPage()];
  for (const page of [here, tab, there]) {
    await page.goto(plain);
    await expectSignedIn(page);
    // At first the header relies on a hint cookie; the device knows only what the site has answered, which may be outdated.
    await page.waitForFunction((name) => localStorage.getItem(name) !== null, sessionName);
  }
  return { here, tab, there };
}

const session = async (context: BrowserContext): Promise<number> =>
  (await context.request.get('/blaize/account')).status();

test('signing out reaches another tab at once, and another device with its next page', async ({
  context,
  newDevice,
}) => {
  const phone = await newDevice();
  const { here, tab, there } = await everywhere(context, phone);
  // The header of a reader who is signed in is fetched when the browser is idle.
  await expect(tab.locator('.site-header astro-island:not([ssr])')).toBeAttached();
  const asked: string[] = [];
  tab.on('request', (request) => {
    // The browser itself fetches the shared dictionary, once it is idle.
    if (!request.url().endsWith('.dict')) asked.push(request.url());
  });
  await signOut(here);
  await expectAnonymous(tab);
  expect(asked, 'requests of the other tab after the sign-out').toEqual([]);
  await there.goto('/dashboard/account');
  await expect(there).toHaveURL(/\/socialLogin\?return=%2Fdashboard%2Faccount$/);
  expect(await phone.cookies(), 'nothing is left of the session').toEqual([]);
  await there.goto(plain);
  await expectAnonymous(there);
  expect([await session(context), await session(phone)]).toEqual([401, 401]);
});

test('signing out reaches another device’s header once its stored session data is too old', async ({
  context,
  newDevice,
}) => {
  const phone = await newDevice();
  const { here, there } = await everywhere(context, phone);
  await signOut(here);
  await there.clock.setSystemTime(Date.now() + sharedFor);
  const answered = there.waitForResponse((response) => response.url().endsWith('/zephr/feature-decisions'));
  await there.goto('/privacy-policy');
  expect(await (await answered).json()).toMatchObject({ accessDetails: { authenticated: false } });
  await expectAnonymous(there);
  await there.reload();
  await expectAnonymous(there);
});

test('after signing out, going back shows nothing of the dashboard', async ({ context }) => {
  const email = await signIn(context);
  const page = await context.newPage();
  await page.goto('/dashboard/account');
  await expect(page.locator('main')).toContainText(email);
  await page.goto(plain);
  await expectSignedIn(page);
  await signOut(page);
  await page.goBack();
  await expect(page).toHaveURL(/\/socialLogin\?return=%2Fdashboard%2Faccount$/);
  await expect(page.getByText(email)).toHaveCount(0);
});
