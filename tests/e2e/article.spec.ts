/** Reading: articles, players, comments, paywalls, crosswords and videos. What every page must pass is in every-route.spec.ts. */
import type { Page } from '@playwright/test';
import { expect, test } from '../world/readers.ts';

/** Article of the demo edition with three pages of comments, one of which has six replies. */
const discussed = '/article/crack-closes-mississippi-bridge';
const withPlayers = '/article/a-film-in-the-middle-of-the-page';
const video = '/media/picture-show-sintel';

/** Hosts other than the site's own from which the page requested anything. Players answer with an empty page. */
async function strangers(page: Page): Promise<string[]> {
  const own = new URL(test.info().project.use.baseURL ?? '').host;
  const asked: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith('http') && url.host !== own) asked.push(url.host);
  });
  await page.route('https://www.youtube-nocookie.com/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>Player</title>' }),
  );
  return asked;
}

test.describe('an article', () => {
  test('shows its headline, section, author, times and reading time', async ({ page }) => {
    await page.goto(discussed);
    await expect(page.getByRole('heading', { level: 1 })).toContainText('Mississippi Bridge');
    await expect(page.locator('.head .kicker a')).toHaveAttribute('href', /^\/section\//);
    await expect(page.locator('.credits a[rel="author"]')).toHaveAttribute('href', /^\/author\/[\w-]+$/);
    await expect(page.locator('.credits time').first()).toHaveAttribute('datetime', /Z$/);
    await expect(page.locator('.credits time').first()).toHaveText(
      /^[A-Z][a-z]+ \d{1,2}, \d{4}, \d{1,2}:\d{2} [ap]\.m\. ET$/,
    );
    await expect(page.locator('.credits .ago').first()).toHaveText(/ago$|just now/);
    await expect(page.locator('.minutes')).toHaveText(/^\d+ min read$/);
    const lead = page.locator('.lead img');
    await expect(lead).toHaveAttribute('fetchpriority', 'high');
    await expect(lead).toHaveAttribute('loading', 'eager');
    await expect(lead).toHaveAttribute('width', /^\d+$/);
    await expect(page.locator('.author-box h2')).not.toBeEmpty();
  });

  test('loads lists of its section’s and its author’s stories when the reader scrolls near them', async ({ page }) => {
    const fetched: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/fragments/')) fetched.push(new URL(request.url()).pathname);
    });
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(discussed);
    await expect(page.locator('h1')).toBeVisible();
    expect(fetched).toEqual([]);
    await page.locator('.rail-list').scrollIntoViewIfNeeded();
    await expect(page.locator('.rail-list li')).toHaveCount(3);
    await page.locator('.more').scrollIntoViewIfNeeded();
    await expect(page.locator('.more .card')).toHaveCount(6);
    await expect(page.locator('.most-read li')).toHaveCount(5);
    expect(fetched.sort().map((path) => path.split('/')[2])).toEqual(['author', 'popular', 'section']);
    const links = page.locator('.more .headline a, .rail-list h3 a');
    const stories = await links.evaluateAll((all) =>
      all.map((link) => new URL((link as HTMLAnchorElement).href).pathname),
    );
    expect(stories).not.toContain(discussed);
  });

  test('links to its section when the lists cannot be loaded', async ({ page }) => {
    await page.route('**/fragments/**', (route) => route.abort());
    await page.goto(discussed);
    await page.locator('.more').scrollIntoViewIfNeeded();
    await expect(page.locator('.more[data-fragment], .more [data-fragment]')).toHaveCount(0);
    await expect(page.locator('.more').getByRole('link', { name: 'See all stories' })).toHaveAttribute(
      'href',
      /^\/section\/[\w-]+$/,
    );
  });

  test('prints its text without header, footer, lists and comments', async ({ page }) => {
    await page.goto(discussed);
    // On paper, "3 hours ago" is wrong an hour later.
    const ago = page.locator('.credits time[data-ago]').first();
    await expect(ago).toHaveText(/ago$/);
    await page.emulateMedia({ media: 'print' });
    await expect(ago).toBeHidden();
    await expect(page.locator('.print-masthead')).toBeVisible();
    await expect(page.locator('.prose p').first()).toBeVisible();
    for (const furniture of ['.site-header .header-bar', '.site-footer', '.rail', '.more', '.comments']) {
      await expect(page.locator(furniture)).toBeHidden();
    }
  });

  test('prints tall pictures of wide blocks undistorted', async ({ page }) => {
    await page.goto(discussed);
    await page.emulateMedia({ media: 'print' });
    await page
      .locator('.prose')
      .first()
      .evaluate((prose) => {
        const figure = document.createElement('figure');
        figure.className = 'wp-block-image alignwide';
        const picture = document.createElement('img');
        picture.width = 1600;
        picture.height = 2000;
        figure.append(picture);
        prose.append(figure);
      });
    await expect(page.locator('.prose figure.alignwide:last-child img')).toHaveCSS('object-fit', 'contain');
  });
});

test.describe('players embedded from other sites', () => {
  test('load nothing from those sites until the button is clicked', async ({ page }) => {
    const asked = await strangers(page);
    await page.goto(withPlayers, { waitUntil: 'networkidle' });
    const shells = page.locator('.embed[data-embed-src]');
    expect(await shells.count()).toBe(3);
    expect(await page.locator('iframe').count()).toBe(0);
    expect(asked).toEqual([]);

    await shells.first().getByRole('button').click();
    const frame = shells.first().locator('iframe');
    await expect(frame).toBeFocused();
    await expect(frame).toHaveAttribute('title', /.+/);
    await expect(frame).toHaveAttribute('sandbox', /allow-scripts/);
    await expect(frame).not.toHaveAttribute('sandbox', /allow-top-navigation/);
    await expect.poll(() => new Set(asked)).toEqual(new Set(['www.youtube-nocookie.com']));
    await expect(page.locator('iframe')).toHaveCount(1);
  });

  test('are links without JavaScript', async ({ browser }) => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(withPlayers);
    const link = page.locator('.embed a').first();
    await expect(link).toBeVisible();
    await expect(link).toHaveAttribute('href', /^https:\/\/www\.youtube\.com\/watch/);
    expect(await page.locator('iframe').count()).toBe(0);
    await page.close();
  });
});

test.describe('a video', () => {
  test('has a black background and plays only when clicked', async ({ page }) => {
    const asked = await strangers(page);
    await page.goto(video, { waitUntil: 'networkidle' });
    await expect(page.locator('body')).toHaveCSS('background-color', 'rgb(0, 0, 0)');
    expect(asked).toEqual([]);
    await page.getByRole('link', { name: /^Play the video/ }).click();
    const frame = page.locator('.player iframe');
    await expect(frame).toBeFocused();
    await expect(frame).toHaveAttribute('src', /^https:\/\/www\.youtube-nocookie\.com\/embed\/[\w-]{11}\?/);
    await expect(page).toHaveURL(new RegExp(`${video}$`));
  });

  test('is a link without JavaScript', async ({ browser }) => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(video);
    await expect(page.locator('.facade')).toHaveAttribute('href', /^https:\/\/www\.youtube\.com\/watch\?v=/);
    await page.close();
  });

  test('can be found by section', async ({ page }) => {
    await page.goto('/media');
    await page.getByRole('navigation', { name: 'Videos by section' }).getByRole('link', { name: 'Arts+' }).click();
    await expect(page).toHaveURL(/\/media\?section=culture$/);
    await expect(page.locator('.video-card').first()).toBeVisible();
    expect((await page.request.get('/media?section=nothing')).status()).toBe(404);
    expect((await page.request.get('/media?page=0')).status()).toBe(404);
  });
});

test.describe('comments', () => {
  // They are the last that a first sync copies; the site is open before that.
  test.beforeAll(async ({ request }) => {
    await expect
      .poll(async () => (await request.get(`${discussed}/comments?page=3`)).status(), { timeout: 60_000 })
      .toBe(200);
  });

  test('are loaded ten more at a time on the same page', async ({ page }) => {
    await page.goto(discussed);
    const items = page.locator('#comment-list > li');
    await expect(items).toHaveCount(10);
    await page.getByRole('link', { name: 'More comments' }).click();
    await expect(items).toHaveCount(20);
    await expect(items.nth(10)).toBeFocused();
    await page.getByRole('link', { name: 'More comments' }).click();
    await expect(page.getByRole('link', { name: 'More comments' })).toHaveCount(0);
    expect(await items.count()).toBeGreaterThan(20);
    const ids = await items.evaluateAll((all) => all.map((item) => item.id));
    expect(new Set(ids).size).toBe(ids.length);
    await expect(page).toHaveURL(new RegExp(`${discussed}$`));
  });

  test('show the latest three replies, and all of them when asked', async ({ page }) => {
    // The oldest thread of the article has them: it comes with the third page.
    await page.goto(discussed);
    for (const count of [20, 26]) {
      await page.getByRole('link', { name: 'More comments' }).click();
      await expect(page.locator('#comment-list > li')).toHaveCount(count);
    }
    const more = page.getByRole('link', { name: 'Show all 6 replies' });
    const thread = page.locator('.comment', { has: more });
    await expect(thread.locator('.replies ol > li')).toHaveCount(3);
    const id = await thread.getAttribute('id');
    await more.click();
    await expect(page.locator(`#${id} .replies ol > li`)).toHaveCount(6);
    await expect(more).toHaveCount(0);
  });

  test('can be paged through without JavaScript, forward and back', async ({ browser }) => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(discussed);
    await page.getByRole('link', { name: 'More comments' }).click();
    await expect(page).toHaveURL(new RegExp(`${discussed}/comments\\?page=2$`));
    await expect(page.locator('#comment-list > li')).toHaveCount(10);
    const second = await page.locator('#comment-list > li').first().getAttribute('id');
    await page.getByRole('link', { name: 'More comments' }).click();
    await page.getByRole('link', { name: 'Previous page' }).click();
    await expect(page.locator('#comment-list > li').first()).toHaveAttribute('id', second ?? '');
    await page.goto(`${discussed}/comments?page=3`);
    await page.getByRole('link', { name: 'Show all 6 replies' }).click();
    await expect(page.locator('.replies .comment-list > li')).toHaveCount(6);
    await page.getByRole('link', { name: 'Back to the article' }).click();
    await expect(page).toHaveURL(new RegExp(`${discussed}$`));
    await page.close();
  });

  test('answer 404 for pages that do not exist', async ({ request }) => {
    for (const path of [
      `${discussed}/comments?page=99`,
      `${discussed}/comments?page=x`,
      `${discussed}/comments/1`,
      '/article/none/comments',
    ]) {
      expect.soft((await request.get(path)).status(), path).toBe(404);
    }
  });
});

test.describe('the paywall of a story', () => {
  for (const [slug, heading, signIn] of [
    ['what-subscribers-know-about-salt', /for subscribers/, /Sign In$/],
    ['what-registered-readers-know-about-chalk', /free with an account/, 'Create a free account'],
    ['a-subscribers-story-in-one-paragraph', /for subscribers/, /Sign In$/],
  ] as const) {
    test(`keeps the rest of ${slug} out of the public page`, async ({ page, request }) => {
      const html = await (await request.get(`/article/${slug}`)).text();
      expect(html).not.toContain('CANARY');
      expect(html).not.toMatch(/this is how it ends|Then it stops/);
      await page.goto(`/article/${slug}`);
      const paywall = page.getByRole('region', { name: heading });
      await expect(paywall.getByRole('link', { name: 'Join Today' })).toHaveAttribute('href', '/pricing');
      await expect(paywall.getByRole('link', { name: signIn })).toHaveAttribute('href', '/socialLogin');
      await expect(page.locator('.prose p').first()).not.toBeEmpty();
    });
  }

  test('shows the prices, what a subscription includes, and the terms of the penny-a-day promotion', async ({
    page,
  }) => {
    await page.goto('/article/what-subscribers-know-about-salt');
    const paywall = page.getByRole('region', { name: /for subscribers/ });
    // Amounts in other currencies are in the page, but hidden.
    const shown = { useInnerText: true };
    await expect(paywall).toContainText(/Sun Reader\s+\$12\/month or \$120\/year/, shown);
    await expect(paywall).toContainText(/The year saves you\s+\$24\s*\./, shown);
    await expect(paywall).toContainText('Every story in every section, without a limit');
    await expect(paywall).toContainText('Read the Sun for a PENNY A DAY');
    await expect(paywall).toContainText(
      /\$0\.60\s+today for 60 days, then\s+\$120\s+each year until you cancel\./,
      shown,
    );
    await expect(paywall.getByRole('link', { name: 'Start for $0.60' })).toHaveAttribute(
      'data-paywall',
      '{"planId":"reader-penny"}',
    );
  });

  test('is not in a free article', async ({ page }) => {
    await page.goto(discussed);
    await expect(page.locator('.paywall')).toHaveCount(0);
    await expect(page.locator('.prose[data-end]')).toHaveCount(1);
  });
});

test('a story in Arabic declares its language and runs from right to left', async ({ page }) => {
  await page.goto('/article/arabic-baker-of-dearborn');
  for (const part of [page.getByRole('heading', { level: 1 }), page.locator('.prose').first()]) {
    await expect(part).toHaveAttribute('lang', 'ar');
    await expect(part).toHaveCSS('direction', 'rtl');
  }
  await expect(page.locator('html')).toHaveAttribute('lang', 'en-US');
});

test('an Arabic headline declares its language in lists, too', async ({ page }) => {
  await page.goto('/author/ines-calloway');
  const card = page.locator('.card', { has: page.locator('a[href="/article/arabic-baker-of-dearborn"]') });
  for (const part of [card.locator('a.cover'), card.locator('.excerpt')]) {
    await expect(part).toHaveAttribute('lang', 'ar');
    await expect(part).toHaveCSS('direction', 'rtl');
  }
  await expect(page.locator('a.cover:not([lang])').first()).toHaveCSS('direction', 'ltr');
});

test('hostile markup in a story runs no script, and leaves no frames or forms', async ({ page, request }) => {
  test.setTimeout(300_000);
  const map = await (await request.get('/sitemaps/articles-1.xml')).text();
  const hostile = [...map.matchAll(/<loc>https?:\/\/[^/]+(\/article\/hostile-[^<]+)<\/loc>/g)].map(
    (match) => match[1] as string,
  );
  expect(hostile.length).toBeGreaterThan(4);
  for (const path of hostile) {
    await page.goto(path);
    expect.soft(await page.evaluate(() => '__xss' in window), path).toBe(false);
    expect
      .soft(await page.locator('main iframe, main object, main embed, .prose form, .prose script').count(), path)
      .toBe(0);
  }
});

test('a crossword is shown in a sandboxed frame', async ({ page }) => {
  await page.goto('/games');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  expect(await page.locator('.game, .today').count()).toBe(12);
  await page.goto('/games/after-the-storm');
  const frame = page.locator('iframe.board');
  await expect(frame).toHaveAttribute('title', /After the Storm/);
  await expect(frame).toHaveAttribute('sandbox', /allow-scripts/);
  await expect(page.frameLocator('iframe.board').getByRole('group', { name: /Crossword grid/ })).toBeVisible();
});

test('a crossword is not cut off on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/games/after-the-storm');
  const grid = page.frameLocator('iframe.board').getByRole('group', { name: /Crossword grid/ });
  await expect(grid).toBeVisible();
  const [content, frame] = await page
    .frameLocator('iframe.board')
    .locator('html')
    .evaluate((root) => [root.scrollHeight, innerHeight]);
  expect(content).toBeLessThanOrEqual(frame as number);
});

test('a file’s name and its download link have space between them', async ({ page }) => {
  await page.goto('/article/the-sound-of-a-bell-buoy');
  const name = await page.getByRole('link', { name: 'A list of the bell buoys of Maine' }).boundingBox();
  const download = await page.getByRole('link', { name: 'Download', exact: true }).boundingBox();
  expect(download?.x).toBeGreaterThan((name?.x ?? 0) + (name?.width ?? 0) + 5);
});

test('links to the terms of use and to the feeds lead to them', async ({ page, request }) => {
  await page.goto('/privacy-policy#Terms-of-use');
  await expect(page.locator('[id="Terms-of-use"]')).toHaveCount(1);
  await page.goto('/about#rss-feeds');
  await expect(page.locator('[id="rss-feeds"]')).toHaveCount(1);
  const feeds = await page
    .locator('.feeds a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  expect(feeds).toContain('/rss.xml');
  expect(feeds).toContain('/section/culture/atom.xml');
  for (const feed of feeds.slice(0, 6)) expect.soft((await request.get(feed)).status(), feed).toBe(200);
});
