/** The printed paper (spec sections 2, 4 and 5): its address, with and without a script, and its upsell. */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { intercept } from '../world/intercept.ts';
import { expect, newEmail, pretend, signedInKinds, signIn, test } from '../world/readers.ts';

const address = { Name: 'Benjamin Day', Address: '222 William Street', City: 'New York', 'ZIP code': '10038' };

async function fill(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByLabel('State').selectOption('New York');
}

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the shipping address is saved, and errors are shown in the form', async ({ context, page }) => {
    await signIn(context, newEmail('paper'));
    await page.goto('/shipping');
    await fill(page, { ...address, 'ZIP code': '90210' });
    await page.getByRole('button', { name: 'Save address' }).click();
    await expect(page.getByText('90210 is not in New York.')).toBeVisible();
    await expect(page.getByLabel('Name')).toHaveValue(address.Name);
    await expect(page.getByLabel('State')).toHaveValue('NY');
    await page.getByLabel('ZIP code').fill('10038');
    await page.getByRole('button', { name: 'Save address' }).click();
    await expect(page.getByRole('status')).toHaveText('Your shipping address has been saved.');
    await expect(page.locator('main address')).toContainText('New York, NY 10038');
    await page.getByRole('button', { name: 'Update Shipping Address' }).click();
    await expect(page.getByLabel('Address', { exact: true })).toHaveValue(address.Address);
  });
});

test.describe('the shipping address of the print edition', () => {
  test.beforeEach(({ context }) => signIn(context, newEmail('paper')));

  test('is saved and changed in place', async ({ page }) => {
    await page.goto('/shipping');
    await fill(page, { ...address, City: '' });
    await page.getByRole('button', { name: 'Save address' }).click();
    await expect(page.getByText('Please enter your city.')).toBeVisible();
    await expect(page.getByLabel('City')).toBeFocused();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByLabel('City').fill('New York');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('status')).toHaveText('Your shipping address has been saved.');
    await expect(page).toHaveURL(/\/shipping$/);
    await page.getByRole('button', { name: 'Update Shipping Address' }).click();
    await expect(page.getByLabel('Name')).toBeFocused();
    await page.getByLabel(/^Apartment/).fill('Attic');
    await page.getByRole('button', { name: 'Save address' }).click();
    await expect(page.locator('main address')).toContainText('Attic');
    await page.reload();
    await expect(page.locator('main address')).toContainText('Attic');
    expect(await violationsOn(page)).toEqual([]);
  });

  test('stays in the form when the server can’t be reached', async ({ page }) => {
    await page.goto('/shipping');
    await fill(page, address);
    await intercept(page, '**/api/v1/me/shipping', (route) => route.abort());
    await page.getByRole('button', { name: 'Save address' }).click();
    await expect(page.getByText('We couldn’t reach the server.')).toBeVisible();
    await expect(page.getByLabel('Address', { exact: true })).toHaveValue(address.Address);
    await page.unroute('**/api/v1/me/shipping');
    await page.getByRole('button', { name: 'Save address' }).click();
    await expect(page.getByRole('status')).toHaveText('Your shipping address has been saved.');
  });
});

test.describe('the upsell for the print edition', () => {
  const article = '/article/crack-closes-mississippi-bridge';
  const upsell = (page: Page) => page.getByRole('dialog', { name: 'Ink on paper, once a week.' });
  const isFetched = (url: string) => /PrintUpsell|print-upsell/.test(url);

  /** Opens a page with a stopped clock, and lets the page learn who is reading. */
  async function open(page: Page, path: string): Promise<void> {
    await page.clock.install();
    await page.goto(path, { waitUntil: 'networkidle' });
  }

  for (const path of ['/', article]) {
    test(`opens for a Sun Reader after two seconds, once a day, on ${path}`, async ({ context, page }) => {
      await pretend(context, 'reader', { upsell: true });
      await open(page, path);
      await page.clock.fastForward(2000);
      await expect(upsell(page)).toBeVisible();
      expect(await violationsOn(page, 'dialog[open]')).toEqual([]);
      await expect(upsell(page).getByRole('link', { name: 'Upgrade Today' })).toHaveAttribute('href', '/print');
      await page.keyboard.press('Escape');
      await expect(upsell(page)).toBeHidden();

      await page.goto(path, { waitUntil: 'networkidle' });
      await page.clock.fastForward(60_000);
      await expect(upsell(page)).toBeHidden();
      await page.clock.fastForward('24:00:00');
      await page.goto(path, { waitUntil: 'networkidle' });
      await page.clock.fastForward(2000);
      await expect(upsell(page)).toBeVisible();
      await upsell(page).getByRole('button', { name: 'Not now' }).click();
      await expect(upsell(page)).toBeHidden();
    });
  }

  test('is not shown on a page with a campaign', async ({ context, page }) => {
    await pretend(context, 'reader', { upsell: true });
    await context.addInitScript(() =>
      addEventListener('DOMContentLoaded', () => {
        document.body.append(Object.assign(document.createElement('div'), { id: 'spring' }));
        document.querySelector('#spring')?.setAttribute('data-campaign', 'spring');
      }),
    );
    await open(page, '/');
    await page.clock.fastForward(10_000);
    expect(await page.evaluate(() => localStorage.getItem('print-edition-promo-last-seen'))).toBeNull();
    await expect(upsell(page)).toBeHidden();
  });

  for (const kind of ['anonymous', ...signedInKinds.filter((each) => each !== 'reader')] as const) {
    test(`is neither shown nor fetched for visitor kind ${kind}`, async ({ context, page }) => {
      if (kind !== 'anonymous') await pretend(context, kind, { upsell: true });
      const fetched: string[] = [];
      page.on('request', (request) => fetched.push(request.url()));
      for (const path of ['/', article]) {
        await open(page, path);
        await page.clock.fastForward(10_000);
        await expect(upsell(page)).toBeHidden();
      }
      expect(fetched.filter(isFetched)).toEqual([]);
    });
  }

  test('is not shown on a section page', async ({ context, page }) => {
    await pretend(context, 'reader', { upsell: true });
    await open(page, '/section/culture');
    await page.clock.fastForward(10_000);
    await expect(upsell(page)).toBeHidden();
    expect(await page.evaluate(() => localStorage.getItem('print-edition-promo-last-seen'))).toBeNull();
  });
});
