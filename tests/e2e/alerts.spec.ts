/** Breaking news, from the button in WordPress to the readers' next page, their mail and their notifications, and off it again. */
import type { Page } from '@playwright/test';
import { type Push, startPush } from '../../sandbox/push/push.ts';
import { freePort } from '../../scripts/setup/ports.mjs';
import { type Newsroom, startNewsroom } from '../../wordpress/newsroom/tests/harness.ts';
import { violationsOn } from '../world/axe.ts';
import { shiftsOn, topOf, watchShifts } from '../world/layout-shifts.ts';
import { openNewsroom } from '../world/newsroom.ts';
import { type OwnSite, startOwnSite } from '../world/own-site.ts';
import { expect, lettersTo, newEmail, test } from '../world/readers.ts';
import { signInAt } from '../world/sign-in.ts';

// An alert is on every page of a site: this one has a WordPress of its own.
test.describe.configure({ mode: 'serial' });

let newsroom: Newsroom;
let push: Push;
let own: OwnSite;

test.beforeAll(async () => {
  test.setTimeout(600_000);
  const port = await freePort();
  newsroom = await startNewsroom(`http://127.0.0.1:${port}`);
  await newsroom.php(
    `add_filter( 'newsroom_webhooks_enabled', '__return_false' );
    $section = get_terms( array( 'taxonomy' => 'category', 'slug' => 'national', 'hide_empty' => false ) );
    foreach ( array( 'The Bridge Opens', 'A Fire on Canal Street', 'Low Water' ) as $title ) { wp_insert_post( array( 'post_type' => 'articles', 'post_title' => $title, 'post_status' => 'publish', 'post_content' => '<p>' . str_repeat( 'Words of the story. ', 200 ) . '</p>', 'post_category' => wp_list_pluck( $section, 'term_id' ) ) ); }
    wp_insert_post( array( 'post_type' => 'articles', 'post_title' => 'The Count', 'post_name' => 'the-count', 'post_status' => 'publish', 'post_date' => '2001-02-04 04:05:06', 'post_content' => '<p>' . str_repeat( 'The count goes on. ', 200 ) . '</p>', 'post_category' => wp_list_pluck( $section, 'term_id' ), 'meta_input' => array( 'newsroom_live' => 'live' ) ) );
    return 1;`,
  );
  push = await startPush();
  own = await startOwnSite(
    {
      WORDPRESS_URL: newsroom.url,
      WORDPRESS_USER: newsroom.site.user,
      WORDPRESS_APP_PASSWORD: newsroom.site.password,
      NEWSROOM_SECRET: newsroom.secret,
      ONESIGNAL_APP_ID: push.access.appId,
      ONESIGNAL_API_KEY: push.access.key,
      ONESIGNAL_API_URL: push.access.url,
    },
    port,
  );
});
test.afterAll(async () => {
  await own?.stop();
  await push?.stop();
  await newsroom?.stop();
});

const banner = (page: Page) => page.getByRole('region', { name: 'Breaking news' });
const text = (page: Page) => banner(page).locator('p');
const open = (page: Page, path: string) => page.goto(own.site + path);
const source = async (page: Page, path: string) => (await page.request.get(own.site + path)).text();

/** A line as it is stored. */
const withoutMarkup = (words: string) => words.replace(/<\/?b>/g, '');

/** The administrator on the screen "Breaking news". */
async function openScreen(page: Page, query = ''): Promise<void> {
  const { url } = await openNewsroom(page.context(), newsroom);
  await page.goto(`${url}/wp-admin/admin.php?page=newsroom-alert${query}`);
  await expect(page.getByRole('heading', { name: 'Breaking news', exact: true })).toBeVisible();
}

async function publish(page: Page, words: string): Promise<void> {
  await page.getByLabel('One line').fill(words);
  await page.getByRole('button', { name: 'Put it on every page' }).click();
  // Before that, the screen says the same about the line that is replaced.
  await expect(page.locator('.newsroom-alert-now .newsroom-alert-banner')).toHaveText(
    `Breaking ${withoutMarkup(words)}`,
  );
  await expect(page.getByText(/Live on the site in [\d,]+ ms\./)).toBeVisible({ timeout: 60_000 });
}

async function takeDown(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Take it down' }).click();
  await expect(page.getByText(/Removed from the site in [\d,]+ ms\./)).toBeVisible({ timeout: 60_000 });
}

test('an editor puts a line of breaking news on every page, and takes it down', async ({ page, newDevice }) => {
  const reader = await (await newDevice()).newPage();
  await open(reader, '/latest');
  await expect(banner(reader)).toHaveCount(0);
  const article = (await reader.locator('main a[href^="/article/"]').first().getAttribute('href')) ?? '';
  const before = await source(reader, article);

  await openScreen(page);
  expect(await violationsOn(page, '.newsroom-alert')).toEqual([]);
  const words = `The <b>bridge</b> is open & “busy” ${Date.now()}`;
  const shown = withoutMarkup(words);
  await page.getByLabel('One line').fill(words);
  await expect(page.locator('form .newsroom-alert-banner')).toContainText(words);
  await publish(page, words);
  await expect(page.getByRole('heading', { name: 'On every page now' })).toBeVisible();

  // The open page doesn't change; the next page and every other address show the banner.
  await expect(banner(reader)).toHaveCount(0);
  for (const path of [article, '/', '/latest', '/pricing', '/search?q=bridge', '/nothing-here', '/socialLogin']) {
    await open(reader, path);
    await expect(text(reader), path).toHaveText(`Breaking${shown}`);
  }
  expect(await violationsOn(reader, '.alert')).toEqual([]);
  expect(await source(reader, '/offline')).not.toContain('data-alert');

  await openScreen(page);
  await takeDown(page);
  await expect(page.getByRole('heading', { name: 'Last alert' })).toBeVisible();
  await open(reader, article);
  await expect(banner(reader)).toHaveCount(0);
  // The page is byte for byte as before.
  expect(await source(reader, article)).toBe(before);
});

test('an alert started from a story has its title, and its banner links to the story', async ({ page }) => {
  await openScreen(page);
  const option = page.locator('#newsroom_alert_story option').nth(1);
  const [id, title] = [await option.getAttribute('value'), await option.textContent()];
  await openScreen(page, `&story=${id}`);
  await expect(page.getByLabel('One line')).toHaveValue(title ?? '');
  await page.getByRole('button', { name: 'Put it on every page' }).click();
  await expect(page.getByText(/Live on the site in/)).toBeVisible({ timeout: 60_000 });
  await open(page, '/latest');
  const link = banner(page).getByRole('link');
  await expect(link).toHaveAttribute('href', /^\/article\//);
  await link.click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(title ?? '');
});

test('a reader dismisses the banner by keyboard, on all pages and without layout shifts, until the next alert', async ({
  page,
}) => {
  const blocked: string[] = [];
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) blocked.push(message.text());
  });
  await watchShifts(page, 'blocked');
  await open(page, '/latest');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(banner(page).getByLabel('Hide this news')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(banner(page)).toBeHidden();
  await expect(page.locator('#main')).toBeFocused();
  await open(page, '/');
  await expect(banner(page)).toHaveCount(0);
  expect(await shiftsOn(page)).toEqual([]);
  expect(blocked).toEqual([]);

  const editor = await page.context().newPage();
  await openScreen(editor);
  await publish(editor, 'Another line');
  await open(page, '/');
  await expect(text(page)).toHaveText('BreakingAnother line');
});

test('without JavaScript the alert’s banner is shown, and can be dismissed', async ({ browser }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
  const page = await context.newPage();
  await open(page, '/');
  await expect(text(page)).toHaveText('BreakingAnother line');
  await banner(page).locator('summary').click();
  await expect(banner(page)).toBeHidden();
  await context.close();
});

/** Hides an open page for a while and shows it again, as a browser does with a tab. */
const lookAway = (page: Page, seconds: number): Promise<void> =>
  page.evaluate((away) => {
    const { now } = Date;
    for (const hidden of [true, false]) {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
      if (!hidden) Date.now = () => now() + away * 1000;
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }
    Date.now = now;
  }, seconds);

test('an open page shows and removes the banner when it is looked at again after a minute, without moving the text', async ({
  page,
  newDevice,
}) => {
  const blocked: string[] = [];
  const asked: string[] = [];
  const reader = await (await newDevice()).newPage();
  reader.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) blocked.push(message.text());
  });
  reader.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await openScreen(page);
  await takeDown(page);
  await open(reader, '/latest');
  await publish(page, 'The bridge is shut');
  const looks = () => asked.filter((path) => path === '/fragments/alert').length;
  await lookAway(reader, 30);
  await expect(banner(reader)).toHaveCount(0);
  expect(looks()).toBe(0);

  // In the middle of the page nothing that is in view moves.
  await reader.evaluate(() => scrollTo(0, 600));
  const card = 'main article:nth-of-type(1)';
  const before = await topOf(reader, card);
  await lookAway(reader, 61);
  await expect(banner(reader)).toBeAttached();
  await expect.poll(() => topOf(reader, card)).toBeCloseTo(before, 0);
  await expect(reader.getByRole('status').filter({ hasText: 'Breaking news: The bridge is shut' })).toBeAttached();
  await lookAway(reader, 61);
  await expect.poll(looks).toBe(2);
  await expect(banner(reader)).toHaveCount(1);

  await openScreen(page);
  await takeDown(page);
  await lookAway(reader, 61);
  await expect(banner(reader)).toHaveCount(0);
  await expect.poll(() => topOf(reader, card)).toBeCloseTo(before, 0);
  await expect(reader.getByRole('status').filter({ hasText: 'has been withdrawn' })).toBeAttached();

  // At the top of the page the banner is visible, and can be dismissed.
  await reader.evaluate(() => scrollTo(0, 0));
  await publish(page, 'The bridge is open');
  await lookAway(reader, 61);
  await expect(text(reader)).toHaveText('BreakingThe bridge is open');
  await expect(banner(reader)).toBeInViewport();
  expect(await violationsOn(reader, '.alert')).toEqual([]);
  await banner(reader).getByLabel('Hide this news').click();
  await expect(banner(reader)).toBeHidden();
  await open(reader, '/');
  await lookAway(reader, 61);
  await expect.poll(looks).toBe(5);
  await expect(banner(reader)).toHaveCount(0);
  expect(blocked).toEqual([]);
});

test('an open page of a live story shows and removes the banner at once', async ({ page, newDevice }) => {
  await openScreen(page);
  await takeDown(page);
  const reader = await (await newDevice()).newPage();
  const asked: string[] = [];
  reader.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const stream = reader.waitForResponse((answer) => /\/live\/\d+/.test(answer.url()));
  await open(reader, '/article/the-count');
  expect((await stream).status()).toBe(200);
  await reader.evaluate(() => scrollTo(0, 500));
  const read = 'main .prose p';
  const before = await topOf(reader, read);
  await publish(page, 'The count is over');
  await expect(text(reader)).toHaveText('BreakingThe count is over');
  await expect.poll(() => topOf(reader, read)).toBeCloseTo(before, 0);
  await openScreen(page);
  await takeDown(page);
  await expect(banner(reader)).toHaveCount(0);
  await expect.poll(() => topOf(reader, read)).toBeCloseTo(before, 0);
  expect(asked).not.toContain('/fragments/alert');
  await publish(page, 'Another line');
});

test('a long alert wraps on a phone, and the page is no wider than the screen', async ({ page }) => {
  const editor = await page.context().newPage();
  await openScreen(editor);
  await publish(editor, `${'Supercalifragilistic'.repeat(4)} ${'words that go on '.repeat(7)}`.slice(0, 200).trim());
  await page.setViewportSize({ width: 390, height: 800 });
  await open(page, '/');
  await expect(banner(page)).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  const close = await banner(page).locator('summary').boundingBox();
  expect(close && [close.width, close.height].every((side) => side >= 44)).toBe(true);
});

test('an alert is sent once, by email and push, to the readers who asked for it, and the editor sees that', async ({
  page,
  newDevice,
}) => {
  const email = newEmail();
  const reader = await (await newDevice()).newPage();
  await signInAt(reader.context(), email, own.site, own.dataDir);
  await open(reader, '/dashboard/newsletters');
  const choice = reader.getByRole('checkbox', { name: 'Breaking News' });
  // The first click waits for the island.
  await choice.click();
  await expect(choice).toBeChecked();
  await reader.getByRole('button', { name: 'Save' }).click();
  await expect(reader.getByText('Your choices are saved.')).toBeVisible();

  await openScreen(page);
  await page.getByLabel('Email').check();
  await page.getByLabel('Web push').check();
  await publish(page, 'The bridge is closed again');
  await expect(page.getByText('Readers: 1.')).toBeVisible({ timeout: 60_000 });
  await expect(page.getByText('OneSignal has accepted it.')).toBeVisible();
  const news = async () => (await lettersTo(email)).filter(({ subject }) => subject.startsWith('Breaking News'));
  await expect
    .poll(async () => (await news()).map(({ subject }) => subject))
    .toEqual(['Breaking News: The bridge is closed again']);

  // The same form again, as a browser sends it after going back.
  await page.goBack();
  await page.getByRole('button', { name: 'Put it on every page' }).click();
  await expect(page.getByRole('heading', { name: 'On every page now' })).toBeVisible();
  const sent = await (await fetch(`${push.access.url}/sent`)).json();
  expect(sent.map(({ contents }: { contents: { en: string } }) => contents.en)).toEqual(['The bridge is closed again']);
  expect(await news()).toHaveLength(1);
});
