/**
 * A reader in another country: one currency from the paywall to the receipt, on cached pages that are the same for everyone.
 */
import type { Locator, Page } from '@playwright/test';
import { cards, expectThanks, fillCard, join, openPaywall, payButton, sheet, step } from '../world/checkout.ts';
import { noShift, shiftsOn, sumOf, watchShifts } from '../world/layout-shifts.ts';
import { test as base, expect, lettersTo } from '../world/readers.ts';
import { enterAt } from '../world/shop.ts';

const test = base.extend({ baseURL: ({ shop }, use) => use(shop.site) });
// In one worker, so that the file's site starts once.
test.describe.configure({ mode: 'default' });

/** The header with which the CDN in front reports a reader's country. */
const from = (country: string) => ({ 'cf-ipcountry': country, 'x-forwarded-for': '203.0.113.7' });
const british = { extraHTTPHeaders: from('GB') };
const restricted = '/article/what-subscribers-know-about-salt';
const foreign = /[$€]\s?\d/;

/** The visible text of a part of the page: amounts in other currencies are hidden. */
// biome-ignore lint/performance/useDomNodeTextContent: what is hidden does not count
const read = (part: Locator): Promise<string> => part.innerText();

/** Waits until the prices are in a currency; `null`: the standard one. */
const currency = (page: Page, name: string | null) =>
  expect.poll(() => page.evaluate(() => document.documentElement.dataset.currency ?? null)).toBe(name);

test.describe('a reader in Britain', () => {
  test.use(british);

  for (const path of ['/pricing', '/print', '/membership', '/offer/newsletter', restricted])
    test(`sees pounds on ${path}, with no layout shift when the currency arrives`, async ({ page }) => {
      let answer = () => {};
      const asked = new Promise<void>((done) => {
        answer = done;
      });
      await page.route('**/api/v1/checkout/currency', async (route) => {
        await asked;
        await route.continue();
      });
      await watchShifts(page, 'blocked');
      await page.goto(path);
      const before = await shiftsOn(page);
      answer();
      await currency(page, 'gbp');
      const text = await read(page.locator('main'));
      expect(text).toMatch(/£\d/);
      expect(text).not.toMatch(foreign);
      const shifts = (await shiftsOn(page)).slice(before.length);
      expect(sumOf(shifts), JSON.stringify(shifts, null, 1)).toBeLessThan(noShift);
      // The next page knows before its first paint.
      await page.unroute('**/api/v1/checkout/currency');
      await page.route('**/api/v1/checkout/currency', (route) => route.abort());
      await page.reload();
      await currency(page, 'gbp');
    });

  test('pays in pounds from the choice of a plan to the receipt, and still sees pounds in the US', async ({
    page,
    shop,
  }) => {
    const { request } = page.context();
    const email = await enterAt(shop, page.context());
    await openPaywall(page, 'reader-monthly');
    await expect(sheet(page)).toContainText('£10 a month');
    await fillCard(page, cards.good);
    await join(page, '£10');
    await expectThanks(page);
    const answer = (await (await request.get('/api/v1/me/subscription')).json()) as { subscription: object };
    expect(answer.subscription).toMatchObject({ currency: 'gbp', price: 1000 });
    const receipt = async () => (await lettersTo(email)).find(({ subject }) => /receipt/i.test(subject))?.text;
    await expect.poll(receipt).toContain('£10.00');

    await page.context().setExtraHTTPHeaders(from('US'));
    await page.goto('/dashboard/account');
    await expect(page.getByText('£10', { exact: true })).toBeVisible();
    const dashboard = await read(page.locator('main'));
    expect(dashboard).toContain('£160/year');
    expect(dashboard).not.toMatch(foreign);
    await page.goto('/pricing');
    await currency(page, 'gbp');
    expect(await read(page.locator('main'))).not.toMatch(foreign);
    await page.goto('/account/plan?plan=member-yearly');
    expect(await read(page.locator('main'))).not.toMatch(foreign);
    await openPaywall(page, 'member-yearly');
    await expect(step(page, 'payment').locator('[data-due]')).toHaveText(/^£\d/);
    await expect(payButton(page)).toHaveText(/^Upgrade£\d/);
    expect(await read(sheet(page))).not.toMatch(foreign);
  });

  test('sees pounds on /subscribe, the page that works without JavaScript', async ({ page }) => {
    await page.goto('/subscribe?plan=reader-yearly');
    expect(await read(page.locator('main'))).toMatch(/£100/);
    expect(await read(page.locator('main'))).not.toMatch(foreign);
  });
});

test('a reader in Brazil sees prices in dollars', async ({ page }) => {
  await page.setExtraHTTPHeaders(from('BR'));
  const asked = page.waitForResponse('**/api/v1/checkout/currency');
  await page.goto('/pricing');
  expect(await (await asked).json()).toEqual({ currency: 'usd' });
  const text = await read(page.locator('main'));
  expect(text).toContain('$12');
  expect(text).not.toMatch(/[£€]\d/);
});

test.describe('a reader in Britain without JavaScript', () => {
  test.use({ ...british, javaScriptEnabled: false });

  test('sees prices in dollars only', async ({ page }) => {
    await page.goto('/pricing');
    const text = await read(page.locator('main'));
    expect(text).toMatch(/\$12\b/);
    expect(text).not.toMatch(/[£€]\d/);
  });
});
