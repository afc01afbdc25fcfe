/** From an article's paywall to its end, without leaving the page (spec section 4). */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import {
  answerBank,
  applyCoupon,
  cardFields,
  cards,
  enterEmail,
  expectPaidOnce,
  fillCard,
  join,
  payButton,
  sheet,
  step,
} from '../world/checkout.ts';
import { codeTo, expect, newEmail, newestLetter, signIn, test, typeCode } from '../world/readers.ts';
import { scriptsOf } from '../world/scripts.ts';

const restricted = '/article/what-subscribers-know-about-salt';
const paid = 'CANARY-subscriber-body';

const paywall = (page: Page) => page.locator('section.paywall');
const openAtWall = async (page: Page) => {
  await page.goto(restricted);
  await paywall(page).getByRole('link', { name: 'Join Today' }).click();
  await expect(sheet(page)).toBeVisible();
};

/** Marks the page, so that a reload would be noticed. */
const mark = (page: Page) => page.evaluate(() => document.documentElement.setAttribute('data-same', ''));

async function expectOpenInPlace(page: Page): Promise<void> {
  await expect(page.getByText(paid)).toBeVisible();
  await expect(paywall(page)).toHaveCount(0);
  await expect(sheet(page)).toHaveCount(0);
  await expect(page.locator('html[data-same]')).toHaveCount(1);
  await expect(page).toHaveURL(new RegExp(`${restricted}$`));
  await expect(page.getByRole('link', { name: 'See what comes with your subscription' })).toBeVisible();
  await expect(page.locator('.site-header').getByRole('button', { name: 'Account' })).toBeVisible();
  await expect(page.locator('.site-header').getByRole('link', { name: 'Upgrade' })).toBeVisible();
}

test('a new reader subscribes at a story’s paywall and reads on in the same page', async ({ page }) => {
  const email = newEmail();
  await openAtWall(page);
  await mark(page);
  await expect(page.getByText(paid)).toHaveCount(0);
  await sheet(page)
    .getByRole('radio', { name: /Monthly/ })
    .check();
  await enterEmail(page, email);
  await fillCard(page, cards.good);
  const top = await page.evaluate(() => window.scrollY);
  const opening = await page.locator('.prose[data-cut] > *').count();
  await join(page, '$12');
  await expectOpenInPlace(page);
  await expect.poll(async () => Math.abs((await page.evaluate(() => window.scrollY)) - top)).toBeLessThan(2);
  // The focus moves behind the opening and the status line, for readers with a screen reader.
  await expect(page.locator(`.prose > p[role="status"]:nth-child(${opening + 1}) + p`)).toBeFocused();
  await expectPaidOnce(email, 1200);
  // And it stays open.
  await page.reload();
  await expect(page.getByText(paid)).toBeVisible();
});

test('a signed-in reader starts at the payment step, and can confirm the payment with the bank', async ({
  context,
  page,
}) => {
  const email = await signIn(context);
  await openAtWall(page);
  await mark(page);
  await expect(page.getByRole('heading', { name: 'Step 2 of 2: Payment' })).toBeFocused();
  await expect(step(page, 'account')).toContainText(email);
  await fillCard(page, cards.asks);
  await join(page, '$120');
  await answerBank(page, 'Complete');
  await expectOpenInPlace(page);
  await expectPaidOnce(email, 12_000);
});

test('a reader whose address has an account signs in by code, and the chosen plan is kept', async ({
  page,
  newDevice,
}) => {
  const email = await signIn(await newDevice());
  await openAtWall(page);
  await mark(page);
  await sheet(page)
    .getByRole('radio', { name: /Monthly/ })
    .check();
  await enterEmail(page, email);
  await expect(step(page, 'account').getByRole('alert')).toHaveText('A user with this email already exists.');
  await step(page, 'account').getByRole('button', { name: 'Sign in?' }).click();
  await expect(page.getByLabel('Please enter your email address below:')).toHaveValue(email);
  const seen = await newestLetter(email);
  await step(page, 'account').getByRole('button', { name: 'Continue', exact: true }).click();
  await step(page, 'account').getByRole('button', { name: 'Login with code instead' }).click();
  await expect(page.getByRole('heading', { name: 'Please check your email.' })).toBeVisible();
  await typeCode(page, (await codeTo(email, seen)).text);
  await expect(page.getByRole('heading', { name: 'Step 2 of 2: Payment' })).toBeFocused();
  await fillCard(page, cards.good);
  await join(page, '$12');
  await expectOpenInPlace(page);
  await expectPaidOnce(email, 1200);
});

test('a mistyped email address gets a suggestion, and one click accepts it', async ({ page }) => {
  await openAtWall(page);
  const name = `ada.${Date.now()}`;
  await enterEmail(page, `${name}@gmial.com`);
  const suggestion = step(page, 'account').getByRole('button', { name: `${name}@gmail.com` });
  await expect(step(page, 'account').getByRole('alert')).toHaveText(`Did you mean ${name}@gmail.com?`);
  await suggestion.click();
  await expect(page.getByRole('heading', { name: 'Step 2 of 2: Payment' })).toBeFocused();
});

test('Change, Edit and Logout lead back to each step, keep the card number, and sign the reader out', async ({
  context,
  page,
}) => {
  const email = await signIn(context);
  await openAtWall(page);
  await expect(payButton(page)).toBeVisible();
  await cardFields(page).getByLabel('Card number').fill(cards.good);
  await step(page, 'account').getByRole('button', { name: 'Change' }).click();
  await expect(page.getByRole('heading', { name: 'Step 1 of 2: Account' })).toBeFocused();
  await expect(step(page, 'account')).toContainText(`Signed in as ${email}`);
  await step(page, 'payment').getByRole('button', { name: 'Edit' }).click();
  await expect(cardFields(page).getByLabel('Card number')).toHaveValue('4242 4242 4242 4242');
  await step(page, 'payment').getByRole('button', { name: 'Edit' }).click();
  await expect(payButton(page)).toBeHidden();
  await step(page, 'account').getByRole('button', { name: 'Change' }).click();
  await step(page, 'account').getByRole('button', { name: 'Logout' }).click();
  await expect(step(page, 'account').getByLabel('Email address')).toHaveValue('');
  await expect(page.locator('.site-header').getByRole('link', { name: 'Sign In' })).toBeAttached();
});

test('an article loads no paywall code until the paywall is opened, and Stripe.js only at the payment step', async ({
  page,
}) => {
  const scripts = scriptsOf(page);
  await page.goto(restricted, { waitUntil: 'networkidle' });
  const sizes = Object.values(await scripts.sizes());
  expect(sizes.length).toBeGreaterThan(0);
  expect(sizes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(12 * 1024);
  expect(scripts.urls.filter((url) => /PaywallModal\.island|stripe/i.test(url))).toEqual([]);
  await paywall(page).getByRole('link', { name: 'Join Today' }).click();
  await expect(step(page, 'account')).toBeVisible();
  expect(scripts.urls.filter((url) => /PaywallModal\.island/.test(url))).toHaveLength(1);
  // Stripe.js isn't loaded before the reader reaches the payment step.
  expect(scripts.urls.filter((url) => url.endsWith('/stripe.js'))).toEqual([]);
  await enterEmail(page, newEmail());
  await expect.poll(() => scripts.urls.filter((url) => url.endsWith('/stripe.js')).length).toBe(1);
});

for (const width of [360, 768, 1280]) {
  test(`the paywall is accessible and fits at ${width} pixels`, async ({ context, page }) => {
    await signIn(context);
    await page.setViewportSize({ width, height: 800 });
    await openAtWall(page);
    await expect(cardFields(page).getByLabel('Card number')).toBeVisible();
    await applyCoupon(page, 'EXPIRED');
    await expect(step(page, 'payment').getByRole('alert').filter({ hasText: 'expired' })).toBeVisible();
    expect(await violationsOn(page)).toEqual([]);
    const wide = await sheet(page).evaluate((element) => element.scrollWidth - element.clientWidth);
    expect(wide).toBe(0);
  });
}

test('a reader can subscribe with the keyboard alone', async ({ page }) => {
  const email = newEmail();
  await page.goto(restricted);
  await paywall(page).getByRole('link', { name: 'Join Today' }).press('Enter');
  await step(page, 'account').getByLabel('Email address').press('a');
  await page.keyboard.press('Backspace');
  await page.keyboard.type(email);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Step 2 of 2: Payment' })).toBeFocused();
  await fillCard(page, cards.good);
  // The Tab key skips a button that still waits for the sum.
  await expect(payButton(page)).toBeEnabled();
  await cardFields(page).getByLabel('ZIP code').press('Tab');
  await expect(step(page, 'payment').getByLabel('Coupon')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(payButton(page)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByText(paid)).toBeVisible();
  await expectPaidOnce(email, 12_000);
});
