/** Live coverage: an editor writes on the live screen of the real WordPress, and readers get it in their open pages, with and without JavaScript. */
import type { BrowserContext, Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { cards, expectThanks, fillCard, join, openPaywall } from '../world/checkout.ts';
import { intercept } from '../world/intercept.ts';
import { topOf } from '../world/layout-shifts.ts';
import { live, openNewsroom, textOf, unique } from '../world/newsroom.ts';
import { expect, newEmail, signIn, test } from '../world/readers.ts';

// In one worker: the tests share WordPress, which answers one call at a time.
test.describe.configure({ mode: 'default', timeout: 300_000 });

const demo = '/article/house-passes-highway-bill-by-one-vote';

/** The demo's administrator, with a live story far down every list. */
async function newsroom(context: BrowserContext, fields: object = {}) {
  const { url, save } = await openNewsroom(context);
  const { id, slug } = await save('articles', {
    title: 'The Count',
    slug: `count-${unique()}`,
    status: 'publish',
    content: `<p>${'The count goes on in the gymnasium. '.repeat(40)}</p>`,
    date_gmt: '2001-02-04T04:05:06',
    meta: { newsroom_live: 'live', ...fields },
  });
  const write = (title: string, words: string, part: object = {}) =>
    save('live-entries', {
      title,
      content: `<!-- wp:paragraph --><p>${words}</p><!-- /wp:paragraph -->`,
      status: 'publish',
      ...part,
      meta: { newsroom_story: id, ...(part as { meta?: object }).meta },
    });
  return {
    screen: `${url}/wp-admin/edit.php?post_type=articles&page=newsroom-live&story=${id}`,
    list: `${url}/wp-admin/edit.php?post_type=articles&s=count`,
    path: `/article/${slug}`,
    write,
    change: (entry: number, data: object) => save(`live-entries/${entry}`, data),
    withdraw: (entry: number) => save(`live-entries/${entry}`, {}, 'DELETE'),
    end: () => save(`articles/${id}`, { meta: { newsroom_live: 'ended' } }),
  };
}

/** Opens a story, and waits for its stream. */
async function follow(page: Page, path: string): Promise<void> {
  const stream = page.waitForResponse((answer) => /\/live\/\d+/.test(answer.url()));
  await page.goto(path);
  expect((await stream).status()).toBe(200);
}

test('an editor publishes an entry by keyboard alone, and it appears in a reader’s open page', async ({
  page,
  browser,
  baseURL,
}) => {
  const sum = unique();
  const paper = await newsroom(page.context());
  await paper.write('The first box', 'It has been opened.');
  await expect.poll(() => textOf(page, paper.path), live).toContain('It has been opened.');
  const reader = await browser.newPage({ baseURL });
  await follow(reader, paper.path);

  await page.goto(paper.screen);
  const form = page.getByRole('form', { name: 'New entry' });
  const title = form.getByLabel('Headline (optional)');
  await title.focus();
  await page.keyboard.insertText(`The second box ${sum}`);
  await page.keyboard.press('Tab');
  await form.getByRole('document').first().focus();
  await page.keyboard.type('Ballots were ');
  await page.keyboard.press('ControlOrMeta+b');
  await page.keyboard.type('counted');
  await page.keyboard.press('ControlOrMeta+b');
  await page.keyboard.type(' twice.');
  // It is stored as a draft before it is published.
  await expect(form.getByText('Saved as a draft.')).toBeVisible(live);
  expect(await textOf(page, paper.path)).not.toContain(sum);
  // Except for the blocks, which are WordPress's own.
  for (const part of ['.newsroom-live-state', '.newsroom-live-fields', '.newsroom-live-list'])
    expect(await violationsOn(page, part)).toEqual([]);
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(form.getByText('Published.')).toBeVisible(live);
  await expect(title).toHaveValue('');
  await expect(title).toBeFocused();
  const button = reader.getByRole('button', { name: '1 new update' });
  const list = reader.locator('[data-live-list="story"]');
  await expect(list.getByText(sum).or(button)).toBeVisible(live);
  if (await button.isVisible()) await button.click();
  await expect(list.locator('.entry').first()).toContainText(`The second box ${sum}`);
  await expect(list.locator('.entry').first().locator('strong')).toHaveText('counted');

  // The next entry, without leaving the keyboard; then an entry in the list is changed and withdrawn.
  await page.keyboard.insertText(`The third box ${sum}`);
  await page.keyboard.press('ControlOrMeta+Enter');
  const rows = page.locator('.newsroom-live-list > li');
  await expect(rows).toHaveCount(3, live);
  await rows
    .first()
    .getByRole('button', { name: /^Key event/ })
    .click();
  await expect(reader.locator('[data-live-keys]').getByText(`The third box ${sum}`)).toBeVisible(live);
  await rows
    .first()
    .getByRole('button', { name: /^Withdraw/ })
    .click();
  await expect(rows).toHaveCount(2, live);
  await expect(reader.getByText(`The third box ${sum}`)).toHaveCount(0, live);
  expect(await textOf(page, paper.path)).not.toContain(`The third box ${sum}`);

  // The list of stories shows which ones are live.
  await page.goto(paper.list);
  await expect(page.locator('.column-newsroom_live').getByRole('link', { name: /^Live/ }).first()).toBeVisible();
  await reader.close();
});

test('an editor can publish the next entry by keyboard while the list of entries is still loading', async ({
  page,
}) => {
  const sum = unique();
  const paper = await newsroom(page.context());
  const list = /status=publish(?:,|%2C)draft/;
  const loaded = page.waitForResponse(list);
  await page.goto(paper.screen);
  await loaded;
  const form = page.getByRole('form', { name: 'New entry' });
  await form.getByLabel('Headline (optional)').focus();
  const rows = page.locator('.newsroom-live-list > li');
  const pressed = Promise.withResolvers<void>();
  await intercept(page, list, async (route) => {
    await pressed.promise;
    await route.continue();
  });
  const publish = async (title: string) => {
    await page.keyboard.insertText(`${title} ${sum}`);
    await page.keyboard.press('ControlOrMeta+Enter');
  };
  await publish('The first box');
  await expect(form.getByText('Published.')).toBeVisible(live);
  await publish('The second box');
  pressed.resolve();
  await expect(rows).toHaveCount(2, live);
  await expect(rows.filter({ hasText: 'Draft' })).toHaveCount(0);
  await expect.poll(() => textOf(page, paper.path), live).toContain(`The second box ${sum}`);
});

test('an entry by a user without publishing rights is submitted for review', async ({ page, browser }) => {
  const mark = unique();
  const { url, save } = await openNewsroom(page.context());
  const contributor = { username: mark, password: mark, email: `${mark}@example.com`, roles: ['contributor'] };
  const { id: author } = await save('users', contributor);
  const { id } = await save('articles', { title: mark, status: 'draft', author, meta: { newsroom_live: 'live' } });
  const theirs = await browser.newContext();
  await openNewsroom(theirs, { url, adminUser: mark, adminPassword: mark });
  const screen = await theirs.newPage();
  await screen.goto(`${url}/wp-admin/edit.php?post_type=articles&page=newsroom-live&story=${id}`);
  const form = screen.getByRole('form', { name: 'New entry' });
  await form.getByLabel('Headline (optional)').fill('The first box');
  await form.getByRole('button', { name: /^Submit for review/ }).click();
  await expect(form.getByText('Submitted for review.')).toBeVisible();
  await expect(screen.locator('.newsroom-live-list > li')).toContainText('Pending review');
  await theirs.close();
  await save(`users/${author}?force=true&reassign=1`, {}, 'DELETE');
});

test('a reader in the middle of the page sees “1 new update”, and the text being read doesn’t move', async ({
  page,
}) => {
  const sum = unique();
  const paper = await newsroom(page.context());
  let last = { id: 0 };
  for (let at = 1; at <= 6; at++) last = await paper.write(`Update ${at}`, `Words of update ${at}. `.repeat(60));
  await expect.poll(() => textOf(page, paper.path), live).toContain('Update 6');
  await follow(page, paper.path);
  const read = page.locator('.entry', { hasText: 'Update 3' }).first();
  await read.evaluate((element) => element.scrollIntoView({ block: 'start', behavior: 'instant' }));
  const id = `#${await read.getAttribute('id')}`;
  const before = await topOf(page, id);
  // A move that the reader's press caused doesn't count as a shift.
  const shifts = await page.evaluate(() => {
    Reflect.set(window, 'shifts', 0);
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (!Reflect.get(entry, 'hadRecentInput'))
          Reflect.set(window, 'shifts', Reflect.get(window, 'shifts') + Reflect.get(entry, 'value'));
    }).observe({ type: 'layout-shift' });
    return Reflect.get(window, 'shifts');
  });
  expect(shifts).toBe(0);

  await paper.write(`News ${sum}`, 'It is in.');
  const button = page.getByRole('button', { name: '1 new update' });
  await expect(button).toBeVisible(live);
  await expect(page.locator('.live [role=status]')).toHaveText('1 new update');
  expect(await topOf(page, id)).toBe(before);

  // An entry above the reader's place grows, then it is withdrawn: the reader's place doesn't move.
  await paper.change(last.id, { content: `<p>${'Many more words than before. '.repeat(200)}</p>` });
  await expect(page.locator(`#entry-${last.id}`)).toContainText('Many more words', live);
  expect(Math.abs((await topOf(page, id)) - before)).toBeLessThanOrEqual(1);
  await paper.withdraw(last.id);
  await expect(page.locator(`#entry-${last.id}`)).toHaveCount(0, live);
  expect(Math.abs((await topOf(page, id)) - before)).toBeLessThanOrEqual(1);
  expect(await violationsOn(page, '.live')).toEqual([]);

  await button.focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-live-list="story"] .entry').first()).toContainText(`News ${sum}`);
  await expect(page.locator(':focus')).toContainText(`News ${sum}`);
  await expect(button).toBeHidden();
  expect(await page.evaluate(() => Reflect.get(window, 'shifts'))).toBeLessThan(0.01);
});

test('a page restored from the back-forward cache gets the entries it missed', async ({ page }) => {
  const sum = unique();
  const paper = await newsroom(page.context());
  await paper.write('Here', 'First words.');
  await expect.poll(() => textOf(page, paper.path), live).toContain('First words.');
  await follow(page, paper.path);
  await page.goto('/about');
  await paper.write(`Missed ${sum}`, 'While away.');
  await page.goBack();
  const missed = page.locator('[data-live-list="story"]').getByText(sum);
  const button = page.getByRole('button', { name: '1 new update' });
  await expect(missed.or(button).first()).toBeVisible(live);
});

test('when live coverage ends, open pages say so and the story becomes a normal article', async ({ page }) => {
  const paper = await newsroom(page.context());
  await paper.write('Last', 'That was it.');
  await expect.poll(() => textOf(page, paper.path), live).toContain('That was it.');
  expect(await textOf(page, paper.path)).toContain('"@type":"LiveBlogPosting"');
  await follow(page, paper.path);
  await paper.end();
  await expect(page.getByText('Live coverage has ended.').first()).toBeVisible(live);
  await expect(page.locator('.live-badge')).toHaveCount(0);
  await expect.poll(() => textOf(page, paper.path), live).toContain('"@type":"NewsArticle"');
  const html = await textOf(page, paper.path);
  expect([html.includes('That was it.'), html.includes('data-live=')]).toEqual([true, false]);
});

test('search finds a live story by an entry’s text and labels it “Live” while that is true', async ({ page }) => {
  const word = `marigold${unique()}`;
  const paper = await newsroom(page.context());
  const entry = await paper.write('The third box', `Someone had put a ${word} into it.`);
  const found = `/search?q=${word}`;
  await expect.poll(() => textOf(page, found), live).toContain(paper.path);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(found);
  const card = page.locator('article.card', { has: page.locator(`a[href="${paper.path}"]`) });
  await expect(card.getByText('Live', { exact: true })).toBeVisible();
  await expect(card.locator('mark')).toHaveText(word);
  expect(await violationsOn(page, '.results')).toEqual([]);

  await page.getByRole('link', { name: 'Search', exact: true }).first().click();
  const overlay = page.getByRole('dialog');
  await overlay.getByRole('searchbox').fill(word);
  const hit = overlay.locator('li', { hasText: word });
  await expect(hit.getByText('Live', { exact: true })).toBeVisible();

  await paper.end();
  await expect.poll(() => textOf(page, found), live).not.toContain('>Live<');
  expect(await textOf(page, found)).toContain(paper.path);
  await paper.withdraw(entry.id);
  await expect.poll(() => textOf(page, found), live).not.toContain(paper.path);
});

test('the front page labels the live story “Live”, without axe violations', async ({ page }) => {
  await page.goto('/');
  const card = `article:has(a.cover[href="${demo}"])`;
  await expect(page.locator(card).first().getByText('Live', { exact: true })).toBeVisible();
  expect(await violationsOn(page, card)).toEqual([]);
});

test('a video in an arriving entry loads nothing from YouTube until the reader plays it', async ({ page }) => {
  const asked: string[] = [];
  await page.route(/youtube/, (route) => {
    asked.push(route.request().url());
    return route.fulfill({ contentType: 'text/html', body: '<p>A film</p>' });
  });
  const paper = await newsroom(page.context());
  await paper.write('First', 'It begins.');
  await expect.poll(() => textOf(page, paper.path), live).toContain('It begins.');
  await follow(page, paper.path);
  await paper.write('Filmed', '', {
    content:
      '<!-- wp:html --><iframe title="The count, filmed" src="https://www.youtube.com/embed/eRsGyueVLvQ?feature=oembed"></iframe><!-- /wp:html -->',
  });
  const entry = page.locator('.entry', { hasText: 'Filmed' });
  const more = page.getByRole('button', { name: '1 new update' });
  await expect(entry.or(more).first()).toBeVisible(live);
  if (await more.isVisible()) await more.click();
  const play = entry.getByRole('button', { name: /^Play the video from/ });
  await expect(play).toBeVisible();
  expect(asked).toEqual([]);
  expect(await violationsOn(page, '.live')).toEqual([]);
  await play.focus();
  await page.keyboard.press('Enter');
  await expect(entry.locator('iframe[title="The count, filmed"]')).toBeFocused();
  await expect.poll(() => asked.length).toBeGreaterThan(0);
});

test('a gift link opens a live story’s further pages and arriving entries, and no other story', async ({
  page,
  context,
  newDevice,
}) => {
  const sum = unique();
  const paper = await newsroom(context, { newsroom_access: 'subscriber' });
  const first = await paper.write(`Oldest ${sum}`, 'Words of the oldest.');
  for (let at = 1; at <= 21; at++) await paper.write(`Update ${at}`, `Words of update ${at}.`);
  const giver = await newDevice();
  await signIn(giver, newEmail('giver'));
  const own = await giver.newPage();
  await openPaywall(own, 'reader-monthly');
  await fillCard(own, cards.good);
  await join(own, '$12');
  await expectThanks(own);
  await expect.poll(() => textOf(own, paper.path), live).toContain('Update 21');
  await own.goto(paper.path);
  await expect(own.locator('.entry')).toHaveCount(20);
  await own.getByRole('group', { name: 'Tools for this story' }).getByRole('button', { name: 'Share' }).click();
  const menu = own.getByRole('group', { name: 'Share this story' });
  await menu.getByRole('button', { name: 'Give this story away' }).click();
  const out = menu.locator('[data-gift-out]');
  await expect(out).toContainText('/gift/');
  const [link = ''] = /https?:\S+\/gift\/\S+/.exec((await out.textContent()) ?? '') ?? [];

  const friend = await (await newDevice()).newPage();
  await friend.goto(`${paper.path}/live?page=2`);
  await expect(friend.getByRole('heading', { name: 'The rest of this story is for subscribers' })).toBeVisible();
  await friend.goto(link);
  const stream = friend.waitForResponse((answer) => /\/live\/\d+\?/.test(answer.url()));
  await friend.getByRole('button', { name: 'Read the story' }).click();
  expect((await stream).status()).toBe(200);
  await expect(friend.locator('.entry')).toHaveCount(20);
  await paper.write(`News ${sum}`, 'It is in.');
  const more = friend.getByRole('button', { name: '1 new update' });
  await expect(friend.getByText(`News ${sum}`).or(more).first()).toBeVisible(live);
  // The permanent address of the oldest entry leads to the second page.
  await friend.goto(`${paper.path}/live/${first.id}`);
  await expect(friend).toHaveURL(new RegExp(`/live\\?page=2#entry-${first.id}$`));
  await expect(friend.locator(`#entry-${first.id}`)).toContainText('Words of the oldest.');
  // Further, the gift opens only this story.
  await friend.goto('/article/railroads-publish-their-delays');
  await expect(friend.getByRole('heading', { name: 'The rest of this story is for subscribers' })).toBeVisible();
  expect(await textOf(page, `${paper.path}/live?page=2`)).not.toContain('Words of the oldest.');
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });
  test('the demo’s live story has its pinned entry, key events and links to single entries', async ({ page }) => {
    await page.goto(demo);
    const updates = page.getByRole('region', { name: 'Live updates' });
    await expect(updates.locator('.live-badge')).toHaveText('Live');
    await expect(updates.locator('.entry')).toHaveCount(8);
    await expect(updates.locator('.entry').first()).toContainText('What the bill would do');
    const keys = updates.getByRole('navigation', { name: 'Key events' });
    await expect(keys.getByRole('link')).toHaveCount(4);
    await keys.getByRole('link', { name: '214 to 214' }).click();
    await expect(page).toHaveURL(/#entry-\d+$/);
    await expect(page.locator(':target')).toContainText('Time has expired');
  });
});

test('a story that is not live contains no live markup and requests no stream', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto('/article/erie-makes-one-thing-well', { waitUntil: 'networkidle' });
  expect(asked.filter((path) => /\/live\/|follow/.test(path))).toEqual([]);
  expect(await page.content()).not.toMatch(/live-badge|data-live|entry-when/);
});

test('the live story has no axe violations and fits a phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(demo);
  expect(await violationsOn(page, '.story')).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
});
