/**
 * Walks every route of the paper (spec section 2, and those that the paper adds) at the width of a phone and of a desktop,
 * with JavaScript on and off: an answer of the right status, no console error, no failed request, nothing wider than
 * the screen, a main landmark with a heading, header and footer where the layout rules want them, and clean by axe.
 */
import type { APIRequestContext, Page } from '@playwright/test';
import { dashboardTabs } from '../../src/lib/dashboard/tabs.ts';
import { fixedPages, pathsOf } from '../../src/lib/http/fixed-pages.ts';
import { layoutRules } from '../../src/lib/layout-rules.ts';
import { publication } from '../../src/publication.ts';
import { violationsOn } from '../world/axe.ts';
import { expect, signIn, test } from '../world/readers.ts';

const fixed = [
  // Without a plan, the page leads elsewhere.
  ...fixedPages.map(({ path }) => (path === '/subscribe' ? '/subscribe?plan=reader-yearly' : path)),
  '/latest?page=2',
  ...publication.sections.map((section) => `/section/${section.slug}`),
  '/section/culture?page=2',
  '/search?q=harbor',
  '/search?q=zzzzqqq',
  '/search?q=bridge&section=national',
  '/dashboard/account',
  '/dashboard/contact',
];
/** Only for readers who are signed in. */
const own = [...dashboardTabs.map(({ slug }) => `/dashboard/${slug}`), '/cancel', ...pathsOf('signedIn')];
const missing = [
  '/no-such-page',
  '/article/no-such-article',
  '/section/no-such-section',
  '/author/nobody',
  '/media/no-such-video',
  '/games/none',
  '/latest?page=9999',
  '/_image?href=/icon-512.png&w=4096&f=png',
];

const layout = publication.layout as { headerHidden: readonly string[]; footerHidden: readonly string[] };

/** One of each kind of page whose address only the edition knows: from the sitemap, so that the sitemap is walked too. */
async function found(request: APIRequestContext): Promise<string[]> {
  const paths = async (name: string) =>
    [
      ...(await (await request.get(`/sitemaps/${name}.xml`)).text()).matchAll(/<loc>https?:\/\/[^/]+([^<]*)<\/loc>/g),
    ].map((match) => match[1] as string);
  const pages = await paths('pages');
  const articles = await paths('articles-1');
  expect(articles.length).toBeGreaterThan(59);
  const first = (prefix: string) => pages.find((path) => path.startsWith(prefix)) as string;
  return [first('/author/'), first('/media/'), first('/games/'), ...articles.slice(-6), ...articles.slice(0, 3)];
}

interface Trouble {
  errors: string[];
}

/** Notes everything that a reader's browser would complain about. */
function listen(page: Page): Trouble {
  const trouble: Trouble = { errors: [] };
  page.on('console', (message) => {
    if (message.type() === 'error') trouble.errors.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => trouble.errors.push(`script: ${error.message}`));
  page.on('requestfailed', (request) => {
    // A lazy picture whose page is left while it loads is no failure.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED')
      trouble.errors.push(`request: ${request.url()} ${request.failure()?.errorText}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400 && !response.request().isNavigationRequest())
      trouble.errors.push(`response: ${response.status()} ${response.url()}`);
  });
  return trouble;
}

async function look(page: Page, route: string, status: number, trouble: Trouble): Promise<void> {
  trouble.errors.length = 0;
  const answer = await page.goto(route, { waitUntil: 'load' });
  expect.soft(answer?.status(), `status of ${route}`).toBe(status);
  await expect.soft(page.locator('h1').first(), `heading of ${route}`).toBeAttached();
  expect.soft(await page.locator('h1').count(), `one first heading on ${route}`).toBe(1);
  expect.soft(await page.locator('html').getAttribute('lang'), `language of ${route}`).toBe('en-US');
  // The reader's own pages lead whoever is not signed in to the page for that.
  const path = new URL(page.url()).pathname;
  if (status === 200) {
    expect
      .soft(
        (await page.locator('body > header, body > * > header.masthead, [data-header]').count()) > 0,
        `header on ${route}`,
      )
      .toBe(!layout.headerHidden.includes(path));
    expect
      .soft(
        (await page.locator('footer[role="contentinfo"], body > footer, [data-footer]').count()) > 0,
        `footer on ${route}`,
      )
      .toBe(!layout.footerHidden.includes(path));
    await expect
      .soft(page.locator('body'), `paper of ${route}`)
      .toHaveCSS('background-color', layoutRules(path).theme === 'media' ? 'rgb(0, 0, 0)' : 'rgb(249, 249, 245)');
    expect.soft(await page.locator('link[rel="canonical"]').count(), `canonical of ${route}`).toBe(1);
    const description = await page.locator('meta[name="description"]').getAttribute('content');
    expect.soft([...(description ?? '')].length, `description of ${route}`).toBeGreaterThan(10);
    expect.soft([...(description ?? '')].length, `description of ${route}`).toBeLessThanOrEqual(155);
  }
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  expect.soft(content, `${route} is no wider than the screen`).toBeLessThanOrEqual(screen as number);
  // Chromium reports the page's own status as a console error; that one is meant.
  const errors = trouble.errors.filter((text) => !(status >= 400 && /status of 4(04|10)/.test(text)));
  expect.soft(errors, `complaints on ${route}`).toEqual([]);
}

for (const [device, viewport] of [
  ['phone', { width: 390, height: 844 }],
  ['desktop', { width: 1280, height: 900 }],
] as const) {
  for (const javaScriptEnabled of [true, false]) {
    test.describe(`${device}, JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, () => {
      test.use({ viewport, javaScriptEnabled });
      for (const [part, routes] of [
        ['the front and the sections', fixed.slice(0, 14)],
        ['the other pages', fixed.slice(14)],
        ['what the edition holds', null],
        ['a reader’s own pages', own],
        ['what does not exist', missing],
      ] as const) {
        test(part, async ({ context, page, request }) => {
          test.setTimeout(120_000);
          if (routes === own) await signIn(context);
          const trouble = listen(page);
          for (const route of routes ?? (await found(request))) {
            await look(page, route, routes === missing ? 404 : 200, trouble);
            if (routes === own) expect.soft(new URL(page.url()).pathname, 'the page itself').toBe(route);
            if (!javaScriptEnabled) continue;
            expect.soft(await violationsOn(page), `axe on ${route}`).toEqual([]);
          }
        });
      }
    });
  }
}
