/** Google and Facebook, with the sandbox's consent pages. */
import type { Page } from '@playwright/test';
import type { SessionsAnswer } from '../../src/lib/accounts/schema.ts';
import { dialog, expect, expectAnonymous, expectSignedIn, linkTo, newEmail, test } from '../world/readers.ts';

async function openDialog(page: Page): Promise<void> {
  await page.goto('/about');
  await page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();
  await expect(dialog(page)).toBeVisible();
}

async function openWindow(page: Page, provider: 'Google' | 'Facebook'): Promise<Page> {
  const opened = page.waitForEvent('popup');
  await dialog(page)
    .getByRole('link', { name: `Continue with ${provider}` })
    .click();
  const popup = await opened;
  await popup.getByRole('button', { name: 'Continue' }).waitFor();
  return popup;
}

/** Consents with an address; the window then closes itself. */
async function consent(consentPage: Page, email: string): Promise<void> {
  await consentPage.getByLabel('Email address of another account').fill(email);
  await consentPage.getByRole('button', { name: 'Continue' }).click();
}

const error = (page: Page) => dialog(page).getByRole('alert').filter({ hasText: /./ });

for (const provider of ['Google', 'Facebook'] as const) {
  test(`${provider}: a new reader registers, and signs in again on another device`, async ({ page, newDevice }) => {
    const email = newEmail(provider.toLowerCase());
    await openDialog(page);
    const registered = page.waitForRequest((request) => request.url().endsWith('/blaize/register'));
    const popup = await openWindow(page, provider);
    await Promise.all([popup.waitForEvent('close'), consent(popup, email)]);
    const body = (await registered).postDataJSON() as Record<string, Record<string, unknown>>;
    expect(body.validators).toMatchObject({ token_exchange: expect.any(String) });
    expect(body.identifiers).toEqual({});
    await expect(dialog(page)).toBeHidden();
    await expectSignedIn(page);

    const laptop = await (await newDevice()).newPage();
    await openDialog(laptop);
    const again = await openWindow(laptop, provider);
    await Promise.all([again.waitForEvent('close'), consent(again, email)]);
    await expectSignedIn(laptop);
  });

  test(`${provider}: a reader who declines stays on the page and sees a message`, async ({ page }) => {
    await openDialog(page);
    const popup = await openWindow(page, provider);
    const closed = popup.waitForEvent('close');
    await popup.getByRole('button', { name: 'Cancel' }).click();
    await closed;
    await expect(error(page)).toHaveText('You canceled the sign-in.');
    await expectAnonymous(page);
  });

  test(`${provider}: a reader whose email address is not shared sees a message and the email field`, async ({
    page,
  }) => {
    await openDialog(page);
    const popup = await openWindow(page, provider);
    await popup.getByText('Options of this sign-in').click();
    await popup.getByLabel('Share the email address').uncheck();
    await Promise.all([popup.waitForEvent('close'), consent(popup, newEmail())]);
    await expect(error(page)).toContainText('didn’t share your email address');
    await expect(page.getByLabel('Please enter your email address below:')).toBeVisible();
  });
}

test('an email address that Google has not verified gets a sign-in link and no session', async ({
  page,
  newDevice,
}) => {
  const email = newEmail('unchecked');
  const owner = await (await newDevice()).newPage();
  await openDialog(owner);
  const first = await openWindow(owner, 'Facebook');
  await Promise.all([first.waitForEvent('close'), consent(first, email)]);
  await expectSignedIn(owner);

  await openDialog(page);
  const popup = await openWindow(page, 'Google');
  await popup.getByText('Options of this sign-in').click();
  // Anyone can create an account there that claims the address.
  await popup.getByLabel('The address is verified').uncheck();
  await Promise.all([popup.waitForEvent('close'), consent(popup, email)]);
  await expect(dialog(page).getByText('login link has been sent to')).toBeVisible();
  await expectAnonymous(page);
});

test('a provider that doesn’t answer ends in an error message, and the next attempt works', async ({ page }) => {
  await openDialog(page);
  const popup = await openWindow(page, 'Google');
  await popup.getByText('Options of this sign-in').click();
  await popup.getByLabel('The token endpoint').selectOption('never responds');
  await consent(popup, newEmail('silent'));
  await expect(error(page)).toHaveText('Something went wrong. Please try again.');
  await expectAnonymous(page);
  const again = await openWindow(page, 'Google');
  await Promise.all([again.waitForEvent('close'), consent(again, newEmail('heard'))]);
  await expectSignedIn(page);
});

test('closing the provider’s window shows a message', async ({ page }) => {
  await openDialog(page);
  const popup = await openWindow(page, 'Google');
  await expect(dialog(page).getByText('Waiting for Google…')).toBeVisible();
  await popup.close();
  await expect(error(page)).toHaveText('The window was closed before you were signed in.');
});

test('when popup windows are blocked, the whole page goes to the provider and comes back', async ({ page }) => {
  await page.addInitScript(() => {
    window.open = () => null;
  });
  await openDialog(page);
  await dialog(page).getByRole('link', { name: 'Continue with Google' }).click();
  await consent(page, newEmail('blocked'));
  await expect(page).toHaveURL(/\/about$/);
  await expectSignedIn(page);
});

test('an address with an account gets a sign-in link to that account when it comes from another provider', async ({
  page,
  newDevice,
}) => {
  const email = newEmail('both');
  const laptop = await (await newDevice()).newPage();
  await openDialog(laptop);
  const google = await openWindow(laptop, 'Google');
  await Promise.all([google.waitForEvent('close'), consent(google, email)]);
  await expectSignedIn(laptop);

  await openDialog(page);
  const facebook = await openWindow(page, 'Facebook');
  await Promise.all([facebook.waitForEvent('close'), consent(facebook, email)]);
  await expect(dialog(page).getByText('login link has been sent to')).toBeVisible();
  await page.goto((await linkTo(email)).text);
  await expectSignedIn(page);
  // Both browsers are signed in to the same account.
  for (const one of [page, laptop]) {
    const { sessions } = (await (await one.request.get('/api/v1/me/sessions')).json()) as SessionsAnswer;
    expect(sessions).toHaveLength(2);
  }
});
