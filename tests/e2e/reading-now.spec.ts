/** What is read now: a reader reads a story on the site, and the editors' dashboard in WordPress shows it. */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { openNewsroom, unique } from '../world/newsroom.ts';
import { expect, someAddress, test } from '../world/readers.ts';
import { testSite } from '../world/world.ts';

// In one worker: the tests share WordPress, which answers one call at a time.
test.describe.configure({ mode: 'default' });

/** For what WordPress shows: it answers one call at a time, and waits four seconds for the site, then tries again ten seconds later. */
const shown = { timeout: 150_000 };

/** Scrolls and stays until the reading is counted. */
async function read(page: Page, path: string): Promise<void> {
  await page.clock.install();
  await page.goto(path);
  const counted = page.waitForResponse((response) => response.url().includes('/popular/increment/'));
  const script = page.waitForResponse(/reading\.[^/]*\.js/);
  await page.mouse.wheel(0, 400);
  await script;
  let done = false;
  void counted.then(() => {
    done = true;
  });
  await expect
    .poll(async () => {
      await page.clock.runFor(1000);
      return done;
    })
    .toBe(true);
  expect((await counted).status()).toBe(200);
}

test('a story that readers open appears on the WordPress dashboard and on the “Reading now” screen', async ({
  page,
  newDevice,
}) => {
  test.setTimeout(300_000);
  const { url, save } = await openNewsroom(page.context());
  const mark = unique();
  const story = await save('articles', {
    title: `Read <i>by</i> one ${mark}`,
    slug: `read-now-${mark}`,
    status: 'publish',
    content: Array.from({ length: 30 }, () => '<!-- wp:paragraph --><p>A long story.</p><!-- /wp:paragraph -->').join(
      '',
    ),
    date_gmt: '2001-02-04T04:05:06',
  });
  const path = `/article/${story.slug}`;
  await expect.poll(async () => (await page.request.get(path)).status(), shown).toBe(200);

  await page.goto(`${url}/wp-admin/index.php`);
  const widget = page.locator('#newsroom-reading');
  await expect(widget.locator('[data-note]')).toContainText('Counted at', shown);
  const row = (place: typeof widget) => place.getByRole('row', { name: new RegExp(`Read by one ${mark}`) });
  await expect(row(widget)).toHaveCount(0);
  await read(await (await newDevice()).newPage(), path);
  // The open widget shows it without a reload.
  await expect(row(widget)).toBeVisible(shown);
  await expect(row(widget)).toContainText('1');
  await expect(row(widget)).toContainText('up by 1');
  // A story with two lines next to it, and another one below: links must not be too close to each other.
  await read(await (await newDevice()).newPage(), '/article/crack-closes-mississippi-bridge');
  await expect(widget.getByRole('row', { name: /Mississippi/ })).toBeVisible(shown);
  expect(await violationsOn(page, '#newsroom-reading')).toEqual([]);

  // In the last hour, other tests may have read eight stories more than once, which are all that the widget shows.
  for (let reader = 1; reader <= 20; reader++) {
    const headers = { origin: testSite(), 'x-forwarded-for': someAddress() };
    const counted = await page.request.post(`/api/v1/articles/popular/increment/${story.id}`, { headers });
    expect(counted.status()).toBe(200);
  }

  // Another period by keyboard; the link keeps the focus.
  const hour = widget.getByRole('link', { name: '60 minutes' });
  await hour.focus();
  await page.keyboard.press('Enter');
  await expect(hour).toHaveAttribute('aria-current', 'true');
  await expect(hour).toBeFocused();
  await expect(row(widget)).toBeVisible();

  await widget.getByRole('link', { name: 'More stories' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Reading now');
  const screen = page.locator('.newsroom-reading');
  await expect(row(screen)).toBeVisible();
  expect(await violationsOn(page, '#wpbody-content')).toEqual([]);
  for (const width of [390, 768, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), String(width)).toBeLessThan(1);
  }

  // If WordPress can't be reached, the list says so and keeps its numbers.
  await page.route('**/newsroom/v1/reading-now**', (route) => route.abort());
  await page.route('**rest_route=**reading-now**', (route) => route.abort());
  await screen.getByRole('link', { name: '30 minutes' }).click();
  await expect(screen.getByRole('status')).toContainText('WordPress isn’t responding.', shown);
  await expect(row(screen)).toBeVisible();
  await page.unrouteAll();
  await screen.getByRole('link', { name: '5 minutes' }).click();
  await expect(screen.getByRole('status')).toBeEmpty(shown);

  // The story's page keeps its bytes: it contains nothing of the counting.
  expect(await (await page.request.get(path)).text()).not.toContain('reading-now');
  await save(`articles/${story.id}`, { status: 'draft' });
  await expect(row(screen)).toHaveCount(0, shown);
});
