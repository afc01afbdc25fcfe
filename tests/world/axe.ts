/** What axe finds wrong with a page as it stands. Frames of other sites are theirs to mend. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';

/** The axe that its builder for Playwright would run, in the small form, which a browser reads in less than half the time. */
const axeFile = createRequire(createRequire(import.meta.url).resolve('@axe-core/playwright')).resolve(
  'axe-core/axe.min.js',
);
let axeSource: string | undefined;

/** What is used of axe. */
interface Axe {
  run(
    context: { readonly include?: readonly string[]; readonly exclude: readonly string[] },
    options: object,
  ): Promise<{
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly target: unknown }[] }[];
  }>;
}

/**
 * Runs axe by itself and not by Playwright's builder, which sends it to the page twice, opens a second page for each look, to gather what it
 * found in frames (there are none to look into), and fetches a list of all that is in order. Without these a look costs less than half.
 * Afterwards the page is scrolled to where it was: a menu that a test opens next opens where its reader would see it.
 *
 * @param within selector of the part to look at; the whole page without it
 * @returns for each rule that is broken its name and where
 */
export async function violationsOn(page: Page, within?: string): Promise<string[]> {
  // What the header covers in part counts as a small target: from the top it covers nothing.
  const before = await page.evaluate(() => {
    const top = scrollY;
    scrollTo({ top: 0, behavior: 'instant' });
    return top;
  });
  await page.evaluate(animationsToEnd);
  if (!(await page.evaluate(() => 'axe' in window))) {
    axeSource ??= readFileSync(axeFile, 'utf8');
    await page.evaluate(axeSource);
  }
  const found = await page.evaluate(async (part) => {
    const { axe } = window as unknown as { axe: Axe };
    const { violations } = await axe.run(
      part === undefined ? { exclude: ['iframe'] } : { include: [part], exclude: ['iframe'] },
      // By itself axe leaves out how large targets are (WCAG 2.2 AA, 2.5.8).
      { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } },
    );
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(' | ')}`);
  }, within);
  await page.evaluate((top) => scrollTo({ top, behavior: 'instant' }), before);
  return found;
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
