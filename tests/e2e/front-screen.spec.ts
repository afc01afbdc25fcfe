/** Fronts, edited on the screen of the real WordPress with the keyboard alone: drafts, preview, publication, schedule, history. */
import type { BrowserContext, Page } from '@playwright/test';
import { freePort } from '../../scripts/setup/ports.mjs';
import { type Newsroom, startNewsroom } from '../../wordpress/newsroom/tests/harness.ts';
import { violationsOn } from '../world/axe.ts';
import { type OwnSite, startOwnSite } from '../world/own-site.ts';
import { expect, test } from '../world/readers.ts';

// A front is the home page of a site: this one has a WordPress of its own.
test.describe.configure({ mode: 'serial' });

let newsroom: Newsroom;
let own: OwnSite;
const titles = 'Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel Ironwood Juniper Katsura Linden Maple Nutmeg'
  .split(' ')
  .map((tree) => `The ${tree}`);

test.beforeAll(async () => {
  test.setTimeout(300_000);
  const port = await freePort();
  newsroom = await startNewsroom(`http://127.0.0.1:${port}`);
  await newsroom.php(
    `add_filter( 'newsroom_webhooks_enabled', '__return_false' );
    update_option( 'timezone_string', 'America/New_York' );
    $section = get_terms( array( 'taxonomy' => 'category', 'slug' => 'national', 'hide_empty' => false ) );
    foreach ( $input as $at => $title ) { wp_insert_post( array( 'post_type' => 'articles', 'post_title' => $title, 'post_status' => 'publish', 'post_date' => gmdate( 'Y-m-d H:i:s', time() - 86400 - 60 * $at ), 'post_excerpt' => 'What happened in short.', 'post_content' => '<p>' . str_repeat( 'Words of the story. ', 200 ) . '</p>', 'post_category' => wp_list_pluck( $section, 'term_id' ) ) ); }
    wp_insert_user( array( 'user_login' => 'ada', 'user_pass' => 'ada', 'user_email' => 'ada@newsroom.invalid', 'display_name' => 'Ada Moss', 'role' => 'editor' ) );
    return 1;`,
    titles,
  );
  own = await startOwnSite(
    {
      WORDPRESS_URL: newsroom.url,
      WORDPRESS_USER: newsroom.site.user,
      WORDPRESS_APP_PASSWORD: newsroom.site.password,
      NEWSROOM_SECRET: newsroom.secret,
    },
    port,
  );
});
test.afterAll(async () => {
  await own?.stop();
  await newsroom?.stop();
});

async function signIn(context: BrowserContext, user: string, password: string): Promise<void> {
  const { request } = context;
  await request.get(`${newsroom.url}/wp-login.php`);
  await request.post(`${newsroom.url}/wp-login.php`, { form: { log: user, pwd: password, testcookie: '1' } });
}

/** An editor on the screen "Front". */
async function openScreen(page: Page, user = newsroom.adminUser, password = newsroom.adminPassword): Promise<void> {
  await signIn(page.context(), user, password);
  await page.goto(`${newsroom.url}/wp-admin/admin.php?page=newsroom-front`);
  await expect(page.getByRole('heading', { name: 'Stories', exact: true })).toBeVisible();
}

const rows = (page: Page) => page.locator('.newsroom-front-slots > li');
const titleOf = (page: Page, at: number) => rows(page).nth(at).locator('.newsroom-front-title');
const order = (page: Page) => page.locator('.newsroom-front-slots .newsroom-front-title').allTextContents();
const saved = (page: Page) => expect(page.locator('.newsroom-front-message')).toHaveText('Draft saved.');
const source = async (page: Page, path = '/') => (await page.request.get(own.site + path)).text();
/** The stories at the top of the page, in their order. */
const topOf = (page: Page) => page.locator('.front-lead .middle .headline a').allTextContents();

/** Tabs to a control, as an editor without a mouse does. */
async function tabTo(page: Page, wanted: () => Promise<boolean>, key = 'Tab'): Promise<void> {
  for (let press = 0; press < 80; press++) {
    if (await wanted()) return;
    await page.keyboard.press(key);
  }
  throw new Error('The control can’t be reached with the keyboard.');
}
const isFocused = (page: Page, name: string) => () =>
  page.evaluate(
    (text) =>
      document.activeElement?.textContent === text || document.activeElement?.getAttribute('aria-label') === text,
    name,
  );

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).first().focus();
  await page.keyboard.press('Enter');
}

async function publish(page: Page): Promise<void> {
  await press(page, 'Publish');
  await expect(page.locator('.newsroom-front-message')).toHaveText(/^Live on the site in [\d,]+ ms\.$/, {
    timeout: 60_000,
  });
}

test('ten slots are placed and rearranged with the keyboard alone within a minute', async ({ page }) => {
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
  expect(await order(page)).toEqual(titles.slice(0, 10));
  expect(await violationsOn(page, '.newsroom-front')).toEqual([]);
  expect(await source(page)).not.toContain('data-slot');

  const began = Date.now();
  await titleOf(page, 0).focus();
  // Each of the ten in turn comes before those that were moved before it.
  for (const title of titles.slice(1, 10)) {
    await tabTo(page, isFocused(page, title), 'ArrowDown');
    await page.keyboard.press('Alt+Home');
    await expect(titleOf(page, 0)).toHaveText(title);
    await expect(titleOf(page, 0)).toBeFocused();
  }
  expect(await order(page)).toEqual(titles.slice(0, 10).reverse());
  await saved(page);
  const seconds = (Date.now() - began) / 1000;
  console.log(`ten slots rearranged in ${seconds.toFixed(1)} s`);
  expect(seconds).toBeLessThanOrEqual(60);

  // Step by step, announced politely, and back.
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
});

test('a preview shows the draft as any reader would see it, and readers don’t see it', async ({ page, context }) => {
  await openScreen(page);
  await saved(page).catch(() => {});
  const before = await source(page);
  for (const [name, width] of [
    ['Preview on a phone', 390],
    ['Preview on a desktop', 1280],
  ] as const) {
    const opening = context.waitForEvent('page');
    await press(page, name);
    const opened = await opening;
    await opened.waitForURL(/\/preview\?/, { timeout: 30_000 });
    await expect(opened.locator('.lead .headline')).toHaveText('The Juniper');
    expect(await topOf(opened)).toEqual(titles.slice(0, 10).reverse().slice(0, 6));
    const answer = await opened.request.get(opened.url());
    expect([answer.headers()['cache-control'], answer.headers()['x-robots-tag']]).toEqual([
      'private, no-store',
      'noindex, nofollow',
    ]);
    await opened.setViewportSize({ width, height: 800 });
    expect(await opened.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    await opened.close();
  }
  expect(await source(page)).toBe(before);
  const wrong = await page.request.get(
    `${own.site}/preview?type=fronts&id=1&expires=9999999999&signature=${'0'.repeat(64)}`,
  );
  expect(wrong.status()).toBe(401);
});

test('a published front is the home page, with headlines for its places and a package', async ({ page }) => {
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
  await related.getByLabel('Or an address').focus();
  await page.keyboard.insertText('https://example.com/report');
  await related.getByLabel('Its words').focus();
  await page.keyboard.insertText('The report itself');
  await related.getByRole('button', { name: 'Add the address' }).focus();
  await page.keyboard.press('Enter');
  await saved(page);
  expect(await violationsOn(page, '.newsroom-front')).toEqual([]);
  await publish(page);

  await page.goto(own.site);
  await expect(page.locator('.lead .headline')).toHaveText('The day in brief');
  const pack = page.locator('.package');
  await expect(pack.locator('.headline')).toHaveText('The Ironwood');
  expect(await pack.locator('li').allTextContents()).toEqual(['The Katsura', 'The report itself']);
  expect(await violationsOn(page, '.package')).toEqual([]);
  const all = await page.locator('main .headline a, .package li a').allTextContents();
  const placed = all.filter((title) => /^The [A-Z]/.test(title));
  // The list of the latest alone may repeat a story.
  const latest = await page.locator('.latest a').allTextContents();
  expect(placed.filter((title, at) => placed.indexOf(title) !== at && !latest.includes(title))).toEqual([]);
  await page.goto(`${own.site}/latest`);
  await expect(page.getByRole('link', { name: 'The Juniper' }).first()).toBeVisible();
  for (const width of [390, 768, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(own.site);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
});

test('the second of two editors is told, and both versions can be had', async ({ page, newDevice }) => {
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
  // Now the other one is late, and keeps her version.
  await titleOf(other, 0).focus();
  await other.keyboard.press('Alt+ArrowDown');
  await expect(other.getByText(/changed this front at/).first()).toBeVisible({ timeout: 30_000 });
  await press(other, 'Keep mine');
  await saved(other);
  await press(other, 'History');
  await expect(other.getByText(/draft of .* that was replaced/).first()).toBeVisible();
});

test('the history restores a front, and a scheduled one comes at its time', async ({ page }) => {
  test.setTimeout(240_000);
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
  await expect(page.getByText('Compared with what is published now:')).toBeVisible();
  await expect(page.locator('.newsroom-front-shown ul')).toContainText('moved from');
  expect(await violationsOn(page, '.newsroom-front')).toEqual([]);
  await press(page, 'Restore and publish');
  await expect(page.locator('.newsroom-front-message')).toHaveText(/^Live on the site in [\d,]+ ms\.$/, {
    timeout: 60_000,
  });
  await expect.poll(() => source(page)).toContain('The day in brief');
  await expect(titleOf(page, 0)).toBeFocused();

  // Without the first story, at a time a minute ahead at most.
  await tabTo(page, isFocused(page, `Remove: ${await titleOf(page, 0).textContent()}`));
  await page.keyboard.press('Enter');
  await saved(page);
  const at = await newsroom.php(`return wp_date( 'Y-m-d\\TH:i', time() + 90 );`);
  await page.getByLabel(/Publish this draft at/).fill(at);
  await press(page, 'Schedule');
  await expect(page.locator('.newsroom-front-notes')).toContainText('Another front is scheduled for');
  expect(await source(page)).toContain('The day in brief');
  await expect.poll(() => source(page), { timeout: 150_000, intervals: [2000] }).not.toContain('The day in brief');
  expect(first).not.toBe('');
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
