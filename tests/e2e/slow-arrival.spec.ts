/** A page that arrives in parts doesn't move: what comes later never moves what is being read. */
import type { Page } from '@playwright/test';
import { noShift, shiftsOn, sumOf, watchShifts } from '../world/layout-shifts.ts';
import { type PageInParts, startPageInParts } from '../world/page-in-parts.ts';
import { publicPages } from '../world/public-pages.ts';
import { expect, test } from '../world/readers.ts';

/**
 * Waits two frames, so that what has arrived is laid out and painted. The front page has no frames before its lead story has arrived
 * (`rel="expect"`).
 */
const shown = (page: Page) =>
  page.evaluate(() => {
    const frames = new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const heldBack = new Promise((done) => setTimeout(done, 250));
    return Promise.race([frames.then(() => {}), heldBack.then(() => {})]);
  });

/** Opens a page part by part. */
async function arriveAt(page: Page, { url, next }: PageInParts, path: string): Promise<void> {
  await page.goto(`${url}${path}`, { waitUntil: 'commit' });
  do await shown(page);
  while (next());
  await page.waitForLoadState('load');
  const shifts = (await shiftsOn(page)).filter(({ inLine }) => !inLine);
  expect.soft(sumOf(shifts), `${path} ${JSON.stringify(shifts, null, 1)}`).toBeLessThan(noShift);
}

for (const [name, viewport] of [
  ['a phone', { width: 390, height: 664 }],
  ['a tablet', { width: 768, height: 1024 }],
  ['a desktop', { width: 1366, height: 650 }],
] as const)
  test(`pages that arrive in parts have no layout shift on ${name}`, async ({ page, baseURL }) => {
    const arriving = await startPageInParts(baseURL ?? '', 12);
    try {
      await page.setViewportSize(viewport);
      await watchShifts(page, 'blocked');
      for (const path of publicPages) await test.step(path, () => arriveAt(page, arriving, path));
    } finally {
      arriving.stop();
    }
  });

test('plans stay in their columns while the pricing page arrives in parts', async ({ page, baseURL }) => {
  const arriving = await startPageInParts(baseURL ?? '', 60);
  try {
    await page.setViewportSize({ width: 1280, height: 1000 });
    await watchShifts(page, 'blocked');
    await arriveAt(page, arriving, '/pricing');
  } finally {
    arriving.stop();
  }
});
