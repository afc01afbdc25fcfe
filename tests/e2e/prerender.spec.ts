/**
 * A story that a reader is about to open is prerendered: it counts when it is shown, once, and never before
 * (docs/decisions/0036).
 */
import { startThirdParty, type ThirdParty } from '../../sandbox/third-party/third-party.ts';
import { thirdPartyEnvironment } from '../../scripts/sandbox.ts';
import { consentCookieName, consentValue } from '../../src/lib/consent/model.ts';
import { type OwnSite, startOwnSite } from '../world/own-site.ts';
import { type PrerenderingBrowser, startPrerenderingBrowser, type Tab } from '../world/prerendering.ts';
import { expect, newEmail, someAddress, test } from '../world/readers.ts';
import { signInAt } from '../world/sign-in.ts';
import { operatorToken } from '../world/world.ts';

test.describe.configure({ mode: 'default' });

let vendors: ThirdParty;
let own: OwnSite;
let browser: PrerenderingBrowser;
const tabs: Tab[] = [];
/** A metered story on the page with the latest ones. */
let story = '';

test.beforeAll(async () => {
  test.setTimeout(600_000);
  vendors = await startThirdParty();
  const settings = { OPERATOR_TOKEN: operatorToken, VITALS_SHARE: '1' };
  own = await startOwnSite(Object.assign(settings, thirdPartyEnvironment({ thirdParty: vendors.access })));
  browser = await startPrerenderingBrowser();
  const latest = await (await fetch(`${own.site}/latest`)).text();
  for (const [, path = ''] of latest.matchAll(/href="(\/article\/[\w-]+)"/gu)) {
    if (story === '' && (await (await fetch(own.site + path)).text()).includes('data-metered=')) story = path;
  }
  expect(story).not.toBe('');
});
// A tab that stays open goes on drawing, which slows the next test.
test.afterEach(async () => {
  for (const tab of tabs.splice(0)) await tab.close();
});
test.afterAll(async () => {
  await browser?.close();
  await own?.stop();
  await vendors?.stop();
});

/** A reader on the page of latest stories who has consented to everything, and whose browser has prerendered the story. */
async function aboutToOpen(prepare: (tab: Tab) => Promise<void> = async () => {}): Promise<Tab> {
  const tab = await browser.open({ 'x-forwarded-for': someAddress() });
  tabs.push(tab);
  const value = consentValue(['measurement', 'marketing', 'advertising'], false);
  await tab.setCookies([{ name: consentCookieName, value, url: own.site }]);
  await prepare(tab);
  await tab.goto(`${own.site}/latest`);
  await tab.hover(`main a[href="${story}"]`);
  await tab.prerendered(own.site + story);
  // Third parties would start 1.5 seconds after this at the latest, and vitals after one.
  await tab.untilAhead(`performance.getEntriesByType('navigation')[0].loadEventEnd > 0`);
  return tab;
}

const isOpened = (): string => `location.pathname === ${JSON.stringify(story)}`;
const stored = (name: string): string => `localStorage.getItem(${JSON.stringify(name)})`;

async function counted(page: string): Promise<number> {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const text = await (await fetch(`${own.site}/metrics`, { headers })).text();
  const of = new RegExp(`^broadsheet_page_ttfb_seconds_count\\{page="${page}",device="desktop"\\} (\\d+)$`, 'mu');
  return Number(of.exec(text)?.[1] ?? 0);
}

test('a prerendered story counts nothing until it is opened, and then counts once', async () => {
  const tab = await aboutToOpen();
  const documents = tab.requests.filter(({ url }) => url === own.site + story);
  expect(documents, 'prefetched and prerendered with one request').toHaveLength(1);
  // The browser may scroll it because of its address or a restored position.
  await tab.evaluateAhead(`dispatchEvent(new Event('scroll')), dispatchEvent(new Event('wheel'))`);
  await tab.untilAhead(`performance.now() > performance.getEntriesByType('navigation')[0].loadEventEnd + 2500`);
  // Everything that has started was requested before this.
  await tab.evaluateAhead(`fetch('/favicon.svg').then(({ ok }) => ok)`);
  const ahead = tab.requests.filter((request) => request.ahead).map(({ method, url }) => `${method} ${url}`);
  expect(ahead.length).toBeGreaterThan(0);
  const harmless = new RegExp(`^GET ${own.site}(${story}$|/_assets/|/image\\?|/favicon|/site.webmanifest)`, 'u');
  expect(ahead.filter((request) => !harmless.test(request))).toEqual([]);
  const effects = /\/(?:reading|meter|vitals|session-page|third-parties-page|currency)\./u;
  expect(ahead.filter((request) => effects.test(request))).toEqual([]);
  expect(await tab.evaluate(stored('broadsheet-meter'))).toBeNull();
  expect(await tab.evaluate(stored('trackedArticles'))).toBeNull();
  const vitals = await counted('article');

  const before = tab.requests.length;
  await tab.click();
  await tab.until(isOpened());
  const start = `performance.getEntriesByType('navigation')[0].activationStart`;
  expect(await tab.evaluate<number>(start), 'the prerendered page is shown').toBeGreaterThan(0);
  await tab.scroll(400);
  await tab.until(stored('broadsheet-meter'));
  await tab.until(stored('trackedArticles'));
  const since = () => tab.requests.slice(before).map(({ url }) => url);
  await expect.poll(() => since().some((url) => /\/tag\/js\/gpt\.js|gpt/.test(url))).toBe(true);
  expect(since().filter((url) => url.includes('/popular/increment/'))).toHaveLength(1);
  expect(JSON.parse(String(await tab.evaluate(stored('broadsheet-meter'))))).toHaveLength(1);
  await tab.until(`performance.getEntriesByType('resource').some(({ name }) => /\\/vitals\\.[^/]*\\.js$/.test(name))`);
  await tab.goto(`${own.site}/about`);
  await expect.poll(() => counted('article')).toBe(vitals + 1);
});

test('a prerendered story that is never opened counts nothing', async () => {
  const vitals = await counted('article');
  const tab = await aboutToOpen();
  await tab.evaluateAhead(`dispatchEvent(new Event('scroll')), dispatchEvent(new Event('wheel'))`);
  await tab.goto(`${own.site}/about`);
  expect(await tab.evaluate(stored('broadsheet-meter'))).toBeNull();
  expect(await tab.evaluate(stored('trackedArticles'))).toBeNull();
  expect(tab.requests.filter(({ url }) => /increment|\/zephr\//.test(url))).toEqual([]);
  expect(await counted('article')).toBe(vitals);
});

test('a story that was prerendered before the reader signed out is reloaded as signed out when it is opened', async ({
  context,
}) => {
  await signInAt(context, newEmail(), own.site, own.dataDir);
  const cookies = (await context.cookies()).map(({ name, value }) => ({ name, value, url: own.site }));
  const visitor = { name: 'visitor', value: 'registered', url: own.site };
  const tab = await aboutToOpen((fresh) => fresh.setCookies([...cookies, visitor]));
  expect(await tab.evaluateAhead('document.documentElement.dataset.visitor')).toBe('registered');
  expect(tab.requests.filter(({ ahead, url }) => ahead && url.includes('/zephr/'))).toEqual([]);
  const body = JSON.stringify({ where: 'EVERYWHERE' });
  const request = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(body)} }`;
  expect(await tab.evaluate(`fetch('/blaize/logout', ${request}).then(({ status }) => status)`)).toBe(200);
  // Whether the page is hidden when code that waits for the reader runs; stored so that it survives the reload.
  const listener = `() => localStorage.setItem('hidden-before-reload', document.documentElement.hidden)`;
  await tab.evaluateAhead(`document.addEventListener('prerenderingchange', ${listener})`);
  await tab.click();
  await tab.until(`${isOpened()} && performance.getEntriesByType('navigation')[0].type === 'reload'`);
  await tab.until(`document.readyState === 'complete'`);
  expect(await tab.evaluate(stored('hidden-before-reload')), 'nothing counts on the page of before').toBe('true');
  expect(
    await tab.evaluate('[document.documentElement.dataset.visitor ?? null, document.documentElement.hidden]'),
  ).toEqual([null, false]);
});
