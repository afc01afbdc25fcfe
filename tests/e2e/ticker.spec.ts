/** The market ticker (spec sections 2, 3 and 9): prices, rotation, everything that stops it, and what becomes of it without prices. */
import { expect, type Page, test } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';

const item = (name: string, symbol: string, more: object = {}) => ({
  name,
  symbol,
  price: 6740.28,
  change: 35.1,
  changePercent: '(+0.52%)',
  asOf: '2026-11-20T20:41:00.000Z',
  stale: false,
  ...more,
});
const prices = [
  item('S&P 500', 'SPX'),
  item('Dow Jones', 'DJI', { price: 47_112.8, change: -12.35, changePercent: '(−0.03%)' }),
  item('Bitcoin', 'BTC/USD', { price: 96_420, change: 0, changePercent: '(0.00%)' }),
];
const quotes = '**/api/v1/stocks/quote';
const ticker = (page: Page) => page.getByRole('region', { name: 'Markets' });
const strip = (page: Page) => ticker(page).getByRole('group', { name: 'Prices' });
const place = (page: Page) => strip(page).evaluate((element) => Math.round(element.scrollLeft));

/** Opens the front page with a clock that the test turns. */
async function open(page: Page, path = '/') {
  // The popup and the bar are others' business.
  await page.addInitScript(() => localStorage.setItem('seen-welcome-modal', 'true'));
  await page.clock.install({ time: new Date('2026-11-20T20:45:00Z') });
  // It moves when the test says so only, however slow the machine is.
  await page.clock.pauseAt(new Date('2026-11-20T20:45:01Z'));
  await page.route(quotes, (route) => route.fulfill({ json: prices }));
  await page.goto(path);
  await page.clock.runFor(1000);
  await expect(ticker(page).getByRole('button', { name: 'Next prices' })).toBeVisible();
  await page.mouse.move(5, 700);
}

test('says name, price, change and percentage, by sign as well as by colour, and announces nothing', async ({
  page,
}) => {
  await open(page);
  const rows = strip(page).getByRole('listitem');
  await expect(rows.nth(0)).toHaveText(/S&P 500\s+6,740\.28\s+▲\s*up\s+\+35\.10 \(\+0\.52%\)/);
  await expect(rows.nth(1)).toHaveText(/Dow Jones\s+47,112\.80\s+▼\s*down\s+−12\.35 \(−0\.03%\)/);
  await expect(rows.last()).toHaveText(/Bitcoin\s+96,420\.00\s+unchanged\s+0\.00 \(0\.00%\)/);
  expect(await ticker(page).locator('[aria-live], [role="status"], [role="alert"], [role="marquee"]').count()).toBe(0);
  // The look at it waits for time to pass.
  await page.clock.resume();
  expect(await violationsOn(page, '.ticker')).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await violationsOn(page, '.ticker')).toEqual([]);
});

test('moves on every five seconds, and stands still under a pointer, with the focus inside, and when paused', async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page);
  const width = await strip(page).evaluate((element) => element.clientWidth);
  expect(await place(page)).toBe(0);
  await page.clock.runFor(5000);
  await expect.poll(() => place(page)).toBe(width);
  await page.clock.runFor(5000);
  await expect.poll(() => place(page)).toBe(2 * width);

  await strip(page).hover();
  await page.clock.runFor(20_000);
  expect(await place(page)).toBe(2 * width);
  await page.mouse.move(5, 700);

  await strip(page).focus();
  await page.clock.runFor(20_000);
  expect(await place(page)).toBe(2 * width);

  // By keys alone: pause, then leave it; then one step by hand.
  await page.keyboard.press('Tab');
  const pause = ticker(page).getByRole('button', { name: 'Pause the ticker' });
  await expect(pause).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(pause).toHaveAttribute('aria-pressed', 'true');
  await pause.blur();
  await page.clock.runFor(20_000);
  expect(await place(page)).toBe(2 * width);
  await ticker(page).getByRole('button', { name: 'Next prices' }).click();
  await expect.poll(() => place(page)).toBe(3 * width);
  await page.clock.resume();
  expect(await violationsOn(page, '.ticker')).toEqual([]);
});

test('never moves by itself for readers who want no motion', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, '/section/politics');
  await page.clock.runFor(30_000);
  expect(await place(page)).toBe(0);
  await expect(ticker(page).getByRole('button', { name: 'Pause the ticker' })).toBeHidden();
  await ticker(page).getByRole('button', { name: 'Next prices' }).click();
  await expect.poll(() => place(page)).toBeGreaterThan(0);
});

test('asks again once a minute, says how old stale prices are, and keeps them when nothing comes', async ({ page }) => {
  await open(page);
  const bitcoin = strip(page).getByRole('listitem').last();
  await page.route(quotes, (route) =>
    route.fulfill({ json: prices.map((price) => ({ ...price, stale: true, price: 1 })) }),
  );
  await page.clock.runFor(76_000);
  await expect(bitcoin).toContainText('1.0000');
  await expect(ticker(page)).toContainText('As of 3:41 PM EST');
  await page.route(quotes, (route) => route.abort());
  await page.clock.runFor(76_000);
  await expect(bitcoin).toContainText('1.0000');
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });
  test('is a list of what there is a price for, to be scrolled by hand, in the same room', async ({
    page,
    browser,
  }) => {
    await page.goto('/');
    await expect(strip(page).getByRole('listitem').first()).toContainText('S&P 500');
    // Text in `noscript` is none for a locator above it.
    const told = ticker(page).locator('noscript > span').or(strip(page).getByText('no price yet')).first();
    await expect(told).toHaveText(/^(?:As of \d+:\d\d [AP]M E[DS]T|no price yet)$/);
    await expect(ticker(page).getByRole('button')).toHaveCount(0);
    const room = await ticker(page).boundingBox();
    const scripted = await (await browser.newContext({ javaScriptEnabled: true })).newPage();
    await scripted.goto(page.url(), { waitUntil: 'networkidle' });
    expect(await ticker(scripted).boundingBox()).toEqual(room);
    await scripted.context().close();
  });
});
