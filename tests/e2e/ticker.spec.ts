/** The market ticker (spec sections 2, 3 and 9): prices, rotation, everything that stops it, and how it looks without prices. */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { expect, test } from '../world/readers.ts';

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

/** How far the CSS animation has moved the strip, in strip widths or in prices. */
const turned = (page: Page) =>
  strip(page)
    .locator('ul')
    .evaluate((list) => {
      const moved = -new DOMMatrix(getComputedStyle(list).transform).m41;
      return Number((moved / (list.querySelector('li')?.getBoundingClientRect().width ?? 1)).toFixed(2));
    });
/** Sets the CSS animation to a moment, in milliseconds, and pauses it there. */
const turnTo = (page: Page, ms: number) =>
  strip(page)
    .locator('ul')
    .evaluate((list, time) => {
      for (const animation of list.getAnimations()) {
        animation.pause();
        animation.currentTime = time;
      }
    }, ms);

/** Opens a page whose clock the test controls; `started` also hydrates the island, as a reader's touch does. */
async function open(page: Page, { path = '/', started = true }: { path?: string; started?: boolean } = {}) {
  // Other tests cover the popup and the sticky footer.
  await page.addInitScript(() => localStorage.setItem('seen-welcome-modal', 'true'));
  // Until it is paused the clock runs, and it can't be set back.
  await page.clock.install({ time: new Date('2026-11-20T20:30:00Z') });
  // From here on it moves only when the test moves it, however slow the machine is.
  await page.clock.pauseAt(new Date('2026-11-20T20:45:01Z'));
  await page.route(quotes, (route) => route.fulfill({ json: prices }));
  await page.goto(path);
  await expect(ticker(page).getByRole('button', { name: 'Next prices' })).toBeVisible();
  if (started) {
    // Styles have turned the strip since the page was painted: on a busy machine further than to the first price.
    await turnTo(page, 0);
    await strip(page).dispatchEvent('pointerdown');
    await expect(page.locator('[data-ticker][data-running]')).toBeAttached();
    await page.clock.runFor(1000);
  }
  await page.mouse.move(5, 700);
}

test('the ticker shows prices and rotates them by CSS every five seconds, without a request', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await open(page, { started: false });
  await expect(strip(page).getByRole('listitem').first()).toContainText('S&P 500');
  await turnTo(page, 1000);
  expect(await turned(page)).toBe(0);
  await turnTo(page, 6000);
  expect(await turned(page)).toBe(1);
  await turnTo(page, 31_000);
  expect(await turned(page)).toBe(6);
  await strip(page).hover();
  await expect(strip(page).locator('ul')).toHaveCSS('animation-play-state', 'paused');
  expect(asked.filter((path) => /stocks|Ticker/.test(path))).toEqual([]);

  // The island continues from there.
  await strip(page).dispatchEvent('pointerdown');
  await expect(page.locator('[data-ticker][data-running]')).toBeAttached();
  const width = await strip(page).evaluate((element) => element.clientWidth);
  expect(await place(page)).toBe(6 * width);
  expect(await turned(page)).toBe(0);
});

test('the ticker never rotates past the last price in a wide window', async ({ page }) => {
  await open(page, { started: false });
  await turnTo(page, 31_000);
  const [end, edge] = await strip(page).evaluate((element) => [
    element.querySelector('li:last-child')?.getBoundingClientRect().right ?? 0,
    element.getBoundingClientRect().right,
  ]);
  expect(Math.abs((end ?? 0) - (edge ?? 1))).toBeLessThan(2);
});

test('the ticker’s script starts after a minute in view', async ({ page }) => {
  await open(page, { started: false });
  // The minute begins when the browser reports that the ticker is in view, which this clock doesn't control.
  const running = page.locator('[data-ticker][data-running]');
  await expect(async () => {
    await page.clock.runFor(61_000);
    await expect(running).toBeAttached({ timeout: 1000 });
  }).toPass();
  await expect(strip(page).getByRole('listitem').last()).toContainText('96,420.00');
});

test('the ticker shows name, price and change, by sign as well as by color, and has no live region', async ({
  page,
}) => {
  await open(page);
  const rows = strip(page).getByRole('listitem');
  await expect(rows.nth(0)).toHaveText(/S&P 500\s+6,740\.28\s+▲\s*up\s+\+35\.10 \(\+0\.52%\)/);
  await expect(rows.nth(1)).toHaveText(/Dow Jones\s+47,112\.80\s+▼\s*down\s+−12\.35 \(−0\.03%\)/);
  await expect(rows.last()).toHaveText(/Bitcoin\s+96,420\.00\s+unchanged\s+0\.00 \(0\.00%\)/);
  expect(await ticker(page).locator('[aria-live], [role="status"], [role="alert"], [role="marquee"]').count()).toBe(0);
  // axe waits for time to pass.
  await page.clock.resume();
  expect(await violationsOn(page, '[data-ticker]')).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await violationsOn(page, '[data-ticker]')).toEqual([]);
});

test('the ticker advances every five seconds, and stops on hover, on focus and when paused', async ({ page }) => {
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

  // With the keyboard alone: pause, then leave the ticker; then one step by hand.
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
  expect(await violationsOn(page, '[data-ticker]')).toEqual([]);
});

test('the ticker never moves by itself for readers who prefer reduced motion', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, { path: '/section/politics', started: false });
  await expect(strip(page).locator('ul')).toHaveCSS('animation-name', 'none');
  await strip(page).dispatchEvent('pointerdown');
  await expect(page.locator('[data-ticker][data-running]')).toBeAttached();
  await page.clock.runFor(30_000);
  expect(await place(page)).toBe(0);
  await expect(ticker(page).getByRole('button', { name: 'Pause the ticker' })).toBeHidden();
  await ticker(page).getByRole('button', { name: 'Next prices' }).click();
  await expect.poll(() => place(page)).toBeGreaterThan(0);
});

test('the ticker asks for prices once a minute, says how old stale ones are, and keeps them on failure', async ({
  page,
}) => {
  await open(page);
  const bitcoin = strip(page).getByRole('listitem').last();
  await page.route(quotes, (route) =>
    route.fulfill({ json: prices.map((price) => ({ ...price, stale: true, price: 1 })) }),
  );
  await page.clock.runFor(76_000);
  await expect(bitcoin).toContainText('1.0000');
  await expect(ticker(page)).toContainText('As of 3:41 p.m. ET');
  await page.route(quotes, (route) => route.abort());
  const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/v1/stocks/quote'));
  await page.clock.runFor(76_000);
  await failed;
  await expect(bitcoin).toContainText('1.0000');
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });
  test('the ticker is a list of prices without buttons, in a space of the same size', async ({ page, browser }) => {
    await page.goto('/');
    await expect(strip(page).getByRole('listitem').first()).toContainText('S&P 500');
    await expect(ticker(page)).toContainText(/As of \d+:\d\d [ap]\.m\. ET|no price yet/);
    await expect(ticker(page).getByRole('button')).toHaveCount(0);
    const room = await ticker(page).boundingBox();
    const scripted = await (await browser.newContext({ javaScriptEnabled: true })).newPage();
    await scripted.goto(page.url(), { waitUntil: 'networkidle' });
    expect(await ticker(scripted).boundingBox()).toEqual(room);
    await scripted.context().close();
  });
});
