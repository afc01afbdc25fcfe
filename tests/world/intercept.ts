/** The test's own responses to a page that is open already. */
import type { BrowserContext, Page } from '@playwright/test';

const probe = '/robots.txt?intercepted';

/**
 * `page.route` that is in force when it returns. A browser tells its open pages about the first interception on another channel than about
 * a key or a click: with `page.route` alone, one in thirty immediate requests was missed. Routes set before a page opens don't need this.
 */
export async function intercept(page: Page, ...[url, handler, options]: Parameters<Page['route']>): Promise<void> {
  await page.route(url, handler, options);
  if (!page.url().startsWith('http')) return;
  await page.route(`**${probe}`, (route) => route.fulfill({ status: 204 }));
  await page.evaluate(async (path) => {
    while ((await fetch(path, { method: 'HEAD', cache: 'no-store' })).status !== 204);
  }, probe);
}

/**
 * Pages wait a minute longer than they otherwise would for responses: a test holds them back, or other tests use the cores. Call it before
 * they open.
 *
 * @param timers waits of the page that are to be a minute, too, milliseconds
 */
export const waitLonger = (pages: Pick<BrowserContext, 'addInitScript'>, ...timers: readonly number[]) =>
  pages.addInitScript((longer) => {
    if (self !== top) return;
    const minute = 60_000;
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = (ms) => timeout(ms + minute);
    const startTimer = setTimeout as Window['setTimeout'];
    window.setTimeout = ((run: TimerHandler, ms?: number, ...values: unknown[]) =>
      startTimer(run, ms !== undefined && longer.includes(ms) ? minute : ms, ...values)) as typeof setTimeout;
  }, timers);
