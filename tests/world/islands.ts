/** Islands of an open page, hydrated as by a reader who touches all of them. */
import { expect, type Page } from '@playwright/test';

/**
 * Touches all visible islands in a part of the page, and waits until they are hydrated. The page gets no input, after which the browser
 * would ignore layout shifts.
 */
export async function touchAll(page: Page, within: string): Promise<void> {
  const touched = await page.locator(within).evaluateAll((all) => {
    const islands = all
      .flatMap((part) => [...part.querySelectorAll('astro-island')])
      .filter((island) => island.checkVisibility() || [...island.children].some((child) => child.checkVisibility()));
    for (const island of islands) {
      island.setAttribute('data-touched', '');
      island.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    }
    return islands.length;
  });
  expect(touched, within).toBeGreaterThan(0);
  await expect(page.locator('astro-island[data-touched][ssr]')).toHaveCount(0);
  await page.waitForLoadState('networkidle');
}
