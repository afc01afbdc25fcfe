/** The page of the sandbox's Stripe: refunds, the clock, cards that fail, and no script. It needs no site. */

import { type Fixture, openFixture } from '../../sandbox/stripe/testing.ts';
import { expect, test } from '../world/readers.ts';

test.use({ javaScriptEnabled: false });

let fixture: Fixture;
test.beforeEach(async () => {
  fixture = await openFixture({ systemTime: Date.now });
  const { id } = await fixture.createPayingCustomer();
  await fixture.subscribe(id, 'price_reader_monthly');
});
test.afterEach(() => fixture.stop());

test('the sandbox’s Stripe page shows a payment and refunds it', async ({ page }) => {
  await page.goto(`${fixture.access.url}?view=payments`);
  const row = page.getByRole('row', { name: /reader@example.com/ });
  await expect(row).toContainText('$12.00');
  await row.getByRole('button', { name: 'Refund' }).click();
  await expect(page.getByRole('status')).toHaveText('The payment was refunded.');
  await expect(row).toContainText('$12.00 refunded');
});

test('the sandbox’s Stripe page makes the next renewal fail and a later one succeed', async ({ page }) => {
  await page.goto(fixture.access.url);
  await page.getByRole('button', { name: 'Fail the next charge' }).click();
  await page.getByRole('button', { name: 'To the next renewal' }).click();
  await page.getByRole('link', { name: 'Subscriptions' }).click();
  await expect(page.getByRole('row', { name: /reader@example.com/ })).toContainText('past due');
  await page.getByRole('link', { name: 'Customers' }).click();
  await page.getByRole('button', { name: 'Attach a working card' }).click();
  await page.getByRole('button', { name: '15 days' }).click();
  await page.getByRole('link', { name: 'Subscriptions' }).click();
  await expect(page.getByRole('row', { name: /reader@example.com/ })).toContainText('active');
});

test('the sandbox’s Stripe page shows an invoice as the customer sees it, and as a PDF', async ({ page, request }) => {
  await page.goto(`${fixture.access.url}?view=invoices`);
  await page.locator('tbody a').click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('paid');
  await expect(page.getByRole('row', { name: /Total/ })).toContainText('$12.00');
  const pdf = await request.get(`${page.url()}/pdf`);
  expect((await pdf.body()).subarray(0, 5).toString()).toBe('%PDF-');
});
