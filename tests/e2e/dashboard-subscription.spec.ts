/** The subscription in the account: what it shows, how it is changed and canceled, and what happens when something is down. */
import { violationsOn } from '../world/axe.ts';
import { ask, sheet, step } from '../world/checkout.ts';
import { intercept } from '../world/intercept.ts';
import { test as base, expect } from '../world/readers.ts';
import { subscribeAt } from '../world/shop.ts';

const test = base.extend({ baseURL: ({ shop }, use) => use(shop.site) });
test.describe.configure({ mode: 'serial' });

test('a subscription is shown, canceled and resumed by keyboard alone', async ({ page, shop }) => {
  await subscribeAt(shop, page.context(), 'member-monthly');
  await page.goto('/dashboard/account');
  const plan = page.getByRole('region', { name: 'Your plan', exact: true });
  await expect(plan).toContainText('Sun Member (Digital Only)');
  await expect(plan.getByText('Renewal date')).toBeVisible();
  await expect(
    page.getByRole('region', { name: 'Invoices' }).getByRole('link', { name: /PDF of invoice/ }),
  ).toBeVisible();
  await expect(page.getByRole('region', { name: 'Payment method' })).toContainText('4242');
  expect(await violationsOn(page)).toEqual([]);

  await plan.getByRole('link', { name: 'Cancel your subscription' }).press('Enter');
  await page.getByRole('radio', { name: 'It costs too much' }).press('Space');
  expect(await violationsOn(page, 'main')).toEqual([]);
  await page.getByRole('button', { name: 'Continue' }).press('Enter');
  await expect(page.getByRole('heading', { name: 'Stay for $10 instead of $20?' })).toBeVisible();
  expect(await violationsOn(page, 'main')).toEqual([]);
  await page.getByRole('button', { name: 'Cancel subscription' }).press('Enter');
  await expect(page.getByRole('status').filter({ hasText: 'You won’t be charged again' })).toBeVisible();
  expect(await violationsOn(page, 'main')).toEqual([]);

  // Back in the account, a failure is shown where it happened, and the next press works without leaving the page.
  await page.goto('/dashboard/account');
  const resume = plan.getByRole('button', { name: 'Resume subscription' });
  await expect(page.locator('astro-island[ssr]')).toHaveCount(0);
  await intercept(page, '**/api/v1/me/subscription/resume', (route) => route.abort(), { times: 1 });
  await resume.press('Enter');
  await expect(plan.getByRole('alert')).toContainText('We couldn’t reach the server.');
  expect(await violationsOn(page, 'main')).toEqual([]);
  await resume.press('Enter');
  await expect(plan.getByText('Done. Your subscription continues.')).toBeFocused();
  await expect(plan.getByText('Renewal date')).toBeVisible();
});

test('choosing another plan opens the paywall with the amount due', async ({ page, shop }) => {
  await subscribeAt(shop, page.context(), 'reader-yearly');
  await page.goto('/dashboard/account');
  await page.getByRole('link', { name: 'Change to Sun Member, $200/year' }).click();
  await expect(sheet(page)).toBeVisible();
  await expect(step(page, 'payment').locator('[data-due]')).toHaveText('$80');
});

test('while Stripe is down, the invoice and payment panels show errors and a working link to try again, beside the plan', async ({
  page,
  shop,
}) => {
  await subscribeAt(shop, page.context(), 'reader-monthly');
  await ask('faults', { status: 500, times: 100 }, shop.stripe.access.apiUrl);
  await page.goto('/dashboard/account');
  const bills = page.getByRole('region', { name: 'Invoices' });
  await expect(bills.getByRole('alert')).toContainText('We can’t load your invoices right now.');
  const card = page.getByRole('region', { name: 'Payment method' });
  await expect(card.getByRole('alert')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Your plan', exact: true })).toContainText('Sun Reader');
  expect(await violationsOn(page, 'main')).toEqual([]);
  // At the first try, Stripe is still down.
  const loaded = page.waitForEvent('load');
  await bills.getByRole('link', { name: 'Try again' }).click();
  await loaded;
  await expect(bills.getByRole('alert')).toBeVisible();
  await fetch(`${shop.stripe.access.apiUrl}/_sandbox/faults`, { method: 'DELETE' });
  await card.getByRole('link', { name: 'Try again' }).click();
  await expect(card).toContainText('4242');
  await expect(bills.getByRole('link', { name: /PDF of invoice/ })).toBeVisible();
});
