/** Answers of the test's own for a page that is open already. */
import type { Page } from '@playwright/test';

const probe = '/robots.txt?intercepted';

/**
 * `page.route`, in force when it returns. A browser tells its open pages of the first interception by another way than of a key or a click:
 * one request in thirty that followed at once went past `page.route` alone. What is routed before a page opens needs none of this.
 */
export async function intercept(page: Page, ...[url, handler, options]: Parameters<Page['route']>): Promise<void> {
  await page.route(url, handler, options);
  if (!page.url().startsWith('http')) return;
  await page.route(`**${probe}`, (route) => route.fulfill({ status: 204 }));
  await page.evaluate(async (path) => {
    while ((await fetch(path, { method: 'HEAD', cache: 'no-store' })).status !== 204);
  }, probe);
}
