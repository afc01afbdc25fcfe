/** Violations that axe finds on a page in its present state. Frames of other sites aren't checked. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';

/** The same axe that Playwright's axe builder would run, but minified, which a browser parses in less than half the time. */
const axeFile = createRequire(createRequire(import.meta.url).resolve('@axe-core/playwright')).resolve(
  'axe-core/axe.min.js',
);
let axeSource: string | undefined;

/** The parts of axe that are used. */
interface Axe {
  run(
    context: { readonly include?: readonly string[]; readonly exclude: readonly string[] },
    options: object,
  ): Promise<{
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly target: unknown }[] }[];
  }>;
}

/**
 * Runs axe directly instead of with Playwright's builder, which sends axe to the page twice, opens a second page for each check to gather
 * results from frames (there are none to check), and fetches the list of passed rules. Without these a check takes less than half the time.
 * Afterward the page is scrolled back, so that a menu that a test opens next opens where a reader would see it.
 *
 * @param within selector of the part to check (default: the whole page)
 * @returns name and places of each broken rule
 */
export async function violationsOn(page: Page, within?: string): Promise<string[]> {
  // A target that the header partly covers counts as too small: at the top of the page it covers nothing.
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
      // By default axe doesn't check target sizes (WCAG 2.2 AA, 2.5.8).
      { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } },
    );
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(' | ')}`);
  }, within);
  await page.evaluate((top) => scrollTo({ top, behavior: 'instant' }), before);
  return found;
}

/**
 * Waits for running animations that end by themselves: text that is fading in has less than its final contrast. It doesn't wait
 * for endless or scroll-driven animations, or for those whose delay hasn't ended.
 */
async function animationsToEnd(): Promise<void> {
  const running = document.getAnimations().filter(({ effect, timeline, currentTime, playState }) => {
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
  await Promise.allSettled(running.map(({ finished }) => finished));
}
