/** Statements of the specification that hold for the paper as a whole, and belong to none of its tools (docs/spec-coverage.md). */
import { expect, test } from '@playwright/test';
import { publication } from '../../src/publication.ts';
import { violationsOn } from '../world/axe.ts';

test('the links of the specification to other sites are there', async ({ request }) => {
  const { shop, advertise, founderJoin } = publication.links;
  for (const [path, link] of [
    ['/', shop],
    ['/', advertise],
    ['/founder', founderJoin],
  ] as const) {
    const html = await (await request.get(path)).text();
    expect(html.includes(`href="${link}"`), `${link} on ${path}`).toBe(true);
  }
});

test('every page has the paper’s four families of type', async ({ request }) => {
  for (const path of ['/', '/pricing', '/media', '/socialLogin']) {
    const html = await (await request.get(path)).text();
    const families = [...html.matchAll(/@font-face\s*\{[^}]*?font-family:\s*"?([A-Za-z0-9 ]+?)-[0-9a-f]{16}/gu)];
    expect
      .soft([...new Set(families.map(([, name]) => name))].toSorted(), path)
      .toEqual(['Libre Franklin', 'Newsreader', 'Source Serif 4', 'UnifrakturMaguntia']);
  }
});

test('a page that fails says so in the words of the specification, and leads home', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  const answer = await page.goto('/500');
  expect(answer?.status()).toBe(500);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(
    "We're inspecting the presses and will be back soon!",
  );
  expect(await violationsOn(page)).toEqual([]);
  await page.getByRole('link', { name: 'Go to Homepage' }).click();
  await expect(page).toHaveURL(/\/$/);
});

test('a fixed bar at the bottom leaves 8rem below the page, and the subscribe bar 2 or 6 more', async ({ page }) => {
  /** With a bar of some other kind, as a page has it that says so. */
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
  expect(await room()).toBe(10);
  await bar.getByRole('button', { name: 'Subscribe to The Sun' }).click();
  expect(await room()).toBe(14);
});
