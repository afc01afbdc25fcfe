/**
 * Sound, from the block editor to the readers: player, chapters, speed, the remembered position, without a script, the series and its
 * feeds.
 */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { live, openNewsroom, openPanel, saveByKey, textOf, unique } from '../world/newsroom.ts';
import { expect, signIn, test } from '../world/readers.ts';
import { subscribeAt } from '../world/shop.ts';

// In one worker: the tests share WordPress, which answers one call at a time.
test.describe.configure({ mode: 'default' });

const story = '/article/how-a-recount-works';
const paid = '/article/running-for-coroner';
const plain = '/article/erie-makes-one-thing-well';
const audioOf = (page: Page) => page.locator('.sound audio');
const at = (page: Page) => audioOf(page).evaluate((audio: HTMLAudioElement) => audio.currentTime);

test('an audio player has chapters, skip buttons and a speed, and remembers the reader’s position', async ({
  page,
}) => {
  const scripts: string[] = [];
  page.on('request', (request) => void (/\/sound\.[\w-]+\.js/.test(request.url()) && scripts.push(request.url())));
  await page.goto(story, { waitUntil: 'networkidle' });
  const player = page.getByRole('region', { name: 'Listen: The Recount' });
  await expect(player.getByRole('link', { name: 'How It Works' })).toHaveAttribute('href', '/podcast/how-it-works');
  expect(scripts, 'before a touch').toEqual([]);
  // The chapter lasts four seconds, which a busy machine needs for the next lines.
  await audioOf(page).evaluate((audio: HTMLAudioElement) =>
    audio.addEventListener('playing', () => {
      audio.playbackRate = 0.0625;
    }),
  );
  await player.getByText('Chapters').click();
  await player.getByRole('link', { name: /Who may stand where/ }).click();
  await expect.poll(() => at(page)).toBeGreaterThanOrEqual(4);
  expect(await audioOf(page).evaluate((audio: HTMLAudioElement) => audio.paused)).toBe(false);
  await expect(player.locator('[aria-current]')).toContainText('Who may stand where');
  expect(new URL(page.url()).pathname, 'a chapter seeks and leads nowhere').toBe(story);
  await audioOf(page).evaluate((audio: HTMLAudioElement) => audio.pause());
  await player.getByLabel('Speed').selectOption('1.5');
  const stopped = Math.floor(await at(page));
  expect(await page.evaluate(() => navigator.mediaSession.metadata?.title)).toBe('The Recount');
  expect(await violationsOn(page, '.sound')).toEqual([]);

  await page.reload();
  await audioOf(page).focus();
  await expect(player.getByRole('status')).toContainText('You stopped at');
  await expect.poll(() => at(page)).toBe(stopped);
  expect(await audioOf(page).evaluate((audio: HTMLAudioElement) => audio.playbackRate)).toBe(1.5);
  await player.getByRole('button', { name: '15 seconds back' }).click();
  await expect.poll(() => at(page)).toBe(0);
  await audioOf(page).focus();
  await page.keyboard.press('l');
  await expect.poll(() => at(page)).toBeGreaterThan(5);
});

test('a page without audio contains nothing of the player', async ({ page }) => {
  const html = await textOf(page, plain);
  for (const word of ['class="sound', 'sound-tools', 'PodcastEpisode', 'AudioObject', '/podcast/'])
    expect(html, word).not.toContain(word);
  expect(html).not.toMatch(/sound\.[\w-]+\.(?:css|js)/);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the browser’s own player is shown, and chapters link into the audio file', async ({ page }) => {
    await page.goto(story);
    const audio = audioOf(page);
    await expect(audio).toHaveAttribute('controls', '');
    await expect(audio).toHaveAttribute('preload', 'none');
    const src = await audio.getAttribute('src');
    await page.getByText('Chapters').click();
    await expect(page.getByRole('link', { name: /The last envelope/ })).toHaveAttribute('href', `${src}#t=8`);
    await expect(page.getByRole('button', { name: '15 seconds back' })).toBeHidden();
    const file = await page.request.get(src ?? '');
    expect([file.status(), file.headers()['content-type']]).toEqual([200, 'audio/wav']);
    await page.getByRole('link', { name: 'Transcript' }).click();
    await expect(page.locator('body')).toContainText('A recount does not ask what voters meant.');
  });

  test('a printed story has the recording’s address instead of the player', async ({ page }) => {
    await page.emulateMedia({ media: 'print' });
    await page.goto(story);
    await expect(audioOf(page)).toBeHidden();
    await expect(page.getByText(`You can listen to this story at`)).toBeVisible();
  });

  test('a series lists its episodes, and its public feed leaves out those for subscribers', async ({ page }) => {
    await page.goto('/podcasts');
    await page.getByRole('link', { name: 'How It Works' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('How It Works');
    await expect(page.getByRole('listitem').filter({ hasText: 'The Coroner' })).toContainText('Subscribers');
    await expect(page.locator('link[rel="alternate"][href="/podcast/how-it-works/rss.xml"]')).toHaveCount(1);
    await page.getByRole('link', { name: 'The Recount' }).click();
    expect(new URL(page.url()).pathname).toBe(story);
    const feed = await textOf(page, '/podcast/how-it-works/rss.xml');
    expect(feed).toContain('<itunes:category text="News"><itunes:category text="Politics"/></itunes:category>');
    expect(feed).not.toContain('The Coroner');
    expect((await page.request.get('/podcast/no-such-series')).status()).toBe(404);
  });
});

test('a subscribers’ recording is available only to subscribers, on the site and in their private feed', async ({
  browser,
  shop,
}) => {
  test.setTimeout(300_000);
  const anyone = await browser.newContext({ baseURL: shop.site });
  const html = await (await anyone.request.get(paid)).text();
  expect(html).toContain('Subscribers can listen to this story.');
  expect(html).not.toMatch(/<audio|\.wav|An office few people want/);

  const context = await browser.newContext({ baseURL: shop.site, serviceWorkers: 'block' });
  await subscribeAt(shop, context, 'reader-yearly');
  const page = await context.newPage();
  await page.goto(`${shop.site}${paid}`);
  await expect(audioOf(page)).toHaveAttribute('src', /^\/sound\/\d+\/0\.wav$/);
  await audioOf(page).evaluate((audio: HTMLAudioElement) => audio.play());
  await expect.poll(() => at(page)).toBeGreaterThan(0);

  await page.goto(`${shop.site}/podcast/how-it-works`);
  await page.getByRole('link', { name: 'Subscribers’ private feed' }).click();
  await page.getByRole('button', { name: 'Make an address' }).click();
  const address = new URL(await page.getByLabel('Address of your feed').inputValue()).pathname;
  expect(await violationsOn(page, 'main')).toEqual([]);
  const read = async () => anyone.request.get(address);
  expect(await (await read()).text()).toContain('The Coroner');
  await page.reload();
  await expect(page.getByText('We can’t show it again')).toBeVisible();
  await page.getByRole('button', { name: 'End this address' }).click();
  await expect(page.getByText('The address no longer works.')).toBeVisible();
  expect((await read()).status()).toBe(404);
  await context.close();
  await anyone.close();
});

test('players and series have no axe violations and fit a phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  for (const [path, part] of [
    [story, '.sound'],
    ['/podcasts', 'main'],
    ['/podcast/how-it-works', 'main'],
  ] as const) {
    await page.goto(path);
    expect(await violationsOn(page, part)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path).toBe(true);
  }
});

test('an editor adds a recording with a series and chapters, and the story and the feed follow', async ({ page }) => {
  test.setTimeout(600_000);
  const { url, save: call } = await openNewsroom(page.context());
  const mark = unique();
  const episode = `Spoken aloud ${mark}`;
  const made = await call('articles', {
    title: 'A Spoken Story',
    slug: `spoken-${mark}`,
    status: 'publish',
    content: '<!-- wp:paragraph --><p>It is told, not written.</p><!-- /wp:paragraph -->',
    date_gmt: '2001-02-04T04:05:06',
  });
  const path = `/article/${made.slug}`;
  await expect.poll(async () => (await page.request.get(path)).status(), live).toBe(200);
  expect(await textOf(page, path)).not.toContain('<audio');

  const panel = await openPanel(page, url, made.id, 'Sound');
  await panel.getByRole('button', { name: 'Choose an audio file' }).click();
  const library = page.getByRole('dialog');
  await library.getByRole('tab', { name: 'Media Library' }).click();
  await library.getByRole('checkbox', { name: 'The Recount' }).first().click();
  await library.getByRole('button', { name: 'Select', exact: true }).click();
  await expect(panel.getByText(/^The Recount \(0:11\)$/)).toBeVisible();
  await panel.getByLabel('Series').selectOption({ label: 'How It Works' });
  await panel.getByLabel('Episode title').fill(episode);

  // A line that can't be read shows an error and keeps its text, and the story can't be saved until it is corrected.
  const chapters = panel.getByLabel('Chapters');
  await chapters.fill('0:00 The beginning\nthe middle');
  await expect(panel.getByRole('alert')).toContainText('This line needs a time and a title: “the middle”.');
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
  await chapters.fill('0:00 The beginning\n0:05 The middle');
  await expect(panel.getByRole('alert')).toHaveCount(0);
  expect(await violationsOn(page, '.newsroom-episode')).toEqual([]);

  // The undo and redo of the block editor.
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(chapters).not.toHaveValue(/0:05 The middle/);
  await page.getByRole('button', { name: 'Redo' }).click();
  await expect(chapters).toHaveValue(/0:05 The middle/);
  await expect(panel.getByLabel('Episode title')).toHaveValue(episode);
  await saveByKey(page);

  await expect.poll(() => textOf(page, path), live).toContain('<audio');
  const html = await textOf(page, path);
  expect(html).toContain('The middle');
  expect(html).toContain('"@type":"PodcastEpisode"');
  await expect.poll(() => textOf(page, '/podcast/how-it-works/rss.xml'), live).toContain(episode);

  await panel.getByRole('button', { name: 'Remove the audio file' }).click();
  await saveByKey(page);
  await expect.poll(() => textOf(page, path), live).not.toContain('<audio');
  await expect.poll(() => textOf(page, '/podcast/how-it-works/rss.xml'), live).not.toContain(episode);
  await call(`articles/${made.id}`, { status: 'draft' });
});

test('an audio block in a story has a player with the same buttons', async ({ page }) => {
  test.setTimeout(300_000);
  const { save: call } = await openNewsroom(page.context());
  await page.goto(story);
  const src = await audioOf(page).getAttribute('src');
  const made = await call('articles', {
    title: 'With a Recording',
    slug: `recorded-${unique()}`,
    status: 'publish',
    content: `<!-- wp:paragraph --><p>Listen to what she said on Tuesday evening.</p><!-- /wp:paragraph --><!-- wp:audio --><figure class="wp-block-audio"><audio controls src="${src}"></audio><figcaption class="wp-element-caption">A voice</figcaption></figure><!-- /wp:audio -->`,
    date_gmt: '2001-02-04T04:05:06',
  });
  const path = `/article/${made.slug}`;
  await expect.poll(async () => (await page.request.get(path)).status(), live).toBe(200);
  await page.goto(path);
  const figure = page.locator('.prose figure', { hasText: 'A voice' });
  await figure.getByRole('button', { name: '30 seconds forward' }).click();
  await expect
    .poll(() => figure.locator('audio').evaluate((audio: HTMLAudioElement) => audio.currentTime))
    .toBeGreaterThan(0);
  expect(await violationsOn(page, '.prose figure')).toEqual([]);
  await call(`articles/${made.id}`, { status: 'draft' });
});

test('a reader without a subscription sees that the private feed is for subscribers', async ({ page, context }) => {
  await signIn(context);
  await page.goto('/account/podcast?series=how-it-works');
  await expect(page.getByText('Subscribers get a private feed')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Make an address' })).toHaveCount(0);
  expect(await violationsOn(page, 'main')).toEqual([]);
});
