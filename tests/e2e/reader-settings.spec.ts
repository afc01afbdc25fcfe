/** What readers have set in their system: larger letters. */
import type { Page } from '@playwright/test';
import { expect, test } from '../world/readers.ts';

async function widthOf(page: Page, path: string, percent: number): Promise<string> {
  await page.goto(path);
  await page.addStyleTag({ content: `html { font-size: ${percent}% !important }` });
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  return (content ?? 0) <= (screen ?? 0) ? '' : `${path} at ${screen} and ${percent}%: ${content}`;
}

test('letters of one and a half times the size, or double on a desktop, fit the window', async ({ page }) => {
  for (const [width, percent] of [
    [390, 150],
    [768, 150],
    [1280, 200],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    for (const path of ['/', '/section/politics', '/search?q=harbor', '/article/crack-closes-mississippi-bridge'])
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
