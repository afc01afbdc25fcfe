/** How much of the lead story is visible without scrolling. */
import { expect, type Page } from '@playwright/test';

/** Expects the whole headline of the lead and at least half of its picture above the bar at the bottom of the window. */
export async function expectLeadInSight(page: Page): Promise<void> {
  const { headline, picture, floor } = await page.evaluate(() => {
    const box = (selector: string) => document.querySelector(selector)?.getBoundingClientRect().toJSON() as DOMRect;
    const bar = document.querySelector('[data-sticky-footer]')?.getBoundingClientRect();
    return {
      headline: box('.front-lead .lead .headline'),
      picture: box('.front-lead .lead img'),
      floor: bar?.height ? bar.top : innerHeight,
    };
  });
  expect(headline.top).toBeGreaterThan(0);
  expect(headline.bottom).toBeLessThanOrEqual(floor);
  const seen = Math.min(picture.bottom, floor) - picture.top;
  expect(seen / picture.height).toBeGreaterThanOrEqual(0.5);
}
