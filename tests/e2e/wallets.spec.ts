/**
 * Apple Pay, Google Pay and Link above the card form: one tap from a paywall to the opened story (docs/operations.md, "Wallets").
 */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import {
  answerBank,
  applyCoupon,
  cards,
  expectPaidOnce,
  expectThanks,
  express,
  failure,
  fillCard,
  join,
  openPaywall,
  payButton,
  sheet,
  step,
  stripeAccount,
  waitForWallets,
  walletSheet,
} from '../world/checkout.ts';
import { shiftsOn, watchShifts } from '../world/layout-shifts.ts';
import { expect, signIn, test } from '../world/readers.ts';

const restricted = '/article/what-subscribers-know-about-salt';
const paid = 'CANARY-subscriber-body';

const wallet = (page: Page, name: 'Google Pay' | 'Link') => express(page).getByRole('button', { name });
const pay = (page: Page) => walletSheet(page).getByRole('button', { name: 'Pay' });

test.beforeEach(({ page }) => waitForWallets(page));

test('a reader at a paywall pays with Google Pay and reads on', async ({ context, page }) => {
  const email = await signIn(context);
  await page.goto(restricted);
  await page.locator('section.paywall').getByRole('link', { name: 'Join Today' }).click();
  await wallet(page, 'Google Pay').click();
  await expect(walletSheet(page).getByText('Total $120.00')).toBeVisible();
  await pay(page).click();
  await expect(page.getByText(paid)).toBeVisible();
  await expect(sheet(page)).toHaveCount(0);
  await expectPaidOnce(email, 12_000);
  const { charges } = await stripeAccount(email);
  expect(charges[0]).toMatchObject({
    billing_details: { email, name: 'Benjamin Day', address: { postal_code: '10038' } },
    payment_method_details: { card: { wallet: { type: 'google_pay' } } },
  });
});

test('the wallet sheet shows the amount due after the coupon, and the bank can ask for confirmation', async ({
  context,
  page,
}) => {
  const email = await signIn(context);
  await openPaywall(page, 'reader-yearly');
  await applyCoupon(page, 'SUNSHINE20');
  await expect(payButton(page)).toContainText('$96');
  await wallet(page, 'Link').click();
  await expect(walletSheet(page).getByText('Discount (SUNSHINE20) -$24.00')).toBeVisible();
  await expect(walletSheet(page).getByText('Total $96.00')).toBeVisible();
  await walletSheet(page).getByLabel('Card').selectOption('Visa •••• 3184, authentication required');
  await pay(page).click();
  await answerBank(page, 'Complete');
  await expectThanks(page);
  await expectPaidOnce(email, 9600);
});

test('a dismissed wallet sheet charges nothing, a declined card shows an error, and another card pays', async ({
  context,
  page,
}) => {
  const email = await signIn(context);
  await openPaywall(page, 'reader-monthly');
  await wallet(page, 'Google Pay').click();
  await walletSheet(page).getByRole('button', { name: 'Cancel' }).click();
  await expect(walletSheet(page).locator('form')).toHaveCount(0);
  await wallet(page, 'Google Pay').click();
  await walletSheet(page).getByLabel('Card').selectOption('Visa •••• 0002, declined');
  await pay(page).click();
  await expect(step(page, 'payment').getByRole('alert').filter({ hasText: failure })).toBeVisible();
  expect((await stripeAccount(email)).charges).toEqual([]);
  await fillCard(page, cards.good);
  await join(page, '$12');
  await expectThanks(page);
  await expectPaidOnce(email, 1200);
});

test('the wallet buttons appear with the payment form, without a layout shift, and work by keyboard', async ({
  context,
  page,
}) => {
  await page.addInitScript(() => {
    // The start of the payment step: the form behind its outline, and then the form.
    new MutationObserver((_, observer) => {
      if (!document.querySelector('[data-form]')) return;
      performance.mark('payment-step');
      observer.disconnect();
    }).observe(document, { childList: true, subtree: true });
  });
  await watchShifts(page, 'blocked');
  await page.setViewportSize({ width: 390, height: 664 });
  await signIn(context);
  await page.goto(`${restricted}#join=reader-yearly`);
  await expect(payButton(page)).toBeVisible();
  await expect(wallet(page, 'Google Pay')).toBeVisible();
  const begun = await page.evaluate(() => performance.getEntriesByName('payment-step')[0]?.startTime);
  expect(begun).toBeDefined();
  const shifts = await shiftsOn(page);
  expect(shifts.filter(({ at }) => at >= Number(begun))).toEqual([]);
  expect(await violationsOn(page, 'dialog')).toEqual([]);
  await wallet(page, 'Google Pay').focus();
  await page.keyboard.press('Enter');
  await expect(pay(page)).toBeFocused();
  await walletSheet(page).getByRole('button', { name: 'Cancel' }).press('Enter');
  await expect(sheet(page)).toBeVisible();
  await expect(page.locator('iframe[title="Secure express checkout frame"]')).toBeFocused();
  await expect.poll(() => sheet(page).evaluate((dialog) => dialog.matches(':modal'))).toBe(true);
});

test('a wallet becomes the payment method of an active subscription', async ({ context, page }) => {
  const email = await signIn(context);
  await openPaywall(page, 'reader-yearly');
  await wallet(page, 'Google Pay').click();
  await pay(page).click();
  await expectThanks(page);
  await page.goto('/account/card');
  await expect(wallet(page, 'Link')).toBeVisible();
  expect(await violationsOn(page)).toEqual([]);
  await wallet(page, 'Link').click();
  await expect(walletSheet(page).getByText('For later payments')).toBeVisible();
  await pay(page).click();
  await expect(page.getByText('We’ll charge this card from now on')).toBeVisible();
  const { subscriptions } = await stripeAccount(email);
  const method = subscriptions[0]?.default_payment_method;
  expect(method).toMatch(/^pm_/);
  await expectPaidOnce(email, 12_000);
});
