/** Writing under a story: posting, moderation, replying, editing, reporting, sorting; with failures, and without a script. */
import type { APIRequestContext, BrowserContext, Page, PlaywrightWorkerArgs } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { intercept } from '../world/intercept.ts';
import { signInToWordPress } from '../world/newsroom.ts';
import { expect, signIn, test } from '../world/readers.ts';
import { testWordPress } from '../world/world.ts';

// In one worker: the tests share a story, whose first page has ten comments, and WordPress.
test.describe.configure({ mode: 'default' });

/** Article of the demo edition with three pages of comments; other tests count them, so these tests only read them. */
const discussed = '/article/crack-closes-mississippi-bridge';
/** Where these tests write. */
const story = '/article/norway-fleet-steers-by-paper';

const region = (page: Page) => page.locator('#comments');
const words = (page: Page) => region(page).getByLabel('Your comment', { exact: true });
const ownList = (page: Page) => region(page).getByRole('list', { name: 'Your comments' });
const unique = (text: string): string =>
  `${text} (${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)})`;

/** The demo's administrator, who moderates through WordPress's own REST API. */
async function editor(playwright: PlaywrightWorkerArgs['playwright']) {
  const request: APIRequestContext = await playwright.request.newContext();
  const { url } = testWordPress();
  const nonce = await signInToWordPress(request);
  // The other side may just have closed a kept-alive connection.
  const usual = { headers: { 'X-WP-Nonce': nonce }, maxRetries: 2 };
  return {
    async find(text: string): Promise<number> {
      // The page has markup characters as entities.
      const token = /\((\w+)\)$/.exec(text)?.[1] ?? text;
      const path = `${url}/wp-json/wp/v2/comments?status=hold&context=edit&search=${encodeURIComponent(token)}`;
      const ids = async () => ((await (await request.get(path, usual)).json()) as { id: number }[]).map(({ id }) => id);
      await expect.poll(ids, { message: text, timeout: 60_000 }).toHaveLength(1);
      return (await ids())[0] ?? 0;
    },
    /** A new comment that all readers see at once; no other test changes it. @param path the page on which the test looks for it */
    async say(page: Page, content: string, path = story): Promise<number> {
      const post = Number(await region(page).getAttribute('data-comments'));
      const data = { post, content, author_name: 'Ben Early', author_email: 'ben@example.com', status: 'approved' };
      const answer = await request.post(`${url}/wp-json/wp/v2/comments`, { ...usual, data });
      expect(answer.ok(), await answer.text()).toBe(true);
      const { id } = (await answer.json()) as { id: number };
      // Readers get each page's previous version until the new one is stored.
      const shown = async () => (await (await page.request.get(path)).text()).includes(`id="comment-${id}"`);
      await expect.poll(shown, { timeout: 60_000 }).toBe(true);
      return id;
    },
    async moderate(id: number, status: 'approved' | 'hold' | 'spam'): Promise<void> {
      const answer = await request.post(`${url}/wp-json/wp/v2/comments/${id}`, { ...usual, data: { status } });
      expect(answer.ok(), await answer.text()).toBe(true);
    },
  };
}

/** Posts as a reader without a name, who is asked for one. */
async function write(page: Page, text: string): Promise<void> {
  await words(page).fill(text);
  await region(page).getByLabel('Display name').fill('Ada Lovelace');
  await region(page).getByRole('button', { name: 'Post comment' }).click();
}

async function reader(context: BrowserContext, path = story): Promise<Page> {
  await signIn(context);
  const page = await context.newPage();
  await page.goto(path);
  return page;
}

test('a comment waits for approval, is published by an editor, and is removed again as spam', async ({
  context,
  browser,
  playwright,
}) => {
  test.setTimeout(300_000);
  const page = await reader(context);
  const text = unique('What a fine bridge, and <b>what</b> a story.');
  await write(page, text);
  await expect(ownList(page)).toContainText(text);
  await expect(ownList(page)).toContainText('Waiting for approval. Only you can see it.');
  await expect(words(page)).toHaveValue('');
  expect(await violationsOn(page, '#comments')).toEqual([]);
  // A reloaded page shows it automatically.
  await page.reload();
  await expect(ownList(page)).toContainText(text);

  const other = await browser.newPage();
  await other.goto(story);
  await expect(region(other).getByRole('link', { name: 'Sign in to comment' })).toBeVisible();
  await expect(words(other)).toBeHidden();
  await expect(other.getByText(text)).toHaveCount(0);
  const moderator = await editor(playwright);
  const id = await moderator.find(text);
  await moderator.moderate(id, 'approved');
  const shown = async () => (await (await other.request.get(story)).text()).includes(`id="comment-${id}"`);
  await expect.poll(shown, { timeout: 60_000 }).toBe(true);
  await other.reload();
  await expect(other.locator(`#comment-${id} .comment-text`)).toHaveText(text);
  await expect(other.locator(`#comment-${id} .comment-by`)).toHaveText('Ada Lovelace');
  await moderator.moderate(id, 'spam');
  await expect.poll(shown, { timeout: 60_000 }).toBe(false);
  await other.close();
  // The page that links open when no script runs.
  await page.goto(`/account/comment?article=${await region(page).getAttribute('data-comments')}`);
  await expect(page.getByRole('region', { name: 'Your comments on this article' })).toContainText(text);
  expect(await violationsOn(page, 'main')).toEqual([]);
});

test('a reader replies to and reports a comment by keyboard, and edits and deletes the reply', async ({
  context,
  playwright,
}) => {
  test.setTimeout(300_000);
  const page = await reader(context);
  const moderator = await editor(playwright);
  const id = await moderator.say(page, unique('Paper does not run out of power.'));
  await page.reload();
  const first = page.locator(`#comment-${id}`);
  const reply = first.getByRole('link', { name: /^Reply/ }).first();
  await reply.focus();
  await page.keyboard.press('Enter');
  const answer = first.getByLabel('Your reply');
  await expect(answer).toBeFocused();
  await first.getByRole('button', { name: 'Cancel' }).press('Enter');
  await expect(reply).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(answer).toBeFocused();
  const text = unique('I see it as you do.');
  await page.keyboard.type(text);
  await first.getByLabel('Display name').fill('Ada Lovelace');
  expect(await violationsOn(page, '#comments')).toEqual([]);
  await first.getByRole('button', { name: 'Post reply' }).click();
  await expect(ownList(page)).toContainText(text);
  await expect(ownList(page).getByRole('link', { name: 'In reply to this comment' })).toBeVisible();

  await ownList(page).getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Edit your comment').fill(`${text} Or nearly.`);
  await ownList(page).getByRole('button', { name: 'Save' }).click();
  await expect(ownList(page)).toContainText('Or nearly.');
  await ownList(page).getByRole('button', { name: 'Delete' }).click();
  await expect(ownList(page)).toHaveCount(0);

  await first.getByRole('link', { name: /^Report/ }).press('Enter');
  const question = first.getByRole('group', { name: 'Report this comment to our editors?' });
  await expect(question).toBeFocused();
  await question.getByRole('button', { name: 'Report' }).click();
  await expect(first.getByText('You’ve reported this comment.')).toBeVisible();
  expect(await violationsOn(page, '#comments')).toEqual([]);
  await moderator.moderate(id, 'spam');
});

test('typed text is kept when a comment cannot be sent, and after a reload', async ({ context }) => {
  const page = await reader(context);
  let answer: 'offline' | 'away' | 'signed out' = 'offline';
  await intercept(page, '**/api/v1/comments', (route) => {
    if (answer === 'offline') return route.abort();
    const status = answer === 'away' ? 503 : 401;
    return route.fulfill({
      status,
      json: {
        message: answer === 'away' ? 'It’s saved here. Try again in a few minutes.' : 'Please sign in first.',
      },
    });
  });
  const text = unique('Words that are not to be lost.');
  await words(page).fill(text);
  const post = region(page).getByRole('button', { name: 'Post comment' });
  await region(page).getByLabel('Display name').fill('Ada Lovelace');
  for (const [how, said] of [
    ['offline', 'We couldn’t reach the server.'],
    ['away', 'Try again in a few minutes.'],
    ['signed out', 'You’re signed out.'],
  ] as const) {
    answer = how;
    await post.click();
    await expect(region(page).getByRole('alert').filter({ hasText: said })).toBeVisible();
    await expect(words(page)).toHaveValue(text);
  }
  expect(await violationsOn(page, '#comments')).toEqual([]);
  await page.reload();
  await words(page).focus();
  await expect(words(page)).toHaveValue(text);
});

test('threads are sorted on the same page, and reading alone loads no code for writing', async ({ page }) => {
  const scripts: string[] = [];
  page.on('request', (request) => scripts.push(new URL(request.url()).pathname));
  await page.goto(discussed);
  const sort = region(page).getByRole('navigation', { name: 'Order of the comments' });
  const first = () => page.locator('#comment-list > li').first().getAttribute('id');
  const newest = await first();
  await sort.getByRole('link', { name: 'Oldest' }).click();
  await expect(sort.getByRole('link', { name: 'Oldest' })).toHaveAttribute('aria-current', 'true');
  await expect(sort.getByRole('link', { name: 'Oldest' })).toBeFocused();
  expect(await first()).not.toBe(newest);
  await page.getByRole('link', { name: 'More comments' }).click();
  await expect(page.locator('#comment-list > li')).toHaveCount(20);
  await sort.getByRole('link', { name: 'Most replies' }).click();
  await expect(sort.getByRole('link', { name: 'Most replies' })).toHaveAttribute('aria-current', 'true');
  await expect(page.locator('#comment-list > li').first().locator('.replies ol > li')).not.toHaveCount(0);
  await sort.getByRole('link', { name: 'Newest' }).click();
  await expect.poll(first).toBe(newest);
  await expect(page).toHaveURL(new RegExp(`${discussed}$`));
  expect(await violationsOn(page, '#comments')).toEqual([]);
  expect(scripts.filter((path) => /Comments\.island|react-dom/i.test(path))).toEqual([]);
});

test('without JavaScript a reader writes and deletes a reply, and reports a comment', async ({
  context,
  browser,
  playwright,
}) => {
  test.setTimeout(300_000);
  await signIn(context);
  const plain = await browser.newContext({ javaScriptEnabled: false, storageState: await context.storageState() });
  const page = await plain.newPage();
  await page.goto(story);
  await expect(region(page).getByRole('link', { name: 'Sign in to comment' })).toBeHidden();
  await region(page).getByRole('link', { name: 'Write a comment' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Your comment' })).toBeVisible();
  await page.goBack();
  const moderator = await editor(playwright);
  const id = await moderator.say(page, unique('A chart is a map that floats.'), `${story}/comments`);
  await page.goto(`${story}/comments`);
  await page
    .locator(`#comment-${id}`)
    .getByRole('link', { name: /^Reply/ })
    .click();
  const text = unique('Written by hand.');
  await page.getByLabel('Your reply').fill(text);
  await page.getByLabel('Display name').fill('Ada Lovelace');
  await page.getByRole('button', { name: 'Post comment' }).click();
  await expect(
    page.getByText('Thank you. Our editors will review your comment. Until then, only you can see it.'),
  ).toBeVisible();
  await expect(page.getByRole('region', { name: 'Your comments on this article' })).toContainText(text);
  await page.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('Your comment was deleted.')).toBeVisible();
  await page.goto(`${story}/comments`);
  await page
    .locator(`#comment-${id}`)
    .getByRole('link', { name: /^Report/ })
    .click();
  await page.getByRole('button', { name: 'Report this comment' }).click();
  await expect(page.getByText('Thank you. Our editors will look at the comment.')).toBeVisible();
  await moderator.moderate(id, 'spam');
  await plain.close();
});
