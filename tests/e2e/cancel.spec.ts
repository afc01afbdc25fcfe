/** Leaving where a retention widget is configured: by the widget, without it, and without JavaScript. */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { stripeAccount } from '../world/checkout.ts';
import { waitLonger } from '../world/intercept.ts';
import { test as base, expect } from '../world/readers.ts';
import { subscribeAt } from '../world/shop.ts';

const test = base.extend({ baseURL: ({ retentionShop }, use) => use(retentionShop.site) });
test.describe.configure({ mode: 'serial' });

/** Makes a page wait longer for the widget than the seconds after which it shows the form. */
async function waitForWidget(page: Page): Promise<void> {
  await waitLonger(page, 6000);
  await page.addInitScript(() => {
    const style = new CSSStyleSheet();
    style.replaceSync('[data-after-widget] { animation-delay: 60s !important; }');
    document.adoptedStyleSheets = [style];
  });
}

test('the retention widget opens with the reader’s own customer id, and canceling in it cancels the subscription', async ({
  page,
  retentionShop: shop,
}) => {
  const { retention } = shop;
  const email = await subscribeAt(shop, page.context(), 'reader-monthly');
  const { customer, subscriptions } = await stripeAccount(email, shop.stripe.access.apiUrl);
  await waitForWidget(page);
  await page.goto('/cancel');
  const widget = page.getByRole('dialog', { name: 'Before you go' });
  await expect(widget).toBeVisible();
  await expect
    .poll(() => retention.reports.at(-1))
    .toMatchObject({
      what: 'show',
      options: { customerId: customer.id, subscriptionId: subscriptions[0]?.id, mode: 'test', provider: 'stripe' },
    });
  await widget.getByRole('button', { name: 'Never mind' }).click();
  await expect(page.getByText('Your subscription hasn’t changed.')).toBeVisible();
  expect(await violationsOn(page, 'main')).toEqual([]);
  await page.getByRole('button', { name: 'Cancel subscription' }).click();
  await widget.getByRole('button', { name: 'Cancel for good' }).click();
  await expect(widget.getByRole('status')).toContainText('Your subscription is canceled.');
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/\/dashboard\/account/);
  await expect(page.getByRole('button', { name: 'Resume subscription' })).toBeVisible();
});

test('when the retention widget is blocked, the site’s own form cancels the subscription', async ({
  page,
  retentionShop: shop,
}) => {
  await subscribeAt(shop, page.context(), 'reader-monthly');
  await page.route('**/js/app.js*', (route) => route.abort());
  await page.goto('/cancel');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Cancel subscription' }).click();
  await expect(page.getByRole('heading', { name: 'Your subscription is canceled' })).toBeVisible();
});

test('when the site’s script for the retention widget does not load, the cancellation form appears by itself', async ({
  page,
  retentionShop: shop,
}) => {
  await subscribeAt(shop, page.context(), 'reader-monthly');
  await page.route(/\/_assets\/Retention\./, (route) => route.abort());
  // The wait begins with the page's first paint: on a slow machine, part of it passes while the rest loads, so the page itself looks.
  await page.goto('/cancel', { waitUntil: 'commit' });
  await page.waitForFunction(() => {
    const form = document.querySelector('[data-after-widget]');
    return form?.querySelector('button') && !form.checkVisibility({ visibilityProperty: true });
  });
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('button', { name: 'Cancel subscription' })).toBeVisible();
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });
  test('canceling takes two clicks, and a signed-out reader is asked to sign in first', async ({
    page,
    retentionShop: shop,
  }) => {
    await page.goto('/cancel');
    await expect(page.getByRole('link', { name: 'Sign in to cancel' })).toHaveAttribute('href', /return=%2Fcancel/);
    await subscribeAt(shop, page.context(), 'reader-monthly');
    await page.reload();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Cancel subscription' }).click();
    await page.getByRole('button', { name: 'Resume subscription' }).click();
    await expect(page.getByText('Done. Your subscription continues.')).toBeVisible();
  });
});
