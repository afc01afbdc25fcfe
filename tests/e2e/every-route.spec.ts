/**
 * Visits every route of the site (spec section 2, and those that the site adds) with JavaScript on and off, at the width of a phone and
 * then of a desktop: an answer of the right status, no console error, no failed request, nothing wider than the screen or than a desktop's
 * at a zoom of 400%; with text of twice the size nothing wider than a phone of 320 or 390 pixels, and at 390 nothing cut off; one
 * first-level heading, no duplicate ids, no text in the color of its background, header and footer where the layout rules require them, and
 * no violation found by axe. Each page is loaded once.
 */
import type { APIRequestContext, Page } from '@playwright/test';
import { dashboardTabs } from '../../src/lib/dashboard/model.ts';
import { fixedPages, pathsOf } from '../../src/lib/http/fixed-pages.ts';
import { layoutRules } from '../../src/lib/layout-rules.ts';
import { publication } from '../../src/publication.ts';
import { violationsOn } from '../world/axe.ts';
import { cutWords, textSizeOf, withLargeText } from '../world/large-text.ts';
import { isOfTest } from '../world/newsroom.ts';
import { expect, signIn, test } from '../world/readers.ts';

const fixed = [
  // Without a plan, this page redirects elsewhere.
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
/** The front page, lists of stories, videos and games. */
const inSections = /^\/(?:$|latest|section|media|games)/;
/** Only for readers who are signed in. */
const own = [...dashboardTabs.map(({ slug }) => `/dashboard/${slug}`), '/cancel', ...pathsOf('signedIn')];
const missing = [
  '/no-such-page',
  '/article/no-such-article',
  '/section/no-such-section',
  '/author/no-such-author',
  '/media/no-such-video',
  '/games/none',
  '/latest?page=9999',
  '/_image?href=/icon-512.png&w=4096&f=png',
];

const layout = publication.layout as { headerHidden: readonly string[]; footerHidden: readonly string[] };

/** One page of each kind whose addresses depend on the edition: from the sitemap, so that the sitemap is tested too. */
async function found(request: APIRequestContext): Promise<string[]> {
  const paths = async (name: string) =>
    [
      ...(await (await request.get(`/sitemaps/${name}.xml`)).text()).matchAll(/<loc>https?:\/\/[^/]+([^<]*)<\/loc>/g),
    ].map((match) => match[1] as string);
  const pages = await paths('pages');
  // Other tests' stories may be gone before this test reaches them.
  const articles = (await paths('articles-1')).filter((path) => !isOfTest(path));
  expect(articles.length).toBeGreaterThan(59);
  const first = (prefix: string) => pages.find((path) => path.startsWith(prefix)) as string;
  return [first('/author/'), first('/media/'), first('/games/'), ...articles.slice(-6), ...articles.slice(0, 3)];
}

interface Trouble {
  errors: string[];
}

/** Records what the browser reports as an error. */
function listen(page: Page): Trouble {
  const trouble: Trouble = { errors: [] };
  page.on('console', (message) => {
    if (message.type() === 'error') trouble.errors.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => trouble.errors.push(`script: ${error.message}`));
  page.on('requestfailed', (request) => {
    // A lazy picture that is canceled because the test leaves the page isn't a failure.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED')
      trouble.errors.push(`request: ${request.url()} ${request.failure()?.errorText}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400 && !response.request().isNavigationRequest())
      trouble.errors.push(`response: ${response.status()} ${response.url()}`);
  });
  return trouble;
}

interface Facts {
  readonly headings: number;
  readonly language: string | null;
  readonly headers: number;
  readonly footers: number;
  readonly background: string;
  readonly canonicals: number;
  readonly description: string;
  /** The site's own ids, and prefixes of islands' ids, that occur twice; an editor's text may repeat one. */
  readonly repeated: readonly string[];
  /** Text in the color of its background, about which axe says only that it can't judge. */
  readonly unseen: readonly string[];
}

/** Reads the facts about the open document that are checked. */
function readFacts(): Facts {
  const count = (selector: string) => document.querySelectorAll(selector).length;
  const names = ['id', 'prefix'].flatMap((name) =>
    [...document.querySelectorAll(name === 'id' ? '[id]:not([id^="user-content-"])' : 'astro-island[prefix]')].map(
      (each) => `${name} ${each.getAttribute(name)}`,
    ),
  );
  const clear = 'rgba(0, 0, 0, 0)';
  const unseen = [...document.body.querySelectorAll('*')].filter((element) => {
    if (![...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim()))
      return false;
    let behind: Element | null = element;
    while (behind && getComputedStyle(behind).backgroundColor === clear) behind = behind.parentElement;
    const { color, fontSize } = getComputedStyle(element);
    return (
      behind !== null &&
      color === getComputedStyle(behind).backgroundColor &&
      fontSize !== '0px' &&
      element.checkVisibility({ visibilityProperty: true })
    );
  });
  return {
    unseen: unseen.map((element) => element.textContent?.trim() ?? ''),
    headings: count('h1'),
    language: document.documentElement.getAttribute('lang'),
    headers: count('body > header, body > * > header.masthead, [data-header]'),
    footers: count('footer[role="contentinfo"], body > footer, [data-footer]'),
    background: getComputedStyle(document.body).backgroundColor,
    canonicals: count('link[rel="canonical"]'),
    description: document.querySelector('meta[name="description"]')?.getAttribute('content') ?? '',
    repeated: names.filter((name, at) => names.indexOf(name) !== at),
  };
}

/** @returns the path where the reader ends up: readers who are not signed in are redirected to sign in */
async function open(page: Page, route: string, status: number): Promise<string> {
  const answer = await page.goto(route, { waitUntil: 'load' });
  expect.soft(answer?.status(), `status of ${route}`).toBe(status);
  const facts = await page.evaluate(readFacts);
  expect.soft(facts.headings, `one first heading on ${route}`).toBe(1);
  expect.soft(facts.language, `language of ${route}`).toBe('en-US');
  expect.soft(facts.repeated, `ids of ${route}`).toEqual([]);
  expect.soft(facts.unseen, `words that can't be seen on ${route}`).toEqual([]);
  const path = new URL(page.url()).pathname;
  if (status !== 200) return path;
  expect.soft(facts.headers > 0, `header on ${route}`).toBe(!layout.headerHidden.includes(path));
  expect.soft(facts.footers > 0, `footer on ${route}`).toBe(!layout.footerHidden.includes(path));
  expect
    .soft(facts.background, `background of ${route}`)
    .toBe(layoutRules(path).theme === 'media' ? 'rgb(0, 0, 0)' : 'rgb(249, 249, 245)');
  expect.soft(facts.canonicals, `canonical of ${route}`).toBe(1);
  const { length } = [...facts.description];
  expect.soft(length, `description of ${route}`).toBeGreaterThan(10);
  expect.soft(length, `description of ${route}`).toBeLessThanOrEqual(155);
  return path;
}

const staticPages = ['/about', '/privacy-policy', '/events', '/oped-guidelines', '/accessibility', '/community'];

/** Pages of one template are of the same kind: they differ in their texts. */
function kindOf(path: string, status: number): string {
  if (status !== 200) return `${status} ${layoutRules(path).theme}`;
  if (staticPages.includes(path)) return 'static';
  return /^\/(?:section|article)\//.exec(path)?.[0] ?? path;
}

const widths = [
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
] as const;

async function expectNothingWider(page: Page, route: string): Promise<void> {
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect.soft(content, `${route} is no wider than ${screen}`).toBeLessThanOrEqual(screen ?? 0);
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(`every route loads without errors or overflow, with JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, () => {
    test.use({ viewport: widths[0], javaScriptEnabled });
    for (const [part, routes] of [
      ['the home page, lists of stories, videos and games', fixed.filter((path) => inSections.test(path))],
      ['other pages with fixed addresses', fixed.filter((path) => !inSections.test(path))],
      ['stories and other pages from the sitemap', null],
      ['pages for signed-in readers', own],
      ['pages that don’t exist', missing],
    ] as const) {
      test(part, async ({ context, page, request }) => {
        test.setTimeout(600_000);
        if (routes === own) await signIn(context);
        const status = routes === missing ? 404 : 200;
        const trouble = listen(page);
        const textSize = await textSizeOf(page);
        /** Kinds that axe has checked in both widths; it checks the other pages of a kind only at a phone's width. */
        const seen = new Set<string>();
        for (const route of routes ?? (await found(request))) {
          trouble.errors.length = 0;
          await page.setViewportSize(widths[0]);
          const path = await open(page, route, status);
          if (routes === own) expect.soft(path, 'the page itself').toBe(route);
          const kind = kindOf(path, status);
          for (const size of widths) {
            await page.setViewportSize(size);
            await expectNothingWider(page, route);
            if (!javaScriptEnabled || (seen.has(kind) && size !== widths[0])) continue;
            expect.soft(await violationsOn(page), `axe on ${route} at ${size.width}`).toEqual([]);
          }
          seen.add(kind);
          await page.setViewportSize({ width: 320, height: 225 });
          await expectNothingWider(page, route);
          await withLargeText(textSize, page, () => expectNothingWider(page, `${route} at 320 with large text`));
          await page.setViewportSize(widths[0]);
          await withLargeText(textSize, page, async () => {
            await expectNothingWider(page, `${route} with large text`);
            expect.soft(await cutWords(page), `words that large text cuts off on ${route}`).toEqual([]);
          });
          // Chromium reports the page's own status as a console error, which is expected for a page that doesn't exist.
          const errors = trouble.errors.filter((text) => !(status >= 400 && /status of 4(04|10)/.test(text)));
          expect.soft(errors, `errors on ${route}`).toEqual([]);
        }
      });
    }
  });
}
