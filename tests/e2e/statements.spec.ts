/** Statements of the specification about the whole site that belong to no feature (docs/spec-coverage.md). */
import { join } from 'node:path';
import { root } from '../../scripts/setup/places.mjs';
import { silent } from '../../src/lib/logging.ts';
import type { PageResponse } from '../../src/press/fast-path/in-memory-http.ts';
import { publication } from '../../src/publication.ts';
import { parseConfig } from '../../src/server/config/config.ts';
import { describeFeatures } from '../../src/server/features.ts';
import { loadPages } from '../../src/server/http/page-renderer.ts';
import { violationsOn } from '../world/axe.ts';
import { publicPages } from '../world/public-pages.ts';
import { expect, test } from '../world/readers.ts';

const siteUrl = 'https://paper.example';

test('the home page and /founder show the specified links to other sites', async ({ page }) => {
  const { shop, advertise, founderJoin } = publication.links;
  for (const [path, place, name, address] of [
    ['/', '.site-footer', 'Shop', shop],
    ['/', '.site-footer', 'Advertise', advertise],
    ['/founder', 'main', 'Become a founder', founderJoin],
  ] as const) {
    if (new URL(page.url()).pathname !== path) await page.goto(path);
    const link = page.locator(place).getByRole('link', { name });
    await expect(link).toBeVisible();
    await expect(link).toHaveAttribute('href', String(address));
    expect(URL.canParse(String(address)), name).toBe(true);
  }
});

// Subsets of Source Serif 4 and UnifrakturMaguntia may not use these names (public/fonts); the motto and the ranks are set in
// Newsreader.
const families = ['Libre Franklin', 'Motto', 'Nameplate', 'Newsreader', 'Ranks', 'Text'];

test('every kind of page declares exactly the site’s font families', async ({ request }) => {
  for (const path of [...publicPages, '/socialLogin']) {
    const html = await (await request.get(path)).text();
    const sheets = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/gu)].map(([, href = '']) => href);
    const styles = await Promise.all(sheets.map(async (href) => (await request.get(href)).text()));
    const faces = [...styles.join('').matchAll(/@font-face\s*\{([^}]*)\}/gu)].map(([, face = '']) => face);
    const files = faces.filter((face) => face.includes('.woff2'));
    const declared = files.map((face) => /font-family:\s*"?([^;"]+)/u.exec(face)?.[1]);
    expect.soft([...new Set(declared)].toSorted(), path).toEqual(families);
  }
});

test('the home page uses all four font families, and each font file can be loaded', async ({ page }) => {
  await page.goto('/', { waitUntil: 'load' });
  const states = (force: boolean) =>
    page.evaluate(
      async ({ families, force }) => {
        const own = [...document.fonts].filter(({ family }) => families.includes(family.replaceAll('"', '')));
        if (force) await Promise.all(own.map((face) => face.load().catch(() => {})));
        await document.fonts.ready;
        return own.map(({ family, status }) => `${family.replaceAll('"', '')}: ${status}`);
      },
      { families, force },
    );
  // The others only show small subsets, in places that not every edition has.
  const used = ['Libre Franklin', 'Nameplate', 'Newsreader', 'Text'].map((family) => `${family}: loaded`);
  // Text that is laid out after the load may ask for another file.
  await expect.poll(() => states(false)).toEqual(expect.arrayContaining(used));
  expect([...new Set(await states(true))].toSorted()).toEqual(families.map((family) => `${family}: loaded`));
});

/** The built page's answer when its content fails; nothing breaks on the running site. */
async function failedPage(path: string): Promise<PageResponse> {
  const config = parseConfig({ SITE_URL: siteUrl });
  const content = new Proxy({} as App.Locals['content'], {
    get() {
      throw new Error('The content cannot be read.');
    },
  });
  const services = { log: silent, features: describeFeatures(config) } as unknown as App.Locals['services'];
  const locals: App.Locals = { content, services, config, variant: 'public', markAccess: () => {} };
  const render = await loadPages(join(root, 'dist', 'server', 'entry.mjs'));
  return render(new Request(new URL(path, siteUrl)), locals, '127.0.0.1');
}

test('a page that fails answers 500 with the specification’s message and a link to the home page', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  const failed = await failedPage('/about');
  await page.route('**/about', (route) =>
    route.fulfill({ status: failed.status, headers: Object.fromEntries(failed.headers), body: failed.body }),
  );
  const answer = await page.goto('/about');
  expect(answer?.status()).toBe(500);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(
    "We're inspecting the presses and will be back soon!",
  );
  expect(await answer?.text()).not.toContain('cannot be read');
  expect(await violationsOn(page)).toEqual([]);
  await page.getByRole('link', { name: 'Go to Homepage' }).click();
  await expect(page).toHaveURL(/\/$/);
});

test('the error page’s own address, /500, answers 404', async ({ request }) => {
  expect((await request.get('/500')).status()).toBe(404);
});

test('a bar at the bottom leaves 8rem of space below the page, plus 2 or 6 with the subscribe bar', async ({
  page,
}) => {
  /** The space with another kind of bar, as a page declares it. */
  const room = () =>
    page.evaluate(() => {
      document.body.dataset.bottomBar = '';
      return Number.parseFloat(getComputedStyle(document.body).paddingBottom) / 16;
    });
  await page.goto('/about');
  expect(await room()).toBe(8);
  await page.goto('/section/politics');
  const bar = page.getByRole('complementary', { name: 'Subscribe to The Sun' });
  await expect(bar).toBeVisible();
  await expect.poll(room).toBe(10);
  await bar.getByText('Subscribe to The Sun', { exact: true }).click();
  await expect.poll(room).toBe(14);
});
