/**
 * Sales tax in the paywall: the place is asked once, the tax is shown separately, and charged as shown (docs/operations.md,
 * "Tax").
 */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import {
  cardFields,
  cards,
  controlStripe,
  enterEmail,
  expectThanks,
  express,
  fillAddress,
  openPaywall,
  payButton,
  sheet,
  step,
  stripeAccount,
  waitForWallets,
  walletSheet,
} from '../world/checkout.ts';
import { test as base, expect, newEmail } from '../world/readers.ts';
import type { Shop } from '../world/shop.ts';

const test = base.extend({ baseURL: ({ taxShop }, use) => use(taxShop.site) });
// In one worker, so that its site starts once.
test.describe.configure({ mode: 'default' });

const place = (page: Page) => step(page, 'payment').getByRole('group', { name: 'Where you live' });
const country = (page: Page) => step(page, 'payment').getByLabel('Country');
const zip = (page: Page) => step(page, 'payment').getByLabel('ZIP code');
const due = (page: Page) => step(page, 'payment').locator('[data-due]');
const tax = (page: Page) => step(page, 'payment').locator('[data-tax]');

/** Fills in the card's fields; the address is known already. */
async function fillNumber(page: Page): Promise<void> {
  await cardFields(page).getByLabel('Card number').fill(cards.good);
  await cardFields(page).getByLabel('Expiration date').fill('12/34');
  await cardFields(page).getByLabel('Security code').fill('123');
}

async function charged(email: string, { stripe }: Shop) {
  const { charges, customer, invoices } = await stripeAccount(email, stripe.access.apiUrl);
  return { amounts: charges.map(({ amount }) => amount), customer, invoices };
}

test('the reader is asked for a place, and the total with its tax is shown and charged', async ({
  page,
  taxShop: shop,
}) => {
  const email = newEmail();
  await openPaywall(page, 'reader-yearly');
  await enterEmail(page, email);
  await expect(place(page)).toBeVisible();
  await expect(step(page, 'payment').getByText('Tell us where you live').first()).toBeVisible();
  await expect(payButton(page)).toBeDisabled();
  await country(page).selectOption('United States');
  await zip(page).fill('10038');
  await expect(due(page)).toHaveText('$129.90');
  await expect(tax(page)).toHaveText('$120.00 + $9.90 tax');
  await expect(step(page, 'payment').getByText('Total due after renewal')).toBeVisible();
  expect(await violationsOn(page, 'dialog')).toEqual([]);
  // The card's own fields don't ask for an address again.
  await expect(cardFields(page).getByLabel('ZIP code')).toBeHidden();
  await fillNumber(page);
  await expect(payButton(page)).toHaveText('Join the Sun$129.90');
  await payButton(page).click();
  await expectThanks(page);
  const { amounts, customer } = await charged(email, shop);
  expect(amounts).toEqual([12_990]);
  expect(customer.address).toMatchObject({ country: 'US', postal_code: '10038' });
});

test('a country with one tax rate needs no ZIP code, and a place without tax shows no tax', async ({ page }) => {
  await openPaywall(page, 'reader-yearly');
  await enterEmail(page, newEmail());
  await country(page).selectOption('United Kingdom');
  await expect(tax(page)).toHaveText(/\$20\.00/);
  await expect(due(page)).toHaveText('$120');
  await country(page).selectOption('United States');
  await zip(page).fill('90210');
  await expect(tax(page)).toHaveCount(0);
  await expect(due(page)).toHaveText('$120');
});

test('a print plan is taxed at the delivery address, without a second question about the place', async ({
  page,
  taxShop: shop,
}) => {
  const email = newEmail();
  await openPaywall(page, 'member-print-yearly', '/print');
  await enterEmail(page, email);
  await fillAddress(page);
  await step(page, 'shipping').getByRole('button', { name: 'Continue' }).click();
  await expect(due(page)).toHaveText('$303.10');
  await expect(tax(page)).toHaveText('$280.00 + $23.10 tax');
  await expect(place(page)).toHaveCount(0);
  // The address is filled in already, but the card's may differ.
  await expect(cardFields(page).getByLabel('ZIP code')).toHaveValue('10038');
  await fillNumber(page);
  await expect(payButton(page)).toBeEnabled();
  await payButton(page).click();
  await expectThanks(page);
  expect((await charged(email, shop)).amounts).toEqual([30_310]);
});

test.describe('a wallet’s billing address', () => {
  const pay = (page: Page) => walletSheet(page).getByRole('button', { name: 'Pay' });
  const tap = (page: Page) => express(page).getByRole('button', { name: 'Google Pay' }).click();
  test.beforeEach(({ page }) => waitForWallets(page));

  test('decides the tax, and a total that it changes is shown before it is charged', async ({
    page,
    taxShop: shop,
  }) => {
    const email = newEmail();
    await openPaywall(page, 'reader-yearly');
    await enterEmail(page, email);
    await expect(step(page, 'payment').getByText('Sales tax depends on your wallet’s billing address.')).toBeVisible();
    await tap(page);
    await expect(walletSheet(page).getByText('Total $120.00')).toBeVisible();
    await pay(page).click();
    await expect(walletSheet(page).getByRole('alert').filter({ hasText: 'The total is now $129.90.' })).toBeVisible();
    await walletSheet(page).getByRole('button', { name: 'Close' }).click();
    await expect(due(page)).toHaveText('$129.90');
    await expect(zip(page)).toHaveValue('10038');
    await expect(step(page, 'payment').getByText('The total is now $129.90.')).toBeVisible();
    await tap(page);
    await expect(walletSheet(page).getByText('Tax $9.90')).toBeVisible();
    await expect(walletSheet(page).getByText('Total $129.90')).toBeVisible();
    await pay(page).click();
    await expectThanks(page);
    const { amounts, customer } = await charged(email, shop);
    expect(amounts).toEqual([12_990]);
    expect(customer.address).toMatchObject({ country: 'US', postal_code: '10038' });
  });

  test('in a place without tax lets the reader pay at the first tap', async ({ page, taxShop: shop }) => {
    const email = newEmail();
    await openPaywall(page, 'reader-monthly');
    await enterEmail(page, email);
    await tap(page);
    await walletSheet(page).getByLabel('Postal code').fill('90210');
    await pay(page).click();
    await expectThanks(page);
    const { amounts, customer } = await charged(email, shop);
    expect(amounts).toEqual([1200]);
    expect(customer.address).toMatchObject({ country: 'US', postal_code: '90210' });
  });
});

test('on a domain that is not registered for wallets, only the card form is shown', async ({ page, taxShop: shop }) => {
  const { apiUrl } = shop.stripe.access;
  await controlStripe('domains', { name: '127.0.0.1' }, apiUrl, 'DELETE');
  try {
    await openPaywall(page, 'reader-yearly');
    await enterEmail(page, newEmail());
    await expect(cardFields(page).getByLabel('Card number')).toBeVisible();
    await expect(page.locator('[data-express]')).toHaveCount(0);
    await expect(sheet(page).getByText('Express checkout')).toHaveCount(0);
    await expect(sheet(page).getByText('or pay by card')).toHaveCount(0);
    // No gap is left between the step's heading and the first question, once the form is shown.
    await expect(page.locator('[data-form][data-settled]')).toBeVisible();
    const heading = await step(page, 'payment').getByRole('heading').boundingBox();
    const question = await place(page).boundingBox();
    expect((question?.y ?? 0) - ((heading?.y ?? 0) + (heading?.height ?? 0))).toBeLessThan(32);
  } finally {
    await controlStripe('domains', { name: '127.0.0.1' }, apiUrl);
  }
});

for (const [width, height] of [
  [390, 664],
  [768, 1024],
  [1280, 800],
  [1366, 650],
] as const) {
  test(`the questions of the payment step fit at ${width}×${height}`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await openPaywall(page, 'reader-yearly');
    await enterEmail(page, newEmail());
    await expect(zip(page)).toBeVisible();
    await zip(page).fill('10038');
    await expect(tax(page)).toBeVisible();
    const overflow = await page.locator('dialog').evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  });
}
