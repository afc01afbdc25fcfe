/** The tools of a story (issue 6, section 5): share, save, listen, text size, print; the reader's saved stories and history. */
import type { Locator, Page } from '@playwright/test';
import { sessionName } from '../../src/lib/accounts/visitor.ts';
import { violationsOn } from '../world/axe.ts';
import { intercept } from '../world/intercept.ts';
import { boxes, codeTo, emailField, expect, linkTo, newEmail, signIn, test } from '../world/readers.ts';

const story = '/article/crack-closes-mississippi-bridge';
const liveStory = '/article/house-passes-highway-bill-by-one-vote';
const tools = (page: Page) => page.getByRole('group', { name: 'Tools for this story' });
const listOf = (page: Page, name: 'Saved stories' | 'Reading history') => page.getByRole('region', { name });

/** Reaches a control with the tab key and presses it. @param from the control to start from, before the other in the page */
async function tabAndPress(page: Page, from: Locator, control: Locator): Promise<void> {
  await from.focus();
  const isFocused = () => control.evaluate((element) => element === document.activeElement);
  for (let tabs = 0; tabs < 15 && !(await isFocused()); tabs++) await page.keyboard.press('Tab');
  await expect(control).toBeFocused();
  await page.keyboard.press('Enter');
}

test('share, text size and print work by keyboard, and their scripts load only when one is used', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.addInitScript(() => {
    window.print = () => void Object.assign(window, { printed: true });
  });
  const fetched: string[] = [];
  page.on('request', (request) => fetched.push(new URL(request.url()).pathname));
  await page.goto(story, { waitUntil: 'networkidle' });
  const ownScripts = () => fetched.filter((path) => /\/tools\.[^/]+\.js$/.test(path)).length;
  expect(ownScripts()).toBe(0);
  expect(await violationsOn(page, '[data-tools]')).toEqual([]);

  const share = tools(page).getByRole('button', { name: 'Share' });
  await share.press('Enter');
  const menu = page.getByRole('group', { name: 'Share this story' });
  await expect(menu.getByRole('link', { name: 'Email' })).toHaveAttribute('href', /^mailto:\?subject=.+%2Farticle%2F/);
  await expect(menu.getByText('Give this story away')).toHaveCount(0);
  expect(await violationsOn(page, '[data-tools]')).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(menu).toBeHidden();
  await page.keyboard.press('Enter');
  await expect(menu).toBeVisible();
  await tabAndPress(page, share, menu.getByRole('button', { name: 'Copy link' }));
  await expect(tools(page).getByText('Link copied.')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(new URL(story, page.url()).href);
  expect(ownScripts()).toBe(1);

  const size = () =>
    page
      .locator('.story .prose p')
      .first()
      .evaluate((text) => Number.parseFloat(getComputedStyle(text).fontSize));
  const usual = await size();
  const textSize = tools(page).getByRole('button', { name: 'Text size' });
  await tabAndPress(page, share, textSize);
  const sizes = page.getByRole('group', { name: 'Text size' });
  await expect(sizes.getByRole('button', { name: 'Standard' })).toHaveAttribute('aria-pressed', 'true');
  // Even on the narrowest phones, the four words are separate.
  await page.setViewportSize({ width: 320, height: 640 });
  const words = await sizes.getByRole('button').evaluateAll((all) =>
    all.map((button) => {
      const text = document.createRange();
      text.selectNodeContents(button);
      return text.getBoundingClientRect();
    }),
  );
  for (const [at, word] of words.slice(1).entries()) expect(word.left - (words[at]?.right ?? 0)).toBeGreaterThan(3);
  await tabAndPress(page, textSize, sizes.getByRole('button', { name: 'Largest' }));
  await expect(sizes.getByRole('button', { name: 'Largest' })).toHaveAttribute('aria-pressed', 'true');
  expect(await size()).toBeGreaterThan(usual * 1.25);
  expect(await violationsOn(page, '[data-tools]')).toEqual([]);
  // The choice is remembered, and applied before the first paint.
  await page.reload({ waitUntil: 'commit' });
  await page.locator('.story .prose p').first().waitFor({ state: 'attached' });
  expect(await page.locator('html').getAttribute('data-text-size')).not.toBeNull();
  await expect.poll(size).toBeGreaterThan(usual * 1.25);
  // The buttons work once the page's own script has loaded.
  await page.waitForLoadState('load');
  await tabAndPress(page, share, tools(page).getByRole('button', { name: 'Print' }));
  await page.waitForFunction(() => 'printed' in window);
});

test('a story is read aloud from the headline on, and can be paused, sped up and stopped', async ({ page }) => {
  await page.addInitScript(() => {
    const spoken: { text: string; rate: number }[] = [];
    let now: { onend?: () => void } | null = null;
    const speechSynthesis = {
      getVoices: () => [],
      cancel: () => {
        now = null;
      },
      speak: (words: { text: string; rate: number; onend?: () => void }) => {
        spoken.push({ text: words.text, rate: words.rate });
        now = words;
      },
    };
    class SpeechSynthesisUtterance {
      readonly text: string;
      constructor(text: string) {
        this.text = text;
      }
    }
    Object.defineProperty(window, 'speechSynthesis', { value: speechSynthesis });
    // What the test observes, and how it ends a voice.
    Object.assign(window, {
      SpeechSynthesisUtterance,
      spoken,
      finish: () => now?.onend?.(),
      silent: () => now === null,
    });
  });
  await page.goto(story);
  const spoken = () => page.evaluate(() => (window as unknown as { spoken: { text: string; rate: number }[] }).spoken);
  const finish = () => page.evaluate(() => (window as unknown as { finish(): void }).finish());
  const silent = () => page.evaluate(() => (window as unknown as { silent(): boolean }).silent());
  await tools(page).getByRole('button', { name: 'Listen' }).click();
  const bar = page.getByRole('region', { name: 'Listen to this story' });
  await expect(bar.getByRole('button', { name: 'Pause' })).toBeFocused();
  const headline = await page.locator('.story h1').textContent();
  expect((await spoken())[0]?.text).toBe(headline);
  expect(await violationsOn(page, '.listen-bar')).toEqual([]);
  await finish();
  await finish();
  const third = (await spoken())[2]?.text;
  await page.keyboard.press('Enter');
  expect(await silent()).toBe(true);
  await expect(bar.getByRole('button', { name: 'Play' })).toBeFocused();
  await page.keyboard.press('Enter');
  await bar.getByLabel('Speed').selectOption('1.5');
  await expect.poll(async () => (await spoken()).at(-1)).toEqual({ text: third, rate: 1.5 });
  await expect(page.locator('.is-read')).toHaveCount(1);
  await bar.getByRole('button', { name: 'Stop' }).click();
  await expect(bar).toHaveCount(0);
  await expect(tools(page).getByRole('button', { name: 'Listen' })).toBeFocused();
  expect(await silent()).toBe(true);
});

test('a signed-out reader signs in to save a story, and can remove and restore it later', async ({ page }) => {
  const email = newEmail('saver');
  await page.goto(story);
  await tools(page).getByRole('button', { name: 'Save' }).click();
  const popup = page.getByRole('dialog');
  await expect(popup.getByRole('heading', { name: 'Save this story for later' })).toBeVisible();
  await emailField(page).fill(email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  const link = await linkTo(email);
  await page.getByRole('button', { name: 'Login with code instead' }).click();
  const { text } = await codeTo(email, link.number);
  await boxes(page).first().click();
  await page.keyboard.type(text);
  await expect(popup).toHaveCount(0);
  await expect(tools(page).getByRole('button', { name: 'Saved' })).toHaveAttribute('aria-pressed', 'true');
  await expect(tools(page).getByText(/^Saved\. You’ll find it in your account/)).toBeVisible();

  await page.goto('/dashboard/saved');
  const item = listOf(page, 'Saved stories').getByRole('listitem');
  await expect(item.getByRole('link', { name: /Mississippi Bridge/ })).toHaveAttribute('href', story);
  await expect(listOf(page, 'Reading history').getByText('Nothing is here yet.')).toBeVisible();
  expect(await violationsOn(page, '.dashboard')).toEqual([]);
  await intercept(page, '**/api/v1/me/saved/*', (route) => route.abort());
  await item.getByRole('button', { name: /^Remove/ }).click();
  await expect(item.getByRole('alert')).toHaveText('Something went wrong. Please try again.');
  await page.unroute('**/api/v1/me/saved/*');
  await item.getByRole('button', { name: /^Remove/ }).click();
  await expect(item.getByRole('button', { name: 'Undo' })).toBeFocused();
  expect(await violationsOn(page, '.dashboard')).toEqual([]);
  await page.keyboard.press('Enter');
  await expect(item.getByRole('button', { name: /^Remove/ })).toBeFocused();
  await page.reload();
  await expect(item).toHaveCount(1);

  // The story shows it when the reader comes back and reads.
  await page.goto(story);
  await page.mouse.wheel(0, 400);
  const saved = tools(page).getByRole('button', { name: 'Saved' });
  await expect(saved).toHaveAttribute('aria-pressed', 'true');
  await saved.click();
  await expect(tools(page).getByText('Removed from your saved stories.')).toBeVisible();
  await page.goto('/dashboard/saved');
  await expect(listOf(page, 'Saved stories').getByText('Nothing is saved yet.')).toBeVisible();

  // A story that is covered live has a label before its headline, which isn't part of its name.
  await page.goto(liveStory);
  await tools(page).getByRole('button', { name: 'Save' }).click();
  await expect(tools(page).getByText(/^Saved\./)).toBeVisible();
  await page.goto('/dashboard/saved');
  await expect(item.getByText('Live', { exact: true })).toBeVisible();
  await item.getByRole('button', { name: /^Remove/ }).click();
  await expect(item.getByRole('status')).toHaveText(/^Removed “House Passes/);
});

test('the reading history records a story that was read, and nothing after it is turned off', async ({
  page,
  context,
}) => {
  await signIn(context, newEmail('historian'));
  await page.clock.install();
  const notes: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/v1/me/history')) notes.push(request.method());
  });
  const readIt = async () => {
    await page.goto(story);
    // The next jump of the clock would end a request for the session that is under way, as if the server did not respond.
    await expect.poll(() => page.evaluate((name) => localStorage.getItem(name), sessionName)).not.toBeNull();
    // However long the page takes to load its scripts and to scroll, it doesn't count as reading time.
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000);
    const state = page.waitForResponse((answer) => answer.url().includes('/api/v1/me/saved/'));
    let follows = false;
    void page
      .waitForRequest((request) => request.url().includes('/api/v1/me/saved/'))
      .then(() => {
        follows = true;
      });
    await page.mouse.wheel(0, 200);
    await expect
      .poll(async () => {
        await page.clock.runFor(1000);
        return follows;
      })
      .toBe(true);
    await state;
    await page.locator('.story .prose').last().scrollIntoViewIfNeeded();
    await page.locator('.author-box').scrollIntoViewIfNeeded();
    expect(notes).toEqual([]);
    const noted = page.waitForResponse((answer) => answer.url().endsWith('/api/v1/me/history'));
    await page.clock.runFor(15_000);
    const answer = await (await noted).json();
    notes.length = 0;
    await page.clock.resume();
    return answer;
  };
  expect(await readIt()).toEqual({ noted: true });
  await page.goto('/dashboard/saved');
  const history = listOf(page, 'Reading history');
  await expect(history.getByRole('link', { name: /Mississippi Bridge/ })).toBeVisible();
  await history.getByRole('button', { name: 'Turn history off' }).click();
  await expect(history.getByText('Your reading history is off, and what was in it is deleted.')).toBeVisible();
  expect(await violationsOn(page, '.dashboard')).toEqual([]);
  expect(await readIt()).toEqual({ noted: false });
  await page.goto('/dashboard/saved');
  await expect(history.getByRole('listitem')).toHaveCount(0);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a story is shared by links, and saved by a form after signing in', async ({ page, context }) => {
    await page.goto(story);
    await expect(tools(page).getByRole('button', { name: 'Listen' })).toBeHidden();
    await tools(page).getByRole('button', { name: 'Share' }).click();
    await expect(tools(page).getByRole('link', { name: 'Facebook' })).toHaveAttribute('href', /sharer\.php\?u=http/);
    await page.keyboard.press('Escape');
    await tools(page).getByRole('button', { name: 'Save' }).click();
    await expect(page).toHaveURL(/\/socialLogin\?return=%2Faccount%2Fsaved$/);
    await signIn(context, newEmail('scriptless'));
    await page.goto('/account/saved');
    const saved = listOf(page, 'Saved stories');
    await expect(saved.getByText(/^Saved “A Crack/)).toBeVisible();
    await saved.getByRole('button', { name: /^Remove/ }).click();
    await expect(saved.getByText('Nothing is saved yet.')).toBeVisible();
    await saved.getByRole('button', { name: 'Undo' }).click();
    await expect(saved.getByRole('listitem')).toHaveCount(1);
    // Coming here again saves nothing again.
    await saved.getByRole('button', { name: /^Remove/ }).click();
    await page.goto('/account/saved');
    await expect(saved.getByText('Nothing is saved yet.')).toBeVisible();
  });
});
