/** A headline test, from the block editor to the readers and back: two headlines without a script, the numbers, the winner. */
import type { APIRequestContext, Browser, Page } from '@playwright/test';
import { groups, headlineFor } from '../../src/lib/headline-tests/model.ts';
import { violationsOn } from '../world/axe.ts';
import { shiftsOn, watchShifts } from '../world/layout-shifts.ts';
import { live, openNewsroom, openPanel, unique, untilSaved } from '../world/newsroom.ts';
import { expect, someAddress, test } from '../world/readers.ts';
import { testSite } from '../world/world.ts';

// In one worker: the tests share WordPress, which answers one call at a time.
test.describe.configure({ mode: 'default' });

/** The demo's administrator in the browser, with a story by an author that no other test uses. */
async function newsroom(page: Page) {
  const { url, save } = await openNewsroom(page.context());
  const mark = unique();
  const author = await save('authors', { title: `Tess ${mark}`, slug: `tess-${mark}`, status: 'publish' });
  const story = await save('articles', {
    title: `The Mule Costs ${mark}`,
    slug: `tested-${mark}`,
    status: 'publish',
    content: '<!-- wp:paragraph --><p>The mule was fourteen dollars.</p><!-- /wp:paragraph -->',
    date_gmt: '2001-02-04T04:05:06',
    meta: { newsroom_author: author.id },
  });
  return { url, mark, save, list: `/author/tess-${mark}`, path: `/article/${story.slug}`, id: story.id };
}

const testOf = async (request: APIRequestContext, url: string, id: number): Promise<string> =>
  (await (await request.get(`${url}/wp-json/wp/v2/articles/${id}?_fields=headline_test`)).json()).headline_test?.id ??
  '';
const groupSeeing = (id: string, headline: number): number =>
  Array.from({ length: groups }, (_, group) => group).find((group) => headlineFor(id, 2, group) === headline) ?? 0;

/** A reader of a group, without JavaScript. */
async function readerOf(browser: Browser, baseURL: string, group: number | null): Promise<Page> {
  const context = await browser.newContext({ baseURL, javaScriptEnabled: false });
  if (group !== null) await context.addCookies([{ name: 'headline-group', value: String(group), url: baseURL }]);
  return context.newPage();
}

test('an editor starts a headline test, two groups see two headlines, and the winner becomes the headline', async ({
  page,
  browser,
}) => {
  const baseURL = testSite();
  test.setTimeout(600_000);
  const { url, id, mark, list, path, save } = await newsroom(page);
  await expect.poll(async () => (await page.request.get(path)).status(), live).toBe(200);

  const panel = await openPanel(page, url, id, 'Headline test');
  await expect(panel).toContainText(`The Mule Costs ${mark}`);
  const begin = panel.getByRole('button', { name: 'Start the test' });
  await expect(begin).toBeDisabled();
  await panel.getByRole('button', { name: 'Add a headline' }).focus();
  await page.keyboard.press('Enter');
  const headline = panel.getByLabel('Headline B');
  await expect(headline).toBeFocused();
  await page.keyboard.insertText(`Fourteen Dollars & < No More ${mark}`);
  expect(await violationsOn(page, '.newsroom-headline-test')).toEqual([]);

  // The editor's undo and redo, and a headline that is too long.
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(panel.getByLabel('Headline B')).not.toHaveValue(/Fourteen/);
  await page.getByRole('button', { name: 'Redo' }).click();
  await expect(headline).toHaveValue(/Fourteen/);
  await headline.fill('x'.repeat(201));
  await expect(panel.getByRole('alert')).toContainText('too long');
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
  await headline.fill(`Fourteen Dollars & < No More ${mark}`);
  await begin.click();
  await expect(panel.getByRole('status')).toHaveText('The test starts when you save the story.');
  await page.keyboard.press('ControlOrMeta+s');
  await untilSaved(page);
  await expect(panel.getByRole('status')).toContainText('Running', live);

  const tested = await testOf(page.request, url, id);
  expect(tested).toMatch(/^[0-9a-f]{16}$/);
  const [own, second] = [groupSeeing(tested, 0), groupSeeing(tested, 1)];
  const seenBy = async (group: number | null): Promise<string> => {
    const reader = await readerOf(browser, baseURL, group);
    await reader.goto(list);
    // Not `textContent`, which would wait on a list that hasn't got the story yet.
    const titles = await reader.locator(`#stories a[href="${path}"].cover`).allTextContents();
    await reader.context().close();
    return titles.join();
  };
  await expect.poll(() => seenBy(second), live).toBe(`Fourteen Dollars & < No More ${mark}`);
  expect(await seenBy(own)).toBe(`The Mule Costs ${mark}`);
  expect(await seenBy(null)).toBe(`The Mule Costs ${mark}`);

  // Nothing moves, and the story's own page keeps its own headline.
  const context = await browser.newContext({ baseURL });
  await context.addCookies([{ name: 'headline-group', value: String(second), url: baseURL }]);
  const reader = await context.newPage();
  await watchShifts(reader, 'blocked');
  await reader.goto(list, { waitUntil: 'networkidle' });
  await expect(reader.getByRole('link', { name: `Fourteen Dollars & < No More ${mark}` })).toBeVisible();
  expect(await shiftsOn(reader)).toEqual([]);
  expect(await violationsOn(reader, 'main')).toEqual([]);
  await reader.getByRole('link', { name: `Fourteen Dollars & < No More ${mark}` }).click();
  await expect(reader.getByRole('heading', { level: 1 })).toHaveText(`The Mule Costs ${mark}`);
  await context.close();

  // The list of stories in WordPress shows the test.
  await page.goto(`${url}/wp-admin/edit.php?post_type=articles&s=${mark}`);
  await expect(page.locator(`#post-${id} .column-newsroom_test`)).toContainText('Running');

  // Readers of the second headline read more often, each from a different address, as a proxy reports them.
  const read = (group: number) =>
    page.request.post(`/api/v1/articles/popular/increment/${id}`, {
      headers: {
        origin: baseURL,
        cookie: `headline-group=${group}`,
        'x-forwarded-for': someAddress(),
      },
    });
  for (let at = 0; at < 240; at += 24) {
    const answers = await Promise.all(Array.from({ length: 24 }, (_, each) => read(each % 6 === 0 ? own : second)));
    expect(answers.map((answer) => answer.status())).not.toContain(429);
  }
  // A test that ends while the editor opens leaves a panel without a button.
  const again = await openPanel(page, url, id, 'Headline test', '[role="status"]');
  // The panel asks each half minute, and the site may be too busy to answer.
  await expect(again.getByRole('status')).toContainText(/B won on/, live);
  // The test may have ended before the last reading.
  await expect(again).toContainText(/B Fourteen.+?(?:1[5-9]\d|200) readings/);
  for (const group of [own, second, null])
    await expect.poll(() => seenBy(group), live).toBe(`Fourteen Dollars & < No More ${mark}`);
  await expect
    .poll(async () => (await page.request.get(path)).text(), live)
    .toContain(`Fourteen Dollars &amp; &lt; No More ${mark}`);
  await page.goto(`${url}/wp-admin/edit.php?post_type=articles&s=${mark}`);
  await expect(page.locator(`#post-${id} .column-newsroom_test`)).toContainText('B won on');
  await save(`articles/${id}`, { status: 'draft' });
});

test('an editor stops a running headline test', async ({ page }) => {
  test.setTimeout(400_000);
  const { url, id, save, mark } = await newsroom(page);
  await save(`articles/${id}`, {
    meta: { newsroom_headline_test: { state: 'running', variants: [{ headline: `Another ${mark}`, image: 0 }] } },
  });
  const panel = await openPanel(page, url, id, 'Headline test');
  await panel.getByRole('button', { name: 'Stop the test' }).click();
  await expect(panel.getByRole('status')).toHaveText('The test stops when you save the story.');
  await page.keyboard.press('ControlOrMeta+s');
  await untilSaved(page);
  await expect(panel.getByRole('status')).toContainText('Stopped by an editor', live);
  expect(await testOf(page.request, url, id)).toBe('');
  await panel.getByRole('button', { name: 'Prepare another test' }).click();
  await expect(panel.getByLabel('Headline B')).toHaveValue(`Another ${mark}`);
  await save(`articles/${id}`, { status: 'draft' });
});

test('a tested headline has its own picture, in a space of the same size', async ({ page, browser }) => {
  test.setTimeout(400_000);
  const baseURL = testSite();
  const { url, id, save, list, path, mark } = await newsroom(page);
  const media = await page.request.get(`${url}/wp-json/wp/v2/media?media_type=image&per_page=20&_fields=id,source_url`);
  const [own, other] = (await media.json()) as { id: number; source_url: string }[];
  const fileOf = (picture: typeof own): string => picture?.source_url.split('/').at(-1) ?? 'none';
  await save(`articles/${id}`, {
    featured_media: own?.id,
    meta: {
      newsroom_headline_test: { state: 'running', variants: [{ headline: `Pictured ${mark}`, image: other?.id }] },
    },
  });
  const tested = await testOf(page.request, url, id);
  const seen = async (group: number) => {
    const reader = await readerOf(browser, baseURL, group);
    await reader.goto(list);
    const card = reader.locator('#stories article', { has: reader.locator(`a[href="${path}"]`) });
    const title = (await card.locator('.cover').textContent()) ?? '';
    const picture = card.locator('img');
    const room = await picture.boundingBox();
    const src = (await picture.getAttribute('src')) ?? '';
    await reader.context().close();
    return { title, src, room };
  };
  const cookie = `headline-group=${groupSeeing(tested, 1)}`;
  await expect
    .poll(async () => (await page.request.get(list, { headers: { cookie } })).text(), live)
    .toContain(`Pictured ${mark}`);
  const [first, second] = [await seen(groupSeeing(tested, 0)), await seen(groupSeeing(tested, 1))];
  expect([first.title, second.title]).toEqual([`The Mule Costs ${mark}`, `Pictured ${mark}`]);
  expect(first.src).toContain(fileOf(own));
  expect(second.src).toContain(fileOf(other));
  expect([second.room?.width, second.room?.height]).toEqual([first.room?.width, first.room?.height]);
  await save(`articles/${id}`, { status: 'draft' });
});
