/** Fronts, edited on the screen of the real WordPress with the keyboard alone: drafts, preview, publication, schedule, history. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Frame, Page } from '@playwright/test';
import { visitorCookie } from '../../src/lib/accounts/visitor.ts';
import { violationsOn } from '../world/axe.ts';
import {
  type FrontSite,
  isFocused,
  order,
  press,
  publish,
  rows,
  saved,
  startFrontSite,
  tabTo,
  titleOf,
  titles,
  untilLive,
} from '../world/front-screen.ts';
import { expect, test } from '../world/readers.ts';

// A site has only one home page, so this test has its own WordPress.
test.describe.configure({ mode: 'serial' });

let site: FrontSite;

test.beforeAll(async () => {
  test.setTimeout(600_000);
  site = await startFrontSite();
});
test.afterAll(() => site?.stop());

const openScreen = (page: Page, user?: string, password?: string) => site.openScreen(page, user, password);
const source = async (page: Page, path = '/') => (await page.request.get(site.own + path)).text();
/** The stories at the top of the page, in their order. */
const topOf = (page: Page | Frame) => page.locator('.front-lead .middle .headline a').allTextContents();

test('an editor places ten stories by keyboard, and reorders them all with at most sixty keys', async ({ page }) => {
  test.setTimeout(240_000);
  await openScreen(page);
  const search = page.getByLabel('Find a story');
  await search.focus();
  for (const title of titles.slice(0, 10)) {
    await search.fill(title);
    await expect(page.getByRole('button', { name: `Add ${title}` })).toBeVisible({ timeout: 30_000 });
    await page.keyboard.press('Enter');
    await expect(page.getByText(`${title} added.`)).toBeVisible();
  }
  await saved(page);
  await expect.poll(() => order(page)).toEqual(titles.slice(0, 10));
  expect(await violationsOn(page, '.newsroom-front')).toEqual([]);
  expect(await source(page)).not.toContain('data-slot');

  let keys = 0;
  await titleOf(page, 0).focus();
  // Each of the ten in turn is moved above those that were moved before it.
  for (const title of titles.slice(1, 10)) {
    keys += await tabTo(page, isFocused(page, title), 'ArrowDown');
    await page.keyboard.press('Alt+Home');
    keys++;
    await expect(titleOf(page, 0)).toHaveText(title);
    await expect(titleOf(page, 0)).toBeFocused();
  }
  await expect.poll(() => order(page)).toEqual(titles.slice(0, 10).reverse());
  await saved(page);
  // A minute for an editor, at one key a second. How fast the machine is doesn't count.
  expect(keys).toBeLessThanOrEqual(60);

  // Step by step, with polite announcements, and back.
  await titleOf(page, 0).focus();
  await page.keyboard.press('Alt+ArrowDown');
  await expect(page.locator('#a11y-speak-polite')).toHaveText(/is now 2 of 10\.$/);
  await page.keyboard.press('Control+z');
  await expect(titleOf(page, 0)).toHaveText('The Juniper');
  await tabTo(page, isFocused(page, 'Remove: The Juniper'));
  await page.keyboard.press('Enter');
  await expect(rows(page)).toHaveCount(9);
  await expect(titleOf(page, 0)).toBeFocused();
  await press(page, 'Undo');
  await expect(rows(page)).toHaveCount(10);
  // The next test begins with this draft.
  await saved(page);
});

/** The window that the Preview button opens. */
async function openPreview(page: Page): Promise<Page> {
  const opening = page.context().waitForEvent('page');
  await press(page, 'Preview');
  const opened = await opening;
  await opened.waitForURL(/\/preview\?.*widths=both/);
  return opened;
}

/** The content of a frame of the preview. */
async function frameIn(opened: Page, id: 'phone' | 'desktop'): Promise<Frame> {
  await expect(opened.frameLocator(`#${id}`).locator('.front-lead')).toBeVisible({ timeout: 30_000 });
  const frame = await (await opened.locator(`#${id}`).elementHandle())?.contentFrame();
  if (!frame) throw new Error(`The preview has no frame ${id}.`);
  return frame;
}

test('a preview shows the draft as an anonymous reader would see it, and the public page stays unchanged', async ({
  page,
  context,
}) => {
  await openScreen(page);
  await expect.poll(() => order(page)).toEqual(titles.slice(0, 10).reverse());
  const before = await source(page);
  // The editor's browser looks signed in to the site, too.
  await context.addCookies([{ name: visitorCookie, value: 'member', url: site.own }]);
  const opened = await openPreview(page);
  await opened.setViewportSize({ width: 1400, height: 900 });
  for (const [id, width] of [
    ['phone', 390],
    ['desktop', 1280],
  ] as const) {
    const frame = await frameIn(opened, id);
    await expect(frame.locator('.lead .headline')).toHaveText('The Juniper');
    expect(await topOf(frame)).toEqual(titles.slice(0, 10).reverse().slice(0, 6));
    const seen = () => ({
      width: innerWidth,
      scroll: document.documentElement.scrollWidth,
      cookies: document.cookie,
      visitor: document.documentElement.dataset.visitor ?? null,
    });
    expect(await frame.evaluate(seen)).toEqual({ width, scroll: width, cookies: '', visitor: null });
    await expect(frame.locator('.site-header a[href="/socialLogin"]')).toBeAttached();
    const answer = await opened.request.get(frame.url());
    expect([answer.headers()['cache-control'], answer.headers()['x-robots-tag']]).toEqual([
      'private, no-store',
      'noindex, nofollow',
    ]);
  }
  // The server has no session for this cookie, and its response would delete it.
  await opened.route('**/zephr/**', () => {});
  await opened.goto(site.own);
  expect(await opened.evaluate(() => document.documentElement.dataset.visitor)).toBe('member');
  await opened.close();
  await context.clearCookies({ name: visitorCookie });
  expect(await source(page)).toBe(before);
  for (const more of ['', '&widths=both']) {
    const wrong = await page.request.get(
      `${site.own}/preview?type=fronts&id=1&expires=9999999999&signature=${'0'.repeat(64)}${more}`,
    );
    expect(wrong.status()).toBe(401);
    expect(await wrong.text()).not.toContain('<iframe');
  }
});

test('the phone and desktop previews fit windows of any width and are reachable by keyboard', async ({ page }) => {
  await openScreen(page);
  const opened = await openPreview(page);
  for (const [width, height] of [
    [1720, 1000],
    [1280, 800],
    [768, 900],
    [390, 800],
  ] as const) {
    await opened.setViewportSize({ width, height });
    await frameIn(opened, 'desktop');
    expect(await opened.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    const [phone, desktop] = await Promise.all(
      ['#phone', '#desktop'].map((frame) => opened.locator(frame).boundingBox()),
    );
    expect((desktop?.x ?? 0) + (desktop?.width ?? 0)).toBeLessThanOrEqual(width);
    // Scaled to fit, and never enlarged.
    expect(desktop?.width).toBeGreaterThan(width < 1000 ? width - 40 : Math.min(1270, width - 390 - 60));
    expect(desktop?.width).toBeLessThanOrEqual(1280);
    expect(Boolean(phone && desktop && desktop.y < phone.y + 10)).toBe(width > 1000);
  }
  expect(await violationsOn(opened, 'header')).toEqual([]);
  await expect(opened.getByTitle('Phone, 390 pixels wide')).toBeVisible();
  await expect(opened.getByTitle('Desktop, 1280 pixels wide')).toBeVisible();
  for (const [name, key] of [
    ['phone', 'Tab'],
    ['desktop', 'Shift+Tab'],
  ] as const) {
    await tabTo(opened, isFocused(opened, `Go to ${name}`), key);
    await opened.keyboard.press('Enter');
    expect(await opened.evaluate(() => document.activeElement?.id)).toBe(name);
    // Into the frame: a step back from its start leads out of it again.
    await opened.keyboard.press('Tab');
  }
  await opened.close();
});

test('another site can’t frame a preview or any other page', async ({ page }) => {
  await openScreen(page);
  const opened = await openPreview(page);
  await frameIn(opened, 'phone');
  const framed = (await frameIn(opened, 'desktop')).url();
  const addresses = [opened.url(), framed, site.own, `${site.own}/latest`];
  await opened.close();
  for (const address of addresses) {
    const headers = (await page.request.get(address)).headers();
    expect(headers['x-frame-options'], address).toBe('SAMEORIGIN');
    expect(headers['content-security-policy'], address).toMatch(/(?:^|; )frame-ancestors 'self'(?:;|$)/);
  }
  const frames = addresses.map((address) => `<iframe src="${address.replaceAll('&', '&amp;')}"></iframe>`);
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>A trap</title>${frames.join('')}`),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await expect.poll(() => page.frames().length).toBe(1 + addresses.length);
    const shown = () =>
      Promise.all(
        page
          .frames()
          .slice(1)
          .map((frame) => frame.evaluate(() => location.href)),
      );
    await expect.poll(shown).toEqual(addresses.map(() => 'chrome-error://chromewebdata/'));
  } finally {
    server.close();
  }
});

test('a published front becomes the home page, with its own headlines and a package', async ({ page }) => {
  await openScreen(page);
  await page.getByLabel('Kind: The Ironwood').focus();
  await page.keyboard.press('p');
  await expect(page.getByLabel('Kind: The Ironwood')).toHaveValue('package');
  await titleOf(page, 0).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Headline for this place').focus();
  await page.keyboard.insertText('The <b>day</b> in brief');
  await titleOf(page, 1).focus();
  await page.keyboard.press('Enter');
  const related = page.getByRole('group', { name: 'Related headlines' });
  await related.getByLabel('Add a story').focus();
  await page.keyboard.insertText('The Katsura');
  await expect(related.getByRole('button', { name: 'Add The Katsura' })).toBeVisible({ timeout: 30_000 });
  await page.keyboard.press('Enter');
  await related.getByLabel('Or a web address').focus();
  await page.keyboard.insertText('https://example.com/report');
  await related.getByLabel('Link text', { exact: true }).focus();
  await page.keyboard.insertText('The report itself');
  await related.getByRole('button', { name: 'Add the link' }).focus();
  await page.keyboard.press('Enter');
  await saved(page);
  expect(await violationsOn(page, '.newsroom-front')).toEqual([]);
  await publish(page);

  await page.goto(site.own);
  await expect(page.locator('.lead .headline')).toHaveText('The day in brief');
  const pack = page.locator('.package');
  await expect(pack.locator('.headline')).toHaveText('The Ironwood');
  expect(await pack.locator('li').allTextContents()).toEqual(['The Katsura', 'The report itself']);
  expect(await violationsOn(page, '.package')).toEqual([]);
  const all = await page.locator('main .headline a, .package li a').allTextContents();
  const placed = all.filter((title) => /^The [A-Z]/.test(title));
  // Only the list of the latest stories may repeat a story.
  const latest = await page.locator('.latest a').allTextContents();
  expect(placed.filter((title, at) => placed.indexOf(title) !== at && !latest.includes(title))).toEqual([]);
  await page.goto(`${site.own}/latest`);
  await expect(page.getByRole('link', { name: 'The Juniper' }).first()).toBeVisible();
  for (const width of [390, 768, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(site.own);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
});

test('the second of two editors is warned of a conflict, and can switch between both versions', async ({
  page,
  newDevice,
}) => {
  const other = await (await newDevice()).newPage();
  await openScreen(other, 'ada', 'ada');
  await openScreen(page);
  await titleOf(other, 0).focus();
  await other.keyboard.press('Alt+End');
  await saved(other);
  await titleOf(page, 0).focus();
  await page.keyboard.press('Alt+ArrowDown');
  await expect(page.getByText(/Ada Moss changed this front at/).first()).toBeVisible({ timeout: 30_000 });
  const mine = await order(page);
  await press(page, 'Show theirs');
  const theirs = await order(other);
  await expect.poll(() => order(page)).toEqual(theirs);
  await press(page, 'Undo');
  await expect.poll(() => order(page)).toEqual(mine);
  await saved(page);
  // Now the other editor is late, and keeps her version.
  await titleOf(other, 0).focus();
  await other.keyboard.press('Alt+ArrowDown');
  await expect(other.getByText(/changed this front at/).first()).toBeVisible({ timeout: 30_000 });
  await press(other, 'Keep mine');
  await saved(other);
  await press(other, 'History');
  await expect(other.getByText(/replaced draft by /).first()).toBeVisible();
});

test('an editor who opens another page during a conflict first chooses a version, and loses none', async ({
  page,
  newDevice,
}) => {
  const other = await (await newDevice()).newPage();
  await openScreen(other, 'ada', 'ada');
  await openScreen(page);
  await titleOf(other, 0).focus();
  await other.keyboard.press('Alt+End');
  await saved(other);
  // The draft is saved only after the other page is chosen.
  const chosen = Promise.withResolvers<void>();
  await page.route(/\/draft\b/, async (route) => {
    await chosen.promise;
    await route.continue();
  });
  await titleOf(page, 0).focus();
  await page.keyboard.press('Alt+ArrowDown');
  const mine = await order(page);
  const choice = page.getByLabel('Page', { exact: true });
  const front = await choice.inputValue();
  await choice.selectOption({ index: 1 });
  chosen.resolve();
  await expect(page.getByText(/Ada Moss changed this front at/).first()).toBeVisible({ timeout: 30_000 });
  await expect(choice).toHaveValue(front);
  await expect(choice).toBeDisabled();
  expect(await order(page)).toEqual(mine);
  await press(page, 'Keep mine');
  await saved(page);
  await choice.selectOption({ index: 1 });
  await expect(page.getByRole('heading', { name: 'Stories' })).toBeVisible();
  await choice.selectOption(front);
  await expect.poll(() => order(page)).toEqual(mine);
});

test('an editor restores a front from the history, and a scheduled front appears at its time', async ({ page }) => {
  test.setTimeout(400_000);
  await openScreen(page);
  await titleOf(page, 0).focus();
  const [first = ''] = await order(page);
  await page.keyboard.press('Alt+End');
  await saved(page);
  await publish(page);
  await page.reload();
  await press(page, 'History');
  const published = page.locator('.newsroom-front-history > ol > li', { hasText: 'published by' });
  await expect(published).toHaveCount(2);
  await published.nth(1).getByRole('button').focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('Compared with the published front:')).toBeVisible();
  await expect(page.locator('.newsroom-front-shown ul')).toContainText('moved from');
  expect(await violationsOn(page, '.newsroom-front')).toEqual([]);
  await press(page, 'Restore and publish');
  await untilLive(page);
  await expect.poll(() => source(page)).toContain('The day in brief');
  await expect(titleOf(page, 0)).toBeFocused();

  // Without the first story, at a time between one and two minutes ahead: it must not pass before it is entered.
  await tabTo(page, isFocused(page, `Remove: ${await titleOf(page, 0).textContent()}`));
  await page.keyboard.press('Enter');
  await saved(page);
  // In New York, an hour of the autumn has each local time twice.
  const at = await site.newsroom.php(
    `update_option( 'timezone_string', 'UTC' ); return wp_date( 'Y-m-d\\TH:i', time() + 119 );`,
  );
  await page.getByLabel(/Publish this draft at/).fill(at);
  await press(page, 'Schedule');
  await expect(page.locator('.newsroom-front-notes')).toContainText('Another front is scheduled for');
  await site.newsroom.php(`update_option( 'timezone_string', 'America/New_York' ); return 1;`);
  expect(await source(page)).toContain('The day in brief');
  await expect.poll(() => source(page), { timeout: 240_000, intervals: [2000] }).not.toContain('The day in brief');
  expect(first).not.toBe('');
});

test('an editor’s changes are saved while the site is slow to confirm a publish, which it confirms later', async ({
  page,
}) => {
  await openScreen(page);
  const isAsked = (url: string | URL) => decodeURIComponent(String(url)).includes('/newsroom/v1/delivery/');
  let isSlow = true;
  await page.route(isAsked, (route) =>
    isSlow
      ? route.fulfill({ json: { delivery: 'd', state: 'pending', message: 'Sending to the site…' } })
      : route.fallback(),
  );
  const asked = page.waitForRequest((request) => isAsked(request.url()));
  await press(page, 'Publish');
  await asked;
  await titleOf(page, 0).focus();
  await page.keyboard.press('Alt+End');
  await saved(page);
  isSlow = false;
  await untilLive(page);
});

test('the demo edition has a section with a package', async ({ page }) => {
  await page.goto('/section/justice');
  await expect(page.locator('.section-page .columns .lead .headline')).toContainText('Court Reporters');
  const pack = page.locator('.package');
  await expect(pack.locator('.headline')).toHaveText('Eleven Minutes, and the Bus That Cleared Lamont Avery');
  await expect(pack.getByRole('link', { name: 'What does a grand jury do?' })).toHaveAttribute('href', /^\/article\//);
  expect(await violationsOn(page, '.package')).toEqual([]);
  const links = await page
    .locator('main .card .headline a')
    .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(new Set(links).size).toBe(links.length);
});
