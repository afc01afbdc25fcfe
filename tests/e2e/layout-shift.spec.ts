/** No page moves under its reader: not while it loads, while it is scrolled, or while its islands are hydrated. */
import type { Page } from '@playwright/test';
import { touchAll } from '../world/islands.ts';
import { noShift, shiftsOn, sumOf, twoFrames, watchShifts } from '../world/layout-shifts.ts';
import { expect, test } from '../world/readers.ts';

async function scrollThrough(page: Page): Promise<void> {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  for (let y = 0; y < height; y += 400) {
    await page.evaluate((top) => scrollTo(0, top), y);
    await twoFrames(page);
  }
  await page.waitForLoadState('networkidle');
}

/** Pages on which an anonymous reader sees islands. */
const withIslands = ['/', '/section/politics'];

for (const [name, viewport] of [
  ['a phone', { width: 390, height: 844 }],
  ['a desktop', { width: 1280, height: 800 }],
] as const) {
  for (const path of ['/', '/article/crack-closes-mississippi-bridge', '/section/politics', '/pricing']) {
    test(`${path} has no layout shift on ${name} while it loads, scrolls and hydrates`, async ({ page }) => {
      await page.setViewportSize(viewport);
      // The popup would cover the page.
      await page.addInitScript(() => localStorage.setItem('seen-welcome-modal', 'true'));
      await watchShifts(page, 'loaded');
      await page.goto(path, { waitUntil: 'networkidle' });
      await scrollThrough(page);
      if (withIslands.includes(path)) await touchAll(page, 'body');
      await page.evaluate(() => scrollTo(0, 0));
      const shifts = await shiftsOn(page);
      expect(sumOf(shifts), JSON.stringify(shifts, null, 1)).toBeLessThan(noShift);
    });
  }
}
