/** The front page: header, menu, masthead, paging. What every page must pass is in every-route.spec.ts. */
import type { Page } from '@playwright/test';
import { intercept } from '../world/intercept.ts';
import { expect, test } from '../world/readers.ts';

/** The first section in the navigation that has a second page. */
async function longSection(page: Page): Promise<string> {
  await page.goto('/');
  const paths = await page
    .locator('.section-nav a[href^="/section/"]')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  for (const path of paths) {
    if ((await page.request.get(`${path}?page=2`)).ok()) return path;
  }
  throw new Error('No section of the edition has a second page.');
}

test('no byline is taller than four lines, on phones and desktops', async ({ page }) => {
  for (const width of [390, 768, 1280, 1536]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto('/');
    const heights = await page
      .locator('main .byline:visible')
      .evaluateAll((bylines) => bylines.map((each) => Math.round(each.getBoundingClientRect().height)));
    expect(heights.length).toBeGreaterThan(10);
    // Three lines of a name that is long, and one for the time.
    expect(Math.max(...heights), `at ${width}`).toBeLessThanOrEqual(72);
  }
});

const menuButton = (page: Page) => page.getByRole('button', { name: 'Menu', exact: true });
const menu = (page: Page) => page.locator('#site-menu');

test.describe('the header', () => {
  test('is compact on the home page, and full after scrolling more than 250 pixels', async ({ page }) => {
    await page.goto('/');
    const header = page.locator('.site-header');
    await expect(header).toHaveAttribute('data-header', 'compact');
    await page.evaluate(() => window.scrollTo(0, 250));
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await expect(header).toHaveAttribute('data-header', 'compact');
    await page.evaluate(() => window.scrollTo(0, 251));
    await expect(header).toHaveAttribute('data-header', 'full');
    await expect(page.locator('.site-header .logo')).toHaveCSS('opacity', '1');
    await page.evaluate(() => window.scrollTo(0, 0));
    await expect(header).toHaveAttribute('data-header', 'compact');
  });

  test('becomes full without moving the page’s content', async ({ page }) => {
    await page.goto('/privacy-policy');
    const place = () => page.locator('main').evaluate((main) => main.getBoundingClientRect().top + window.scrollY);
    const before = await place();
    await page.evaluate(() => window.scrollTo(0, 400));
    await expect(page.locator('.site-header')).toHaveAttribute('data-header', 'full');
    expect(await place()).toBe(before);
  });

  test('has a search box on a wide home page, and a search link on a phone', async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto('/');
    const box = page.locator('.header-bar').getByRole('searchbox');
    await expect(box).toBeVisible();
    await expect(page.locator('.header-bar').getByRole('link', { name: 'Search' })).toBeHidden();
    await page.goto('/search');
    await expect(box).toHaveCount(0);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto('/');
    await expect(page.locator('.header-bar').getByRole('searchbox')).toBeHidden();
    await expect(page.locator('.header-bar').getByRole('link', { name: 'Search' })).toBeVisible();
  });

  test('has no menu, search or join link on the community page', async ({ page }) => {
    await page.goto('/community');
    await expect(page.locator('.site-header .logo')).toBeVisible();
    await expect(menuButton(page)).toHaveCount(0);
    await expect(page.locator('.site-header a[href="/search"], .site-header a[href="/pricing"]')).toHaveCount(0);
  });

  test('marks the current section in the navigation', async ({ page }) => {
    const path = await longSection(page);
    await page.goto(path);
    await expect(page.locator('.section-nav a[aria-current="page"]')).toHaveAttribute('href', path);
  });

  test('scrolls each focused section link fully into view on a phone', async ({ page }) => {
    await page.goto('/about');
    const links = page.locator('.section-nav a');
    for (const width of [320, 350, 390, 430]) {
      await page.setViewportSize({ width, height: 844 });
      await links.first().focus();
      for (const link of await links.all()) {
        await expect(link).toBeFocused();
        await expect.soft(link, `${await link.textContent()} at ${width}`).toBeInViewport({ ratio: 1 });
        await page.keyboard.press('Tab');
      }
    }
  });

  test('starts with a skip link that leads to the content', async ({ page }) => {
    await page.goto('/latest');
    await page.keyboard.press('Tab');
    await expect(page.locator('.skip-link')).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.locator('main')).toBeFocused();
  });
});

test.describe('the masthead', () => {
  test('centers the nameplate between two boxes', async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto('/');
    const boxes = await page.locator('.masthead .top > *').evaluateAll((parts) =>
      parts.map((part) => {
        const { left, right, top, bottom } = part.getBoundingClientRect();
        return { x: (left + right) / 2, y: (top + bottom) / 2 };
      }),
    );
    const [start, plate, end] = boxes;
    expect(boxes).toHaveLength(3);
    expect(plate?.x).toBeCloseTo(640, -1);
    expect((start?.x ?? 0) + (end?.x ?? 0)).toBeCloseTo(1280, -1);
    expect(start?.x).toBeLessThan(250);
    for (const ear of [start, end]) expect(Math.abs((ear?.y ?? 0) - (plate?.y ?? 0))).toBeLessThan(8);
  });

  test('shows the current day in New York, even on a page cached on an earlier day', async ({ page }) => {
    // One minute past New York's midnight, when it is still the day before in most of America.
    await page.clock.install({ time: new Date('2031-07-05T04:01:00Z') });
    await page.goto('/');
    const day = page.locator('[data-masthead-day]');
    await expect(day).toHaveText('Saturday, July 5, 2031');
    await expect(day).toHaveAttribute('datetime', '2031-07-05');
    await page.clock.fastForward('24:00:00');
    await expect(day).toHaveText('Sunday, July 6, 2031');
  });
});

test.describe('the menu', () => {
  test('loads no further fonts when it or the search opens', async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 664 });
    const fonts: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'font') fonts.push(request.url());
    });
    await page.goto('/', { waitUntil: 'networkidle' });
    // A browser asks for a font when it lays the page out; on a busy machine the network is idle before that.
    await page.evaluate(async () => {
      document.body.getBoundingClientRect();
      await document.fonts.ready;
    });
    expect(fonts).not.toEqual([]);
    fonts.length = 0;
    await menuButton(page).click();
    await expect(menu(page)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(menu(page)).toBeHidden();
    await page.locator('.search-link').click();
    await expect(page.getByRole('dialog').getByRole('searchbox')).toBeFocused();
    await page.evaluate(() => document.fonts.ready);
    expect(fonts).toEqual([]);
  });

  test('keeps the focus inside while open, and closes on Escape or a click outside', async ({ page }) => {
    await page.goto('/latest');
    await menuButton(page).click();
    await expect(menu(page)).toBeVisible();
    for (let press = 0; press < 40; press += 1) await page.keyboard.press('Tab');
    const inside = () =>
      page.evaluate(() => document.activeElement === document.body || !!document.activeElement?.closest('#site-menu'));
    expect(await inside()).toBe(true);
    await page.keyboard.press('Escape');
    await expect(menu(page)).toBeHidden();
    await expect(menuButton(page)).toBeFocused();
    await menuButton(page).click();
    await expect(menu(page)).toBeVisible();
    await page.mouse.click((page.viewportSize()?.width ?? 1280) - 20, 400);
    await expect(menu(page)).toBeHidden();
  });

  test('never covers the focused field with its fixed head when the reader tabs backward', async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 480 });
    await page.goto('/latest');
    await menuButton(page).click();
    await menu(page).getByRole('link', { name: 'Games' }).focus();
    const search = menu(page).getByRole('searchbox');
    for (let press = 0; press < 30 && !(await search.evaluate((field) => field.matches(':focus'))); press += 1)
      await page.keyboard.press('Shift+Tab');
    await expect(search).toBeFocused();
    const covered = await search.evaluate((field) => {
      const { left, top, width, height } = field.getBoundingClientRect();
      return document.elementFromPoint(left + width / 3, top + height / 2) !== field;
    });
    expect(covered).toBe(false);
  });

  test('lists the sections in order, then Shop, Events, Watch and Games, and links to Join and About', async ({
    page,
  }) => {
    await page.goto('/latest');
    await menuButton(page).click();
    const names = await menu(page)
      .locator('[data-type-ahead] a')
      .evaluateAll((links) => links.map((link) => link.firstChild?.textContent?.trim()));
    const inNavigation = await page.locator('.section-nav a[href^="/section/"]').allTextContents();
    expect(names).toEqual([...inNavigation.map((name) => name.trim()), 'Shop', 'Events', 'Watch', 'Games']);
    await expect(menu(page).getByRole('link', { name: 'Join Today' })).toHaveAttribute('href', '/pricing');
    await expect(menu(page).getByText('Already have an account?')).toBeVisible();
    await expect(menu(page).getByRole('link', { name: /^About/ })).toHaveAttribute('href', '/about');
  });

  test('focuses the entry that matches the typed letters, and forgets the letters after 350 ms', async ({ page }) => {
    await page.clock.install();
    await page.goto('/latest');
    await menuButton(page).click();
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim());
    // From here on only the test advances the clock, however long a key press takes.
    await page.clock.pauseAt(Date.now() + 60_000);
    await menu(page).locator('[data-type-ahead] a').first().focus();
    await page.keyboard.type('ev');
    expect(await focused()).toBe('Events');
    await page.clock.runFor(351);
    await page.keyboard.type('n');
    expect(await focused()).toBe('National');
    await page.clock.runFor(351);
    await page.keyboard.press('ArrowDown');
    expect(await focused()).not.toBe('National');
  });

  test('closes on navigation, and stays closed when the reader goes back', async ({ page }) => {
    await page.goto('/latest');
    await menuButton(page).click();
    await menu(page).getByRole('link', { name: 'Watch' }).click();
    await expect(page).toHaveURL(/\/media$/);
    await expect(menu(page)).toBeHidden();
    await page.goBack();
    await expect(page).toHaveURL(/\/latest$/);
    await expect(menu(page)).toBeHidden();
  });
});

test.describe('a list of stories', () => {
  test('loads more stories in place', async ({ page }) => {
    const path = await longSection(page);
    await page.goto(path);
    const stories = page.locator('#stories > li');
    const before = await stories.count();
    await page.getByRole('link', { name: 'More stories' }).click();
    await expect(page).toHaveURL(new RegExp(`${path}\\?page=2$`));
    expect(await stories.count()).toBeGreaterThan(before);
    await expect(stories.nth(before).locator('.headline a')).toBeFocused();
    await expect(page.locator('[data-load-more-status]')).toHaveText(/^\d+ more stories loaded\.$/);
    const links = await page
      .locator('main .card .headline a')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(new Set(links).size).toBe(links.length);
  });

  test('shows one heading per day across the loaded pages', async ({ page }) => {
    await page.goto('/latest');
    await page.getByRole('link', { name: 'More stories' }).click();
    await expect(page).toHaveURL(/\/latest\?page=2$/);
    const days = await page.locator('#stories .day').allTextContents();
    expect(days.length).toBeGreaterThan(0);
    expect(new Set(days).size).toBe(days.length);
  });

  test('navigates to the next page when fetching it fails', async ({ page }) => {
    const path = await longSection(page);
    await page.goto(path);
    await intercept(page, '**/*page=2', (route) =>
      route.request().isNavigationRequest() ? route.continue() : route.abort(),
    );
    await page.getByRole('link', { name: 'More stories' }).click();
    await expect(page.getByRole('navigation', { name: 'Pages' })).toContainText('Page 2');
    await expect(page).toHaveURL(/page=2$/);
  });

  test('answers 404 for pages that it doesn’t have, and redirects ?page=1 to its own address', async ({ page }) => {
    const path = await longSection(page);
    for (const wrong of ['?page=0', '?page=x', '?page=99999', '?page=01']) {
      expect((await page.request.get(path + wrong)).status(), wrong).toBe(404);
    }
    expect((await page.request.get('/section/no-such-section')).status()).toBe(404);
    expect((await page.request.get('/author/no-such-author')).status()).toBe(404);

    await page.goto(path);
    const story = await page.locator('main .card .headline a').first().getAttribute('href');
    for (const list of [
      path,
      '/latest',
      '/media',
      '/media?section=culture',
      '/games',
      '/search',
      '/search?q=fish%20%26%20chips',
      `${story}/comments`,
    ]) {
      const alias = await page.request.get(`${list}${list.includes('?') ? '&' : '?'}page=1`, { maxRedirects: 0 });
      expect([alias.status(), alias.headers().location], list).toEqual([301, list]);
    }
  });

  test('redirects other spellings of its address, as other pages do', async ({ page }) => {
    await page.goto('/latest');
    const story = String(await page.locator('main .card .headline a').first().getAttribute('href'));
    for (const [given, address] of [
      ['/about/', '/about'],
      ['/ABOUT', '/about'],
      ['/Section/Politics', '/section/politics'],
      ['/section/politics/?page=2', '/section/politics?page=2'],
      ['/newsletter-signup', '/newsletter-signUp'],
      [`${story}/`, story],
      [story.toUpperCase(), story],
      [`${story}/Comments/`, `${story}/comments`],
    ] as const) {
      const answer = await page.request.get(given, { maxRedirects: 0 });
      expect([answer.status(), answer.headers().location], given).toEqual([301, address]);
    }
  });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a section’s pages are reached by Older and Newer links, and declare canonical and prev addresses', async ({
    page,
  }) => {
    const found = await longSection(page);
    await page.goto(found);
    await expect(page.locator('link[rel="canonical"]')).toHaveAttribute('href', new RegExp(`${found}$`));
    await page.getByRole('link', { name: /^Older/ }).click();
    await expect(page).toHaveURL(new RegExp(`${found}\\?page=2$`));
    await expect(page.locator('link[rel="canonical"]')).toHaveAttribute('href', new RegExp(`${found}\\?page=2$`));
    await expect(page.locator('link[rel="prev"]')).toHaveAttribute('href', new RegExp(`${found}$`));
    await page.getByRole('link', { name: /^Newer/ }).click();
    await expect(page).toHaveURL(new RegExp(`${found}$`));
  });

  test('the menu opens and closes', async ({ page }) => {
    await page.goto('/latest');
    await menuButton(page).click();
    await expect(menu(page)).toBeVisible();
    await page.getByRole('button', { name: 'Close menu' }).click();
    await expect(menu(page)).toBeHidden();
  });

  test('story times are absolute and in New York time', async ({ page }) => {
    await page.goto('/latest');
    await expect(page.locator('main .card time').first()).toHaveText(
      /^[A-Z][a-z]+ \d{1,2}, \d{4}, \d{1,2}:\d{2} [ap]\.m\. ET$/,
    );
  });

  test('search works as a page', async ({ page }) => {
    await page.goto('/search?q=zzzzzzqqq');
    await expect(page.getByText('No results found. Here are some articles you may find interesting...')).toBeVisible();
    await page.getByRole('searchbox').last().fill('the');
    await page.locator('.search-form button').click();
    await expect(page.getByRole('heading', { name: 'Top articles on “the”' })).toBeVisible();
  });
});
