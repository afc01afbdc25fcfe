/** "Back" shows a page at once, as it was: nothing on it keeps a browser from storing it whole (back/forward cache). */
import { type Browser, type BrowserContext, chromium } from '@playwright/test';
import { browserFromEnvironment } from '../../scripts/browser.ts';
import { publicPages } from '../world/public-pages.ts';
import { test as base, expect, signIn } from '../world/readers.ts';

/** Reasons that don't depend on the page: a headless browser stores none, and on a busy machine it may still be loading. */
const ofTheMoment = /^(BackForwardCacheDisabled|BrowsingInstanceNotSwapped|OutstandingNetworkRequest)/;

/** Why the browser didn't store a page, as it names the reasons; none for a page that it may store. */
async function reasonsAgainst(context: BrowserContext, path: string): Promise<readonly string[]> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Page.enable');
  await page.goto(path, { waitUntil: 'networkidle' });
  const { entries, currentIndex } = await session.send('Page.getNavigationHistory');
  await page.goto('/accessibility', { waitUntil: 'load' });
  const explained = new Promise<readonly string[]>((resolve) => {
    session.on('Page.backForwardCacheNotUsed', ({ notRestoredExplanations }) =>
      resolve(notRestoredExplanations.flatMap(({ type, reason }) => (type === 'Circumstantial' ? [] : [reason]))),
    );
    session.on('Page.frameNavigated', ({ type }) => {
      if (type === 'BackForwardCacheRestore') resolve([]);
    });
  });
  await session.send('Page.navigateToHistoryEntry', { entryId: entries[currentIndex]?.id ?? 0 });
  const reasons = await explained;
  await page.close();
  return reasons.filter((reason) => !ofTheMoment.test(reason));
}

const test = base.extend<{ storing: BrowserContext }>({
  storing: async ({ baseURL }, use) => {
    const { path, args } = browserFromEnvironment(process.env);
    const browser: Browser = await chromium.launch({
      args: [...args],
      // Playwright turns this cache off.
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
      ...(path && { executablePath: path }),
    });
    await use(await browser.newContext({ baseURL, serviceWorkers: 'block' }));
    await browser.close();
  },
});

test('a page with an unload handler is not kept in the back/forward cache, and the browser gives the reason', async ({
  storing,
}) => {
  await storing.addInitScript(() => addEventListener('unload', () => {}));
  expect(await reasonsAgainst(storing, '/latest')).toEqual(['UnloadHandlerExistsInMainFrame']);
});

test('every public page may be kept in the back/forward cache', async ({ storing }) => {
  for (const path of publicPages) expect.soft(await reasonsAgainst(storing, path), path).toEqual([]);
});

test('pages of signed-in readers may be kept in the back/forward cache', async ({ storing }) => {
  await signIn(storing);
  for (const path of ['/', '/article/why-the-oboe', '/dashboard/account', '/dashboard/profile'])
    expect.soft(await reasonsAgainst(storing, path), path).toEqual([]);
});
