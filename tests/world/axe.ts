/** What axe finds wrong with a page as it stands. Frames of other sites are theirs to mend. */
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/**
 * @param within selector of the part to look at; the whole page without it
 * @returns for each rule that is broken its name and where
 */
export async function violationsOn(page: Page, within?: string): Promise<string[]> {
  // Its usual mode opens a second page for each look, to gather what it found in frames: there are none to look into. Nor is a list
  // wanted of all that is in order. Without the two a look takes less than half the time.
  // What the header covers in part counts as a small target: from the top it covers nothing.
  await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
  await page.evaluate(animationsToEnd);
  const axe = new AxeBuilder({ page })
    .setLegacyMode()
    // By itself axe leaves out how large targets are (WCAG 2.2 AA, 2.5.8).
    .options({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })
    .exclude('iframe');
  const { violations } = await (within === undefined ? axe : axe.include(within)).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(' | ')}`);
}

/**
 * Waits for the animations that have begun and that end by themselves: text that is fading in has less contrast than it will
 * have. Endless ones, ones that scrolling drives and ones whose delay is not over yet are left alone.
 */
async function animationsToEnd(): Promise<void> {
  const underWay = document.getAnimations().filter(({ effect, timeline, currentTime, playState }) => {
    const { delay = 0, endTime } = effect?.getComputedTiming() ?? {};
    if (
      playState !== 'running' ||
      timeline !== document.timeline ||
      typeof currentTime !== 'number' ||
      typeof endTime !== 'number'
    )
      return false;
    return Number.isFinite(endTime) && currentTime >= delay;
  });
  await Promise.allSettled(underWay.map(({ finished }) => finished));
}
