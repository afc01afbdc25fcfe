/**
 * Bytes of JavaScript, gzip, that a page may cost (docs/decisions/0022). Before a reader touches anything, inline code counts, too;
 * with every island hydrated, only fetched code counts, most of which is React.
 */
import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { touchAll } from '../world/islands.ts';
import { weighPage, weighVisit } from '../world/page-weight.ts';
import { expect, pretend, signIn, test } from '../world/readers.ts';
import { type LoadedScripts, scriptsOf } from '../world/scripts.ts';

const kilo = 1024;
/** With players from other sites, comments and a rail. */
const article = '/article/a-film-in-the-middle-of-the-page';
const discussed = '/article/crack-closes-mississippi-bridge';

interface Scripts {
  /** Bytes of all scripts together. */
  readonly bytes: number;
  readonly of: Readonly<Record<string, number>>;
}

/** What a page has cost so far; `inside` adds inline code. */
async function costOf(page: Page, scripts: LoadedScripts, { inside }: { inside: boolean }): Promise<Scripts> {
  const of: Record<string, number> = { ...(await scripts.sizes()) };
  const codes = await page
    .locator('script:not([src]):not([type="application/ld+json"])')
    .evaluateAll((all) => all.map((script) => script.textContent ?? ''));
  for (const [at, code] of inside ? codes.entries() : []) of[`in the page ${at}`] = gzipSync(code).byteLength;
  return { bytes: Object.values(of).reduce((sum, each) => sum + each, 0), of };
}

/** Shown in a failure: the largest scripts first. */
const listed = (of: Record<string, number>): string =>
  Object.entries(of)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, bytes]) => `${bytes} ${name}`)
    .join('\n');

test('a page loads at most 12 kB of JavaScript before the first touch', async ({ page }) => {
  test.setTimeout(300_000);
  for (const [path, most] of [
    [article, 12],
    [discussed, 12],
    ['/', 12],
    ['/section/politics', 12],
    ['/latest', 12],
    ['/media', 12],
    ['/search?q=harbor', 12],
    ['/pricing', 10],
  ] as const) {
    const scripts = scriptsOf(page);
    await page.goto(path, { waitUntil: 'networkidle' });
    const { bytes, of } = await costOf(page, scripts, { inside: true });
    expect(Object.keys(of).length, path).toBeGreaterThan(0);
    expect.soft(bytes, `${path}\n${listed(of)}`).toBeLessThanOrEqual(most * kilo);
    scripts.stop();
  }
});

test('a subscriber’s article with its islands loads at most 87 kB of JavaScript, and 93 kB with the comment form', async ({
  context,
  page,
}) => {
  await pretend(context, 'reader');
  const scripts = scriptsOf(page);
  await page.goto(discussed, { waitUntil: 'networkidle' });
  await touchAll(page, 'body > header');
  // 2 kB of these are Astro's island element and the directive, which were inline and weren't counted.
  const { bytes, of } = await costOf(page, scripts, { inside: false });
  expect(Object.keys(of).some((name) => name.includes('HeaderAuth.island'))).toBe(true);
  expect(bytes, listed(of)).toBeLessThanOrEqual(87 * kilo);
  await touchAll(page, 'main');
  const all = await costOf(page, scripts, { inside: false });
  expect(Object.keys(all.of).some((name) => name.includes('Comments.island'))).toBe(true);
  expect(all.bytes, listed(all.of)).toBeLessThanOrEqual(93 * kilo);
});

test('an account page loads at most 100 kB of JavaScript', async ({ context, page }) => {
  await signIn(context);
  for (const [path, island] of [
    ['/dashboard/account', 'HeaderAuth'],
    ['/dashboard/profile', 'Profile'],
    ['/dashboard/contact', 'Support'],
  ] as const) {
    const scripts = scriptsOf(page);
    await page.goto(path, { waitUntil: 'networkidle' });
    await touchAll(page, 'body');
    const { bytes, of } = await costOf(page, scripts, { inside: false });
    expect(
      Object.keys(of).some((name) => name.includes(`${island}.island`)),
      `${path}\n${listed(of)}`,
    ).toBe(true);
    expect.soft(bytes, `${path}\n${listed(of)}`).toBeLessThanOrEqual(100 * kilo);
    scripts.stop();
  }
});

test('the HTML of a page stays within its limits for markup, styles and scripts', async ({ request }) => {
  const weigh = async (path: string) => weighPage(await (await request.get(path)).text());
  for (const path of [article, discussed]) {
    const weight = await weigh(path);
    expect.soft(weight.shell, `around the story of ${path} ${JSON.stringify(weight.of)}`).toBeLessThanOrEqual(6000);
    expect.soft(weight.of.styles, `styles in ${path}`).toBeLessThanOrEqual(500);
  }
  for (const [path, most] of [
    ['/', 22_000],
    ['/section/politics', 14_000],
  ] as const) {
    const weight = await weigh(path);
    expect.soft(weight.all, `${path} ${JSON.stringify(weight.of)}`).toBeLessThanOrEqual(most);
  }
  for (const path of [article, discussed, '/', '/section/politics', '/pricing'])
    expect.soft((await weigh(path)).of.scripts, `scripts in ${path}`).toBeLessThanOrEqual(1500);
});

test('a first visit loads at most 85 kB of fonts and 18 kB of style sheets', async ({ newDevice }) => {
  for (const [path, most] of [
    ['/', 60_000],
    ['/section/politics', 60_000],
    ['/latest', 60_000],
    [article, 60_000],
    [discussed, 60_000],
    ['/pricing', 60_000],
    ['/media', 60_000],
    ['/contact', 60_000],
    // An opinion has a headline and words in italics.
    ['/article/pay-jurors', 75_000],
    // A text with italics and bold type.
    ['/about', 85_000],
  ] as const) {
    const page = await (await newDevice()).newPage();
    const { fonts, styles } = await weighVisit(page, path);
    expect(fonts, path).toBeGreaterThan(20_000);
    expect.soft(fonts, `fonts of ${path}`).toBeLessThanOrEqual(most);
    expect.soft(styles, `style sheets of ${path}`).toBeLessThanOrEqual(18_000);
  }
});

test('names with accents are set in the newspaper’s fonts', async ({ page }) => {
  const files = (): Promise<number> =>
    page.evaluate(() => performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.woff2')).length);
  await page.goto('/about', { waitUntil: 'networkidle' });
  const before = await files();
  // Latin-1, and Latin Extended-A.
  const loaded = await page.evaluate(async () => {
    const families = ['--font-headline', '--font-text', '--font-label'].map((name) =>
      String(getComputedStyle(document.documentElement).getPropertyValue(name).split(',')[0]),
    );
    const faces = await Promise.all(
      families.flatMap((family) => ['Zoë', 'Łódź'].map((word) => document.fonts.load(`500 20px ${family}`, word))),
    );
    return faces.map((each) => each.length);
  });
  expect(
    loaded.every((count) => count > 0),
    String(loaded),
  ).toBe(true);
  // The browser may list a file after its letters are there.
  await expect.poll(files).toBeGreaterThanOrEqual(before + 6);
});

test('a phone with three pixels per CSS pixel loads a lead picture with two', async ({ browser }) => {
  const widths: (string | null)[] = [];
  for (const deviceScaleFactor of [2, 3]) {
    const phone = await browser.newContext({
      viewport: { width: 390, height: 664 },
      deviceScaleFactor,
      isMobile: true,
    });
    const page = await phone.newPage();
    await page.goto(discussed, { waitUntil: 'load' });
    const address = await page.locator('figure.lead img').evaluate((image: HTMLImageElement) => image.currentSrc);
    widths.push(new URL(address).searchParams.get('width'));
    await phone.close();
  }
  expect(widths).toEqual(['750', '750']);
});
