/** Packages on the screen "Front" of the real WordPress: their place, and the order of their related headlines. */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import {
  type FrontSite,
  isFocused,
  order,
  publish,
  rows,
  startFrontSite,
  tabTo,
  titleOf,
} from '../world/front-screen.ts';
import { expect, test } from '../world/readers.ts';

// A site has only one home page, so this test has its own WordPress.
test.describe.configure({ mode: 'serial' });

let site: FrontSite;

test.beforeAll(async () => {
  test.setTimeout(600_000);
  site = await startFrontSite();
});
test.afterAll(() => site?.stop());

/** Chooses a page on the screen. */
async function choosePage(page: Page, name: string, first: string | RegExp): Promise<void> {
  await page.getByLabel('Page', { exact: true }).selectOption({ label: name });
  await expect(page.locator('#newsroom-front').getByText(first).first()).toBeVisible();
}

/** The package's place, as its row shows it. */
const placeOf = (page: Page, title: string) =>
  rows(page)
    .filter({ has: page.getByRole('button', { name: title, exact: true }) })
    .locator('.description');

/** Finds stories and adds them to the list. */
async function place(page: Page, wanted: readonly string[]): Promise<void> {
  const search = page.getByLabel('Find a story');
  await search.focus();
  for (const title of wanted) {
    await search.fill(title);
    await expect(page.getByRole('button', { name: `Add ${title}` })).toBeVisible({ timeout: 30_000 });
    await page.keyboard.press('Enter');
    await expect(page.getByText(`${title} added.`)).toBeVisible();
  }
}

test('an editor moves a package through the page by keyboard, and back with undo', async ({ page }) => {
  test.setTimeout(600_000);
  await site.openScreen(page);
  await choosePage(page, 'National', 'Nothing is placed, so the page is filled automatically.');
  await place(page, ['The Alder', 'The Birch', 'The Cedar']);
  await page.getByLabel('Kind: The Cedar').focus();
  await page.keyboard.press('p');
  const words = placeOf(page, 'The Cedar');
  await expect(words).toHaveText('Placed after the seconds.');
  await expect(page.getByLabel('Kind: The Cedar')).toBeFocused();

  const up = page.getByRole('button', { name: 'Move up: The Cedar' });
  await tabTo(page, isFocused(page, 'Move up: The Cedar'));
  await page.keyboard.press('Enter');
  await expect(words).toHaveText('Placed between the lead and the seconds.');
  await expect.poll(() => order(page)).toEqual(['The Alder', 'The Cedar', 'The Birch']);
  await expect(up).toBeFocused();
  await expect(page.locator('#a11y-speak-polite')).toHaveText(
    'The Cedar is now 2 of 3. Placed between the lead and the seconds.',
  );
  await page.keyboard.press('Enter');
  await expect(words).toHaveText('Placed before the lead.');
  await expect.poll(() => order(page)).toEqual(['The Cedar', 'The Alder', 'The Birch']);
  await expect(up).toHaveAttribute('aria-disabled', 'true');
  for (const each of ['Placed between the lead and the seconds.', 'Placed after the seconds.']) {
    await page.keyboard.press('Control+z');
    await expect(words).toHaveText(each);
  }
  await expect.poll(() => order(page)).toEqual(['The Alder', 'The Birch', 'The Cedar']);

  // The lead and the second place aren't tied to a story: a moved story passes packages.
  await titleOf(page, 2).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expect(titleOf(page, 1)).toHaveText('The Cedar');
  await titleOf(page, 0).focus();
  await page.keyboard.press('Alt+ArrowDown');
  await expect.poll(() => order(page)).toEqual(['The Birch', 'The Cedar', 'The Alder']);
  await expect(page.getByLabel('Kind: The Birch')).toHaveValue('lead');
  await page.keyboard.press('Control+z');
  await expect(titleOf(page, 0)).toHaveText('The Alder');
  expect(await violationsOn(page, '.newsroom-front')).toEqual([]);

  for (const [key, expected, selector] of [
    ['', 'Placed between the lead and the seconds.', '.columns > .full > .packages'],
    ['Alt+Home', 'Placed before the lead.', '.section-page > .packages.first'],
    ['Alt+End', 'Placed after the seconds.', '.section-page > .columns + .packages'],
    ['Alt+ArrowDown', 'Placed after automatic row 1.', '#stories > li:nth-child(1) > .packages'],
    ['Alt+ArrowDown', 'Placed after automatic row 2.', '#stories > li:nth-child(2) > .packages'],
  ] as const) {
    await titleOf(page, (await order(page)).indexOf('The Cedar')).focus();
    if (key !== '') await page.keyboard.press(key);
    await expect(words).toHaveText(expected);
    await publish(page);
    const reader = await page.context().newPage();
    for (const width of [390, 768, 1280]) {
      await reader.setViewportSize({ width, height: 900 });
      await reader.goto(`${site.own}/section/national`);
      await expect(reader.locator(`${selector} .package .headline`)).toHaveText('The Cedar');
      expect(await reader.evaluate(() => document.documentElement.scrollWidth), `${expected} ${width}`).toBe(width);
    }
    expect(await violationsOn(reader, 'main')).toEqual([]);
    const all = await reader.locator('main .card .headline a').allTextContents();
    expect(new Set(all).size).toBe(all.length);
    const styles = await reader
      .locator('style')
      .evaluateAll((found) => found.map(({ textContent }) => textContent ?? ''));
    expect(styles.filter((style) => style.includes('.package'))).toHaveLength(1);
    await reader.close();
  }
});

test('while the chosen page loads, the editor sees nothing of the previous page', async ({ page }) => {
  await site.openScreen(page);
  let load = () => {};
  const asked = new Promise<void>((done) => {
    load = done;
  });
  const isFront = (url: URL) => decodeURIComponent(url.href).includes('/newsroom/v1/front/');
  await page.route(isFront, async (route) => {
    await asked;
    await route.continue();
  });
  const choice = page.getByLabel('Page', { exact: true });
  await choice.focus();
  await choice.selectOption({ label: 'National' });
  await expect(page.getByText('Loading…')).toBeVisible();
  await expect(page.getByText('Nothing is placed, so the page is filled automatically.')).toHaveCount(0);
  await expect(page.getByLabel('Find a story')).toHaveCount(0);
  load();
  await expect(titleOf(page, 0)).toBeVisible();
  await expect(choice).toBeFocused();
});

test('an editor reorders a package’s related headlines by keyboard, and restores them with undo', async ({ page }) => {
  test.setTimeout(600_000);
  await site.openScreen(page);
  await choosePage(page, 'National', 'The Cedar');
  await titleOf(page, (await order(page)).indexOf('The Cedar')).focus();
  await page.keyboard.press('Enter');
  const related = page.getByRole('group', { name: 'Related headlines' });
  for (const title of ['The Katsura', 'The Linden', 'The Maple']) {
    await related.getByLabel('Add a story').fill(title);
    await expect(related.getByRole('button', { name: `Add ${title}` })).toBeVisible({ timeout: 30_000 });
    await related.getByLabel('Add a story').press('Enter');
    await expect(related.getByLabel(`Link text for ${title}`)).toBeVisible();
  }
  const titlesOf = () =>
    related
      .locator('ol label')
      .allTextContents()
      .then((all) => all.map((label) => label.replace('Link text for ', '')));
  const before = await order(page);
  await related.getByRole('button', { name: 'Move up: The Maple' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(titlesOf).toEqual(['The Katsura', 'The Maple', 'The Linden']);
  await expect(related.getByRole('button', { name: 'Move up: The Maple' })).toBeFocused();
  await expect(page.locator('#a11y-speak-polite')).toHaveText('The Maple is now 2 of 3.');
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(titlesOf).toEqual(['The Maple', 'The Katsura', 'The Linden']);
  await expect(related.getByRole('button', { name: 'Move up: The Maple' })).toHaveAttribute('aria-disabled', 'true');
  await page.keyboard.press('Control+z');
  await expect.poll(titlesOf).toEqual(['The Katsura', 'The Maple', 'The Linden']);
  await related.getByLabel('Link text for The Linden').focus();
  await page.keyboard.insertText('A linden');
  await page.keyboard.press('Alt+Home');
  await expect(related.getByLabel('Link text for The Linden')).toBeFocused();
  await expect.poll(titlesOf).toEqual(['The Linden', 'The Katsura', 'The Maple']);
  await related.getByRole('button', { name: 'Remove: The Katsura' }).focus();
  await page.keyboard.press('Enter');
  await expect(related.getByLabel('Link text for The Maple')).toBeFocused();
  // The slots have kept their order.
  await expect.poll(() => order(page)).toEqual(before);
  expect(await violationsOn(page, '.newsroom-front')).toEqual([]);
  await publish(page);
  await page.goto(`${site.own}/section/national`);
  expect(await page.locator('.package li').allTextContents()).toEqual(['A linden', 'The Maple']);
});

test('a home-page package appears before the lead story, between it and the second stories, or after a row', async ({
  page,
}) => {
  test.setTimeout(600_000);
  await site.openScreen(page);
  await choosePage(page, 'Home page', 'Nothing is placed, so the page is filled automatically.');
  await place(page, ['The Juniper', 'The Ironwood']);
  await page.getByLabel('Kind: The Ironwood').selectOption('package');
  const stands = placeOf(page, 'The Ironwood');
  for (const [keys, words, before, after] of [
    [['Alt+Home'], 'Placed before the lead.', '.package', '.front-lead .lead'],
    [['Alt+ArrowDown'], 'Placed between the lead and the seconds.', '.front-lead .lead', '.front-lead .package'],
    [['Alt+End', 'Alt+ArrowDown'], 'Placed after automatic row 1.', '.railed', '.line ~ .packages .package'],
  ] as const) {
    await titleOf(page, (await order(page)).indexOf('The Ironwood')).focus();
    for (const key of keys) await page.keyboard.press(key);
    await expect(stands).toHaveText(words);
    await publish(page);
    const reader = await page.context().newPage();
    for (const width of [390, 768, 1280]) {
      await reader.setViewportSize({ width, height: 900 });
      await reader.goto(site.own);
      expect(await reader.evaluate(() => document.documentElement.scrollWidth), `${words} ${width}`).toBe(width);
      const follows = await reader.evaluate(
        ([one, other]) => {
          const [first, second] = [document.querySelector(one), document.querySelector(other)];
          return Boolean(first && second && first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING);
        },
        [before, after] as const,
      );
      expect(follows, words).toBe(true);
    }
    expect(await violationsOn(reader, '.package')).toEqual([]);
    await reader.close();
  }
});
