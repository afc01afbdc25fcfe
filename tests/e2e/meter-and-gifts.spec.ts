/** The meter of articles that are free a few times (decision 12), and articles that subscribers give away. */
import type { Page } from '@playwright/test';
import { publication } from '../../src/publication.ts';
import { violationsOn } from '../world/axe.ts';
import { cards, expectThanks, fillCard, join, openPaywall } from '../world/checkout.ts';
import { waitLonger } from '../world/intercept.ts';
import { expect, newEmail, signIn, test } from '../world/readers.ts';

const { anonymous } = publication.access.meter;
const paid = '/article/railroads-publish-their-delays';
const paywall = (page: Page) => page.locator('.metered-paywall');

/** Stories that are counted, the newest first. */
async function metered(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  await page.goto('/latest');
  const paths = await page
    .locator('main .headline a[href^="/article/"]')
    .evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).pathname));
  for (const path of new Set(paths)) {
    if (found.length > anonymous) break;
    if ((await (await page.request.get(path)).text()).includes('data-metered=')) found.push(path);
  }
  expect(found.length).toBe(anonymous + 1);
  return found;
}

/** Opens a story and begins to read it. */
async function begin(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.mouse.wheel(0, 300);
}

async function read(page: Page, path: string): Promise<void> {
  await begin(page, path);
  const id = Number(await paywall(page).getAttribute('data-metered'));
  // Only the numbers of articles: the times next to them may contain the same digits.
  await page.waitForFunction((number) => {
    const readings: [article: number, at: number][] = JSON.parse(localStorage.getItem('broadsheet-meter') ?? '[]');
    return readings.some(([article]) => article === number);
  }, id);
}

test('an anonymous reader reads the free articles, each counted once, and sees the paywall at the next one', async ({
  page,
}) => {
  // The paywall waits three seconds for the prices, then leaves them out.
  await waitLonger(page);
  const stories = await metered(page);
  for (const story of stories.slice(0, anonymous)) {
    await read(page, story);
    await expect(paywall(page)).toBeHidden();
  }
  await read(page, stories[0] ?? '');
  await expect(paywall(page)).toBeHidden();
  await begin(page, stories[anonymous] ?? '');
  await expect(paywall(page)).toBeVisible();
  await expect(paywall(page).getByRole('heading')).toContainText('You have read');
  // What a subscription offers and costs, the cheap start first, fetched only by this paywall.
  const offer = paywall(page).locator('[data-paywall-offer]');
  await expect(offer).toContainText('PENNY A DAY');
  // Amounts in other currencies are in it, but hidden.
  const shown = { useInnerText: true };
  await expect(offer).toContainText(/\$0\.60\s+today for 60 days, then\s+\$120\s+each year until you cancel/, shown);
  await expect(offer).toContainText(/Sun Reader\s+\$12\/month or \$120\/year/, shown);
  await expect(offer.getByRole('listitem')).toContainText(['Every story', 'Cancel at any time']);
  expect(await (await page.request.get(stories[anonymous] ?? '')).text()).not.toContain('data-paywall-offer');
  expect(await violationsOn(page)).toEqual([]);
  // On a phone, too, the ways to continue are visible, and so is part of the story.
  const size = page.viewportSize() ?? { width: 1280, height: 720 };
  await page.setViewportSize({ width: 390, height: 664 });
  for (const name of ['Create a free account', 'Join Today'])
    await expect(paywall(page).getByRole('link', { name })).toBeInViewport({ ratio: 1 });
  const { y = 0 } = (await paywall(page).getByRole('heading').boundingBox()) ?? {};
  expect(y).toBeGreaterThan(150);
  await page.setViewportSize(size);
  // The text stays in place, and the way to continue is a dialog on this page.
  await expect(page.locator('.story .body p').last()).toBeAttached();
  await paywall(page).getByRole('link', { name: 'Join Today' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('articles are not counted, and no metered paywall appears', async ({ page }) => {
    for (const story of await metered(page)) {
      await page.goto(story);
      await expect(page.locator('.metered-paywall:visible')).toHaveCount(0);
    }
  });
});

test("a subscriber's gift link opens its article in another browser, and no other article", async ({
  page,
  context,
  newDevice,
}) => {
  await signIn(context, newEmail('giver'));
  await openPaywall(page, 'reader-monthly');
  await fillCard(page, cards.good);
  await join(page, '$12');
  await expectThanks(page);
  await page.goto(paid);
  await page.getByRole('group', { name: 'Tools for this story' }).getByRole('button', { name: 'Share' }).click();
  const menu = page.getByRole('group', { name: 'Share this story' });
  await expect(menu.getByText('10 of 10 gift links left for 30 days.')).toBeVisible();
  await menu.getByRole('button', { name: 'Give this story away' }).click();
  const out = menu.locator('[data-gift-out]');
  await expect(out).toContainText('/gift/');
  await expect(out).toContainText('9 of 10 gift links left for 30 days.');
  const [link = ''] = /https?:\S+\/gift\/\S+/.exec((await out.textContent()) ?? '') ?? [];

  const friend = await (await newDevice()).newPage();
  await friend.goto(paid);
  await expect(friend.getByRole('heading', { name: 'The rest of this story is for subscribers' })).toBeVisible();
  const words = async () => ((await friend.locator('.story .body').textContent()) ?? '').length;
  const opening = await words();
  await friend.goto(link);
  expect(await violationsOn(friend)).toEqual([]);
  await friend.getByRole('button', { name: 'Read the story' }).click();
  await expect(friend).toHaveURL(new RegExp(`${paid}$`));
  // The address changes before the rest of the page arrives.
  await expect.poll(words).toBeGreaterThan(2 * opening);
  await friend.goto('/article/the-town-that-waits-for-the-train');
  await expect(friend.getByRole('heading', { name: 'The rest of this story is for subscribers' })).toBeVisible();
  await friend.goto('/gift/a-token-that-nobody-was-given');
  await expect(friend.getByRole('heading', { name: 'This link has expired' })).toBeVisible();
});
