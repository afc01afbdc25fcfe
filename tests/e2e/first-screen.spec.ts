/** The lead story's headline and picture are seen without scrolling, in the windows that most readers have. */

import { expectLeadInSight } from '../world/first-screen.ts';
import { noShift, shiftsOn, sumOf, watchShifts } from '../world/layout-shifts.ts';
import { expect, test } from '../world/readers.ts';

const windows = [
  { width: 1280, height: 720 },
  { width: 1366, height: 650 },
  { width: 1440, height: 780 },
  { width: 1536, height: 730 },
  { width: 390, height: 664 },
];

for (const viewport of windows) {
  test(`the lead story is visible without scrolling at ${viewport.width}×${viewport.height}, with no layout shift`, async ({
    page,
  }) => {
    await page.setViewportSize(viewport);
    await watchShifts(page, 'loaded');
    await page.goto('/');
    await expect(page.locator('[data-sticky-footer]')).toBeVisible();
    await expectLeadInSight(page);
    await page.locator('.front-lead .lead img').evaluate((image: HTMLImageElement) => image.decode());
    await page.evaluate(() => document.fonts.ready);
    await expectLeadInSight(page);
    const shifts = await shiftsOn(page);
    expect(sumOf(shifts), JSON.stringify(shifts, null, 1)).toBeLessThan(noShift);
  });
}
