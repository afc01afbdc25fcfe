/** The subscription in the account: what it shows, how it is changed and canceled, and what happens when something is down. */
import Stripe from 'stripe';
import { apiVersion } from '../../src/lib/billing/engine/stripe.server.ts';
import { violationsOn } from '../world/axe.ts';
import { controlStripe, sheet, step, stripeAccount } from '../world/checkout.ts';
import { intercept } from '../world/intercept.ts';
import { test as base, expect } from '../world/readers.ts';
import { type Shop, subscribeAt } from '../world/shop.ts';

const test = base.extend({ baseURL: ({ shop }, use) => use(shop.site) });
test.describe.configure({ mode: 'serial' });

/** The publisher makes a second, higher subscription in Stripe's dashboard. @param newCard charged instead of the first one's card */
async function addMembership({ stripe }: Shop, email: string, newCard?: string): Promise<void> {
  const { apiUrl, secretKey } = stripe.access;
  const { subscriptions, customer } = await stripeAccount(email, apiUrl);
  const { hostname: host, port } = new URL(apiUrl);
  const dashboard = new Stripe(secretKey, { apiVersion, host, port, protocol: 'http' });
  const card = newCard
    ? (await dashboard.paymentMethods.attach(newCard, { customer: customer.id })).id
    : String(subscriptions[0]?.default_payment_method);
  const items = [{ price: 'price_member_yearly' }];
  await dashboard.subscriptions.create({ customer: customer.id, default_payment_method: card, items });
}

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

test('of two subscriptions that renew, the reader sees which one is canceled, and keeps the other', async ({
  page,
  shop,
}) => {
  const email = await subscribeAt(shop, page.context(), 'reader-monthly');
  await addMembership(shop, email);
  const plan = page.getByRole('region', { name: 'Your plan', exact: true });
  const beside = plan.getByText('You also have Sun Reader, Monthly. Its next bill is $12');
  await expect(async () => {
    await page.goto('/dashboard/account');
    await expect(beside).toBeVisible({ timeout: 1000 });
  }).toPass();
  const main = plan.getByRole('link', { name: 'Cancel (Sun Member, Yearly)' });
  await expect(main).toHaveAttribute('href', /\/cancel\?subscription=sub_/);
  await expect(page.getByRole('region', { name: 'Change your plan' })).toContainText(
    'This changes Sun Member, Yearly.',
  );
  expect(await violationsOn(page, 'main')).toEqual([]);

  await plan.getByRole('link', { name: 'Cancel (Sun Reader, Monthly)' }).click();
  await expect(page.getByText('This is about Sun Reader, Monthly.')).toBeVisible();
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByText('Your other subscription stays as it is.')).toBeVisible();
  expect(await violationsOn(page, 'main')).toEqual([]);
  await page.getByRole('button', { name: 'Cancel subscription' }).click();
  await expect(plan).toContainText('That subscription is canceled. You have another one, which continues.');
  await expect(plan.getByText('You also have Sun Reader, Monthly. It ends on')).toBeVisible();
  await expect(plan.getByText('Renewal date')).toBeVisible();
  const kept = (await stripeAccount(email, shop.stripe.access.apiUrl)).subscriptions.map(
    ({ cancel_at_period_end: ends }) => ends,
  );
  expect(kept.toSorted()).toEqual([false, true]);
  await plan.getByRole('link', { name: 'Resume subscription (Sun Reader, Monthly)' }).click();
  await page.getByRole('button', { name: 'Resume subscription' }).click();
  await expect(plan).toContainText('Done. Sun Reader, Monthly continues.');
  await expect(beside).toBeVisible();
  await page.goto('/account/card');
  await expect(page.getByText('We charge all your subscriptions to this card.')).toBeVisible();
});

test('of two subscriptions, invoices and cards say which one they belong to, and a long number has one line', async ({
  page,
  shop,
}) => {
  const email = await subscribeAt(shop, page.context(), 'reader-monthly');
  await addMembership(shop, email, 'pm_card_mastercard');
  const bills = page.getByRole('region', { name: 'Invoices' });
  const payment = page.getByRole('region', { name: 'Payment method' });
  const charged = /Mastercard.*For Sun Member, Yearly.*Visa.*For Sun Reader, Monthly/s;
  // The panels of one page load may differ while the webhooks of the second subscription arrive.
  await expect(async () => {
    await page.goto('/dashboard/account');
    await expect(bills.getByText('Sun Member, Yearly')).toBeVisible({ timeout: 1000 });
    await expect(payment).toContainText(charged, { timeout: 1000 });
  }).toPass();
  await expect(bills.getByText('Sun Reader, Monthly')).toBeVisible();
  expect(await violationsOn(page, 'main')).toEqual([]);
  // A prefix of twelve characters is the longest that a publisher can choose.
  await expect(page.locator('astro-island[ssr]')).toHaveCount(0);
  const number = bills.getByRole('listitem').first().locator('span').nth(1);
  await number.evaluate((span) => span.firstChild?.replaceWith('BROADSHEET12-0001'));
  for (const width of [768, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    const lines = await number.evaluate((span) => {
      const range = document.createRange();
      range.selectNode(span.firstChild as Node);
      return range.getClientRects().length;
    });
    expect(lines).toBe(1);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
});

test('while Stripe is down, the invoice and payment panels show errors and a working link to try again, beside the plan', async ({
  page,
  shop,
}) => {
  await subscribeAt(shop, page.context(), 'reader-monthly');
  await controlStripe('faults', { status: 500, times: 100 }, shop.stripe.access.apiUrl);
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
