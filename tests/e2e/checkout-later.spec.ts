/** Later events of a subscription: renewals, a promotion that ends, a card that fails, an upgrade, a refund. */
import { apiVersion } from '../../src/lib/billing/engine/stripe.server.ts';
import {
  answerBank,
  cardFields,
  cards,
  controlStripe,
  expectThanks,
  failure,
  fillCard,
  openPaywall,
  payButton,
  sheet,
  step,
  stripeAccount,
} from '../world/checkout.ts';
import { test as base, expect, lettersTo } from '../world/readers.ts';
import { type Shop, subscribeAt } from '../world/shop.ts';

const test = base.extend({ baseURL: ({ shop }, use) => use(shop.site) });
// These tests share one clock, so they run one after another.
test.describe.configure({ mode: 'serial' });

const subscriptionOf = async (page: import('@playwright/test').Page) =>
  (
    (await (await page.context().request.get('/api/v1/me/subscription')).json()) as {
      subscription: Record<string, unknown>;
    }
  ).subscription;
const paidBy = async (email: string, shop: Shop) =>
  (await stripeAccount(email, shop.stripe.access.apiUrl)).charges.map(({ amount }) => amount);

test('an upgrade in the middle of a year shows the credit and the amount due, and charges that amount', async ({
  page,
  shop,
}) => {
  const email = await subscribeAt(shop, page.context(), 'reader-yearly');
  await shop.pass({ days: 120 });
  await openPaywall(page, 'member-yearly', '/membership');
  await expect(page.getByRole('dialog', { name: 'Upgrade' })).toBeVisible();
  await expect(step(page, 'payment').getByText(/Unused time on/)).toBeVisible();
  await expect(
    step(page, 'payment')
      .getByText(/Remaining time on|Sun Member/)
      .first(),
  ).toBeVisible();
  await expect(cardFields(page).getByLabel('Card number')).toHaveCount(0);
  // While the sum is fetched again, its lines stay.
  await expect(step(page, 'payment').locator('[data-due]')).toHaveText(/^\$\d+(\.\d\d)?$/);
  const due = (await step(page, 'payment').locator('[data-due]').textContent()) ?? '';
  await expect(payButton(page)).toHaveText(`Upgrade${due}`);
  await payButton(page).click();
  await expectThanks(page);
  // Two thirds of $80, for the rest of the year.
  expect(Number(due.slice(1))).toBeGreaterThan(50);
  expect(Number(due.slice(1))).toBeLessThan(56);
  expect((await paidBy(email, shop)).toSorted()).toEqual([12_000, Math.round(Number(due.slice(1)) * 100)].toSorted());
  expect(await subscriptionOf(page)).toMatchObject({ planId: 'member-yearly', status: 'active' });
});

test('a refund ends the access that was paid for', async ({ page, shop }) => {
  const email = await subscribeAt(shop, page.context(), 'reader-monthly');
  const visitor = async () => {
    await page.goto('/pricing');
    return page.locator('html').getAttribute('data-visitor');
  };
  expect(await visitor()).toBe('reader');
  const { charges } = await stripeAccount(email, shop.stripe.access.apiUrl);
  const refunded = await fetch(`${shop.stripe.access.apiUrl}/v1/refunds`, {
    method: 'POST',
    headers: { authorization: `Bearer ${shop.stripe.access.secretKey}`, 'stripe-version': apiVersion },
    body: new URLSearchParams({ charge: String(charges[0]?.id) }),
  });
  expect(refunded.status, await refunded.text()).toBe(200);
  const decisions = () =>
    page
      .context()
      .request.post('/zephr/feature-decisions', { headers: { origin: shop.site }, data: { featureIds: [] } })
      .then((answer) => answer.json());
  await expect.poll(decisions).toMatchObject({ accessDetails: { activeProducts: [] } });
});

test('a cheaper plan starts at the next renewal', async ({ page, shop }) => {
  const email = await subscribeAt(shop, page.context(), 'member-monthly');
  await page.goto('/pricing#join=reader-monthly');
  await expect(sheet(page)).toBeVisible();
  await expect(step(page, 'payment').getByText(/You keep your current plan until/)).toBeVisible();
  await expect(step(page, 'payment').locator('[data-due]')).toHaveText('$0');
  await payButton(page).click();
  await expect(page).toHaveURL(/\/dashboard\/account$/);
  expect(await subscriptionOf(page)).toMatchObject({ planId: 'member-monthly' });
  await shop.pass({ days: 32 });
  await expect.poll(() => subscriptionOf(page)).toMatchObject({ planId: 'reader-monthly' });
  expect(await paidBy(email, shop)).toEqual(expect.arrayContaining([2000, 1200]));
});

test('the penny promotion charges the full dues after its 60 days', async ({ page, shop }) => {
  const email = await subscribeAt(shop, page.context(), 'reader-penny');
  expect(await paidBy(email, shop)).toEqual([60]);
  expect(await subscriptionOf(page)).toMatchObject({ status: 'trialing', price: 12_000 });
  await shop.pass({ days: 61 });
  await expect.poll(() => paidBy(email, shop).then((all) => all.toSorted())).toEqual([12_000, 60].toSorted());
  await expect.poll(() => subscriptionOf(page)).toMatchObject({ status: 'active', price: 12_000 });
});

test('a subscription renews with the saved card', async ({ page, shop }) => {
  const email = await subscribeAt(shop, page.context(), 'reader-monthly');
  const { paidUntil } = (await subscriptionOf(page)) as { paidUntil: string };
  await shop.pass({ days: 32 });
  await expect.poll(() => paidBy(email, shop)).toEqual([1200, 1200]);
  await expect
    .poll(async () => Date.parse(String((await subscriptionOf(page)).paidUntil)))
    .toBeGreaterThan(Date.parse(paidUntil));
});

test('a failed renewal sends an email, and another card pays it', async ({ page, shop }) => {
  const email = await subscribeAt(shop, page.context(), 'reader-monthly');
  const api = shop.stripe.access.apiUrl;
  const { customer } = await stripeAccount(email, api);
  await controlStripe('card', { customer: customer.id, number: cards.laterFails }, api);
  await shop.pass({ days: 32 });
  await expect.poll(() => subscriptionOf(page)).toMatchObject({ status: 'past_due' });
  const linksToCard = async () =>
    (await lettersTo(email)).filter(({ links }) => links.includes(`${shop.site}/account/card`)).length;
  await expect.poll(linksToCard, { timeout: 60_000 }).toBe(1);
  await page.goto('/account/card');
  await expect(page.getByRole('heading', { name: 'Your card' })).toBeVisible();
  const use = page.getByRole('button', { name: 'Use this card' });
  await expect(use).toBeDisabled();
  await fillCard(page, cards.declined);
  await use.click();
  await expect(page.getByRole('alert').filter({ hasText: failure })).toBeVisible();
  await fillCard(page, cards.good);
  await use.click();
  await expect(page.getByText('We’ll charge this card from now on')).toBeFocused();
  await expect.poll(() => subscriptionOf(page)).toMatchObject({ status: 'active' });
  expect(await paidBy(email, shop)).toEqual([1200, 1200]);
});

test('a renewal that needs the bank’s confirmation is paid on the card page', async ({ page, shop }) => {
  const email = await subscribeAt(shop, page.context(), 'reader-monthly');
  const api = shop.stripe.access.apiUrl;
  const { customer } = await stripeAccount(email, api);
  await controlStripe('card', { customer: customer.id, number: cards.laterFails }, api);
  await shop.pass({ days: 32 });
  await expect.poll(() => subscriptionOf(page)).toMatchObject({ status: 'past_due' });
  await page.goto('/account/card');
  await fillCard(page, cards.asks);
  await page.getByRole('button', { name: 'Use this card' }).click();
  // Once to save the card, once for the payment.
  await answerBank(page, 'Complete');
  await expect(page.getByRole('button', { name: 'Waiting for your bank…' })).toBeVisible();
  await answerBank(page, 'Complete');
  await expect(page.getByText('We’ll charge this card from now on')).toBeFocused();
  await expect.poll(() => subscriptionOf(page)).toMatchObject({ status: 'active' });
  expect(await paidBy(email, shop)).toEqual([1200, 1200]);
});

test('the card page sends signed-out readers to sign-in', async ({ page }) => {
  await page.goto('/account/card');
  await expect(page).toHaveURL(/\/socialLogin\?return=%2Faccount%2Fcard/);
});
