/** A list and a story fade into each other, but not on a slow device, whose reader would wait for the fade (docs/decisions/0036). */
import type { Page } from '@playwright/test';
import { expect, test } from '../world/readers.ts';

/** Opens the first story of a section. @returns whether it fades in */
async function openStory(page: Page, prepare: () => Promise<unknown>): Promise<boolean> {
  const reveals: { path: string; fades: boolean }[] = [];
  await page.exposeFunction('report', (path: string, fades: boolean) => reveals.push({ path, fades }));
  await page.addInitScript(() => {
    const { report } = window as unknown as { report: (path: string, fades: boolean) => void };
    addEventListener('pagereveal', ({ viewTransition }) => report(location.pathname, viewTransition !== null));
  });
  await page.goto('/section/politics');
  await prepare();
  const story = page.locator('main a[href^="/article/"]').first();
  const path = await story.getAttribute('href');
  await story.click();
  await expect.poll(() => reveals.some((each) => each.path === path)).toBe(true);
  return reveals.some((each) => each.path === path && each.fades);
}

test('a story fades in after a list', async ({ context }) => {
  // The machine that runs this test may itself be slow.
  const withoutFrames = () => {
    const all = performance.getEntriesByType.bind(performance);
    performance.getEntriesByType = (type) => (type === 'long-animation-frame' ? [] : all(type));
  };
  const open = async () => {
    const page = await context.newPage();
    return openStory(page, () => page.evaluate(withoutFrames));
  };
  // A browser that is short of time leaves a fade out by itself.
  let fades = false;
  for (let tries = 0; tries < 5 && !fades; tries++) fades = await open();
  expect(fades).toBe(true);
});

test('a story is shown at once after a list that needed a long time to draw a frame', async ({ page }) => {
  const drawSlowly = () =>
    page.evaluate(() =>
      requestAnimationFrame(() => {
        for (const end = performance.now() + 300; performance.now() < end; );
      }),
    );
  const slowest = () =>
    page.evaluate(() =>
      Math.max(0, ...performance.getEntriesByType('long-animation-frame').map(({ duration }) => duration)),
    );
  const prepare = async () => {
    await drawSlowly();
    await expect.poll(slowest).toBeGreaterThan(250);
  };
  expect(await openStory(page, prepare)).toBe(false);
});
