/** Newsletters, from the form and the link to the stored choices (spec section 2: /newsletter, /offer/newsletter). */
import type { BrowserContext, Page } from '@playwright/test';
import { expect, islandsReady, linkTo, newEmail, newestLetter, profileOf, signIn, test } from '../world/readers.ts';
import { testSite } from '../world/world.ts';

/** Newsletters of the reader who is signed in. */
async function choicesOf(context: BrowserContext): Promise<readonly string[]> {
  const answer = await context.request.get('/api/v1/me/newsletters');
  return ((await answer.json()) as { choices: readonly string[] }).choices;
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 });
const thanks = (page: Page) => page.getByText('Thank you for subscribing to The Sun');

async function signUp(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Sign up' }).click();
}

test('newsletter choices are saved when the emailed link is opened, on any device', async ({ page, newDevice }) => {
  const email = newEmail('letters');
  await page.goto('/newsletter');
  await expect(page.getByLabel(/^Morning Sun/)).toBeChecked();
  await page.getByLabel(/^Morning Sun/).uncheck();
  await page.getByLabel(/^Evening Sun/).check();
  await signUp(page, email);
  await expect(thanks(page)).toBeVisible();
  await expect(page.getByText('Please check your inbox for a one-click verification link')).toBeVisible();

  const device = await newDevice();
  const phone = await device.newPage();
  await phone.goto((await linkTo(email)).text);
  await phone.getByRole('button', { name: 'Create my account' }).click();
  await expect(heading(phone)).toHaveText('You’re signed up');
  await expect(phone.locator('main')).toContainText('Next in your inbox: Evening Sun.');
  expect(await choicesOf(device)).toEqual(['evening']);

  // Now the reader is known: further choices take effect at once, without a mail.
  await phone.goto('/newsletter');
  await signUp(phone, email);
  await expect(phone.locator('main')).toContainText('Next in your inbox: Morning Sun.');
  expect(await choicesOf(device)).toEqual(['morning', 'evening']);
});

test('a reader with an account signs in by the newsletter link and keeps the profile', async ({ page, newDevice }) => {
  const device = await newDevice();
  const email = await signIn(device, newEmail('letters'));
  const saved = await device.request.post('/blaize/profile', {
    headers: { origin: testSite() },
    data: { first_name: 'Ada' },
  });
  expect(saved.status(), await saved.text()).toBe(200);
  const before = await newestLetter(email);
  await page.goto('/newsletter');
  await page.getByLabel(/^Evening Sun/).check();
  await signUp(page, email);
  await expect(thanks(page)).toBeVisible();
  const link = await linkTo(email, before);
  const phone = await device.newPage();
  await phone.goto(link.text);
  await phone.getByRole('button', { name: 'Sign in' }).click();
  await expect(phone.locator('main')).toContainText('Next in your inbox: Morning Sun and Evening Sun.');
  expect(await profileOf(device)).toMatchObject({ first_name: 'Ada' });
  expect(await choicesOf(device)).toEqual(['morning', 'evening']);
});

for (const path of ['/offer/newsletter', '/newsletter-signUp']) {
  test(`the form on ${path} subscribes the reader to the first newsletter`, async ({ page, newDevice }) => {
    const email = newEmail('letters');
    await page.goto(path);
    await islandsReady(page);
    const created = page.waitForResponse((response) => response.url().endsWith('/api/zephr-create'));
    await signUp(page, email);
    expect((await created).status()).toBe(200);
    await expect(thanks(page)).toBeVisible();
    const device = await newDevice();
    const phone = await device.newPage();
    await phone.goto((await linkTo(email)).text);
    await phone.locator('main form').getByRole('button', { name: 'Create my account' }).click();
    await expect(heading(phone)).toHaveText('You’re signed up');
    await expect(phone.locator('main')).toContainText('Next in your inbox: Morning Sun.');
    expect(await choicesOf(device)).toEqual(['morning']);
  });
}
