/** Layout shifts as the browser reports them, with what moved, so that a failure says where to look. */
import type { BrowserContext, Page } from '@playwright/test';

/** One shift without input from the reader. */
export interface Shift {
  /** The fraction of the window that moved, times how far: what Cumulative Layout Shift adds up. */
  readonly value: number;
  /** Milliseconds since the page began. */
  readonly at: number;
  /** Only text moved, as when the browser pauses within a centered line. */
  readonly inLine: boolean;
  /** The beginning of each moved element's HTML, and by how many pixels it moved. */
  readonly moved: readonly string[];
}

/** Lighthouse prints less than this as 0: the fraction of a pixel by which a word is wider in the newspaper's font. */
export const noShift = 0.0005;

/**
 * Collects the shifts of each page that is opened from now on, from its first paint.
 *
 * @param where The page, or all pages of a context.
 * @param fonts `'blocked'` if the test is about something else: a font that arrives changes the width of words, and the browser
 *   reports it as ready before the frame that moves.
 */
export async function watchShifts(where: Page | BrowserContext, fonts: 'loaded' | 'blocked'): Promise<void> {
  if (fonts === 'blocked') await where.route(/\.woff2/, (route) => route.abort());
  await where.addInitScript(() => {
    interface Entry extends PerformanceEntry {
      readonly value: number;
      readonly hadRecentInput: boolean;
      readonly sources: readonly {
        readonly node: Node | null;
        readonly previousRect: DOMRectReadOnly;
        readonly currentRect: DOMRectReadOnly;
      }[];
    }
    const shifts: Shift[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, startTime, sources } of list.getEntries() as Entry[]) {
        if (hadRecentInput) continue;
        const moved = sources.map(({ node, previousRect: from, currentRect: to }) => {
          const element = node instanceof Element ? node : node?.parentElement;
          return `${to.x - from.x},${to.y - from.y} ${element?.outerHTML.slice(0, 160) ?? 'removed'}`;
        });
        const inLine = sources.every(
          ({ node }) => !(node instanceof Element) || getComputedStyle(node).display.startsWith('inline'),
        );
        shifts.push({ value, at: startTime, inLine, moved });
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
}

/** Waits two frames, after which all changes so far are laid out. */
export const twoFrames = (page: Page): Promise<unknown> =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** What has moved on this page until now; two frames pass first, because a shift is reported after its frame. */
export const shiftsOn = (page: Page): Promise<readonly Shift[]> =>
  page.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
    return (window as unknown as { shifts: Shift[] }).shifts;
  });

/** The sum of shifts: 0 if nothing moved. */
export const sumOf = (shifts: readonly Shift[]): number => shifts.reduce((sum, { value }) => sum + value, 0);

/** Vertical position of an element in the window. */
export const topOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate((which) => document.querySelector(which)?.getBoundingClientRect().top ?? Number.NaN, selector);
