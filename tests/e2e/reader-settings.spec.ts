/** Readers' system settings: larger letters, and colors of their own, which replace the site's. */
import type { Page } from '@playwright/test';
import { expect, signIn, test } from '../world/readers.ts';

async function widthOf(page: Page, path: string, percent: number): Promise<string> {
  await page.goto(path);
  await page.addStyleTag({ content: `html { font-size: ${percent}% !important }` });
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  return (content ?? 0) <= (screen ?? 0) ? '' : `${path} at ${screen} and ${percent}%: ${content}`;
}

test('pages fit the window with text at 150%, or at 200% on a desktop', async ({ page }) => {
  for (const [width, percent] of [
    [390, 150],
    [768, 150],
    [1280, 200],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of [
      '/',
      '/section/politics',
      '/search?q=harbor',
      '/article/crack-closes-mississippi-bridge',
      '/pricing',
    ])
      expect.soft(await widthOf(page, path, percent)).toBe('');
  }
  await widthOf(page, '/', 200);
  const cut = await page
    .locator('.site-header .tool-name:visible')
    .evaluateAll((names) =>
      names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent?.trim()),
    );
  expect(cut, 'names in the header that are cut off').toEqual([]);
});

/** How the links of a list are drawn, within forced colors: without colors, backgrounds and shadows. */
const looks = (page: Page, links: string) =>
  page.locator(links).evaluateAll((all) =>
    all.map((link) => {
      const { textDecorationLine, borderBlockEndStyle } = getComputedStyle(link);
      return { chosen: link.hasAttribute('aria-current'), looks: `${textDecorationLine}, ${borderBlockEndStyle}` };
    }),
  );

test('with forced colors, the current link and the play button can be told apart from the rest', async ({
  context,
  page,
}) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await signIn(context);
  for (const [path, links] of [
    ['/section/politics', '.section-nav a'],
    ['/article/crack-closes-mississippi-bridge', '.comments-sort a'],
    ['/dashboard/profile', 'nav[aria-label="Account"] li a'],
  ] as const) {
    await page.goto(path);
    const all = await looks(page, links);
    expect(
      all.filter(({ chosen }) => chosen),
      path,
    ).toEqual([{ chosen: true, looks: 'underline, none' }]);
    expect(
      all.some((each) => !each.chosen && each.looks === 'none, none'),
      path,
    ).toBe(true);
    expect(
      all.every(({ chosen, looks: drawn }) => chosen || drawn === 'none, none'),
      path,
    ).toBe(true);
  }
  await page.goto('/article/a-film-in-the-middle-of-the-page');
  await expect(page.getByRole('button', { name: 'Play the video from YouTube' }).first()).toHaveCSS(
    'border-block-style',
    'solid',
  );
});
