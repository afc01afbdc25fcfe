/** Advertising: where, how large, for whom, and what is in its place without it. */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { expectLeadInSight } from '../world/first-screen.ts';
import { shiftsOn, twoFrames, watchShifts } from '../world/layout-shifts.ts';
import { pretend } from '../world/readers.ts';
import { expect, rememberChoice, test } from '../world/third-parties.ts';

// In one worker, so that the file's site starts once.
test.describe.configure({ mode: 'default' });

const article = '/article/crack-closes-mississippi-bridge';
const places = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}-${at + 1}`);
const slot = (page: Page, name: string) => page.locator(`[data-ad-slot="${name}"]`);

/** Names of the slots that show an advertisement, in order. */
const filled = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('[data-filled]')].map((each) => each.dataset.adSlot ?? ''),
  );
const shown = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('[data-ad-slot]')]
      .filter((each) => each.getClientRects().length > 0)
      .map((each) => each.dataset.adSlot ?? ''),
  );

/**
 * Scrolls by screens until every slot has been near. It waits for the lists that load on the way, and then for the frame that shows them:
 * if a jump brings something into view in the same frame in which a list above it grows, the browser reports a shift that no reader could
 * see.
 */
async function readThrough(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    // As close as `related-lists.ts` requires to load them.
    const loading = () =>
      [...document.querySelectorAll('[data-fragment]')].some(
        (list) => list.getClientRects().length > 0 && list.getBoundingClientRect().top < innerHeight + 800,
      );
    for (let top = 0; top < document.body.scrollHeight; top += innerHeight) {
      scrollTo(0, top);
      do {
        while (loading()) await frame();
        await frame();
        await frame();
      } while (loading());
    }
  });
}

for (const [width, height] of [
  [1366, 650],
  [390, 664],
] as const) {
  test(`an advertisement above the header leaves the lead story on the first screen of ${width}×${height}`, async ({
    context,
    page,
    baseURL,
  }) => {
    await rememberChoice(context, baseURL ?? '', 'advertising');
    await page.setViewportSize({ width, height });
    await page.goto('/');
    await expect(slot(page, 'home-1')).toHaveAttribute('data-filled');
    await expect(page.locator('[data-sticky-footer]')).toBeVisible();
    await expectLeadInSight(page);
  });
}

for (const [path, name] of [
  ['/', 'home'],
  [article, 'article'],
] as const) {
  test(`the ${name} page has seven ad slots of standard sizes, filled as they come near, without layout shifts`, async ({
    context,
    page,
    vendors,
    troubles,
    baseURL,
  }) => {
    await rememberChoice(context, baseURL ?? '', 'advertising');
    await watchShifts(page, 'blocked');
    for (const [width, wide] of [
      [390, '320x50'],
      [1280, '970x250'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      const before = (await vendors.calls('gpt')).length;
      const requests = async () =>
        (await vendors.calls('gpt'))
          .slice(before)
          .filter(({ what }) => what === 'request')
          .map(({ details }) => details as Record<string, string>);
      await page.goto(path);
      await expect.poll(async () => (await filled(page)).length).toBeGreaterThan(0);
      expect((await requests()).length).toBeLessThan(7);
      // A prefetched slot is filled when its place comes near again.
      await expect(async () => {
        await readThrough(page);
        expect((await filled(page)).toSorted()).toEqual(places(name, 7));
      }).toPass();
      const asked = await requests();
      expect(asked.map(({ slot: unit }) => unit).toSorted()).toEqual(places(name, 7).map((each) => `/1234567/${each}`));
      const sizes = new Set(asked.map(({ size }) => size));
      expect([...sizes].toSorted()).toEqual(
        [...new Set(['300x250', ...(name === 'home' ? ['320x50'] : []), wide])].toSorted(),
      );
      expect(asked[0]).toMatchObject({ page: name, visitor: 'anonymous' });
      if (name === 'article') expect(asked[0]).toMatchObject({ slug: 'crack-closes-mississippi-bridge' });
      expect(await shiftsOn(page), `${width}`).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow).toBeLessThanOrEqual(0);
    }
    await expect(slot(page, `${name}-7`).getByText('Advertisement', { exact: true })).toBeVisible();
    expect(await violationsOn(page, '[data-ad-slot]')).toEqual([]);
    expect(troubles.all).toEqual([]);
  });
}

test('on a phone, an unfilled billboard slot is 50 to 80 pixels high, enough for the ad and its label', async ({
  page,
  vendors,
  context,
  baseURL,
}) => {
  await rememberChoice(context, baseURL ?? '', 'advertising');
  await vendors.mode('gpt', 'empty');
  await page.setViewportSize({ width: 390, height: 800 });
  for (const [path, names] of [
    ['/', ['home-2', 'home-4', 'home-5', 'home-6', 'home-7']],
    [article, ['article-1', 'article-7']],
  ] as const) {
    await page.goto(path);
    for (const name of names) {
      const { height = 0 } = (await slot(page, name).boundingBox()) ?? {};
      expect(height, name).toBeGreaterThanOrEqual(50);
      expect(height, name).toBeLessThanOrEqual(80);
    }
  }
});

test('a story cut off at its paywall has all seven ad slots', async ({ request }) => {
  const html = await (await request.get('/article/what-subscribers-know-about-salt')).text();
  expect(html).toContain('data-paywall');
  const names = [...html.matchAll(/data-ad-slot="([^"]+)"/g)].map((match) => match[1]);
  expect(names.toSorted()).toEqual(places('article', 7));
});

test('lists and times that load late cause no layout shifts', async ({ page, context, baseURL }) => {
  await rememberChoice(context, baseURL ?? '', 'measurement');
  await watchShifts(page, 'blocked');
  const late = Promise.withResolvers<void>();
  await page.route('**/fragments/**', async (route) => {
    await late.promise;
    await route.continue();
  });
  // Scripts of the page come after it has been painted.
  const painted = Promise.withResolvers<void>();
  await page.route(/\/_assets\/.*\.js/, async (route) => {
    await painted.promise;
    await route.continue();
  });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(article, { waitUntil: 'commit' });
  await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
  painted.resolve();
  await page.waitForLoadState('load');
  const ranking = page.locator('.most-read ol');
  await ranking.scrollIntoViewIfNeeded();
  // The jump has its own frame, before that in which the lists grow.
  await twoFrames(page);
  late.resolve();
  await expect(ranking.locator('li')).toHaveCount(5);
  await expect(page.locator('.rail-list li')).not.toHaveCount(0);
  await twoFrames(page);
  expect(await shiftsOn(page)).toEqual([]);
});

test('without consent no ad is requested, and the site shows its own ads', async ({
  page,
  vendors,
  context,
  baseURL,
}) => {
  await rememberChoice(context, baseURL ?? '', 'measurement');
  await page.goto('/', { waitUntil: 'networkidle' });
  await readThrough(page);
  expect(await vendors.calls('gpt')).toEqual([]);
  await expect.poll(() => shown(page)).toEqual(['home-1', 'home-3', 'home-4', 'home-6']);
  await expect(slot(page, 'home-1').getByRole('link')).toBeVisible();
});

for (const mode of ['blocked', 'empty'] as const) {
  test(`when the ad server is ${mode}, the site shows its own ads, and every slot keeps its size`, async ({
    page,
    vendors,
    context,
    baseURL,
  }) => {
    await rememberChoice(context, baseURL ?? '', 'advertising');
    await vendors.mode('gpt', mode);
    await watchShifts(page, 'blocked');
    await page.goto('/');
    await expect.poll(async () => (await vendors.calls('gpt')).length).toBeGreaterThan(0);
    // The script may load after the first check; its requests stay recorded.
    await expect(async () => {
      await readThrough(page);
      const asked = (await vendors.calls('gpt')).filter(({ what }) => what === 'request');
      expect(asked).toHaveLength(mode === 'empty' ? 7 : 0);
    }).toPass();
    expect(await filled(page)).toEqual([]);
    await expect.poll(() => shown(page)).toEqual(places('home', 7));
    for (const name of places('home', 7)) await expect(slot(page, name).getByRole('link')).toBeVisible();
    expect(await shiftsOn(page)).toEqual([]);
  });
}

test('the ad above the header is shown only to readers who do not pay, and members see no ads', async ({
  newDevice,
  vendors,
  baseURL,
}) => {
  for (const [kind, expected] of [
    ['registered', places('home', 7)],
    ['reader', places('home', 7).slice(1)],
    ['member', []],
  ] as const) {
    const context = await newDevice();
    await rememberChoice(context, baseURL ?? '', 'advertising');
    await pretend(context, kind, { site: baseURL ?? '' });
    const page = await context.newPage();
    await page.goto('/', { waitUntil: 'networkidle' });
    await expect.poll(() => shown(page), kind).toEqual(expected);
    if (expected.length > 0)
      await expect(async () => {
        await readThrough(page);
        expect((await filled(page)).length).toBeGreaterThan(0);
      }).toPass();
    else expect(await filled(page)).toEqual([]);
  }
  const told = (await vendors.calls('gpt')).filter(({ what }) => what === 'request').map(({ details }) => details);
  expect(new Set(told.map((each) => (each as { visitor: string }).visitor))).toEqual(new Set(['registered', 'reader']));
});

test('withdrawing consent removes ads from the page at once', async ({ page, context, vendors, baseURL }) => {
  await rememberChoice(context, baseURL ?? '', 'advertising');
  await page.goto('/');
  await expect.poll(async () => (await filled(page)).length).toBeGreaterThan(0);
  const other = await context.newPage();
  await other.goto('/privacy-choices');
  await other.getByRole('button', { name: 'Reject all' }).click();
  await expect(other.getByRole('status')).toBeVisible();
  await page.bringToFront();
  await expect.poll(() => filled(page)).toEqual([]);
  await expect(slot(page, 'home-1').getByRole('link')).toBeVisible();
  await expect.poll(async () => (await vendors.calls('gpt')).at(-1)?.what).toBe('destroySlots');
});
