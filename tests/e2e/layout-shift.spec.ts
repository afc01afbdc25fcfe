/** No page moves under its reader: not while it loads, while it is scrolled, or while its islands are hydrated. */
import type { Page } from '@playwright/test';
import { noShift, shiftsOn, sumOf, watchShifts } from '../world/layout-shifts.ts';
import { expect, test } from '../world/readers.ts';

/** Waits two frames, after which all changes so far are laid out and reported. */
const settled = (page: Page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

async function scrollThrough(page: Page): Promise<void> {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  for (let y = 0; y < height; y += 400) {
    await page.evaluate((top) => scrollTo(0, top), y);
    await settled(page);
  }
  await page.waitForLoadState('networkidle');
}

/** Hydrates every island that can be seen, without input, after which the browser would ignore shifts. */
async function hydrate(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const island of document.querySelectorAll('astro-island')) {
      const seen = island.checkVisibility() || [...island.children].some((child) => child.checkVisibility());
      if (!seen) continue;
      island.setAttribute('data-touched', '');
      island.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    }
  });
  await expect(page.locator('astro-island[data-touched][ssr]')).toHaveCount(0);
  await page.waitForLoadState('networkidle');
}

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
      await hydrate(page);
      await page.evaluate(() => scrollTo(0, 0));
      const shifts = await shiftsOn(page);
      expect(sumOf(shifts), JSON.stringify(shifts, null, 1)).toBeLessThan(noShift);
    });
  }
}
