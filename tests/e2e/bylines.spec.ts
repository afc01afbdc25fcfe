/**
 * A byline of several authors, from the block editor to the readers: the story, the lists of each author, the feeds, the staff page,
 * without a script.
 */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { live, openNewsroom, openPanel, textOf, unique, untilSaved } from '../world/newsroom.ts';
import { expect, test } from '../world/readers.ts';

// In one worker: the tests share WordPress, which answers one call at a time.
test.describe.configure({ mode: 'default' });

/** The demo's administrator in the browser, with a story far down every list and three authors that no other test uses. */
async function newsroom(page: Page) {
  const { url, save } = await openNewsroom(page.context());
  const mark = unique();
  const authors: { id: number; slug: string; name: string }[] = [];
  for (const first of ['Zoe', 'Yara', 'Xan'])
    authors.push({
      ...(await save('authors', { title: `${first} ${mark}`, status: 'publish', excerpt: `${first} writes.` })),
      name: `${first} ${mark}`,
    });
  const story = await save('articles', {
    title: `By several ${mark}`,
    slug: `byline-${mark}`,
    status: 'publish',
    content: '<!-- wp:paragraph --><p>The mule was fourteen dollars.</p><!-- /wp:paragraph -->',
    date_gmt: '2001-02-04T04:05:06',
    meta: { newsroom_author: authors[0]?.id },
  });
  return { url, mark, authors, path: `/article/${story.slug}`, ...story, save };
}

test('an editor names several authors, a contributor and an agency by keyboard, and the site’s pages follow', async ({
  page,
}) => {
  test.setTimeout(300_000);
  const { url, id, path, mark, authors, save } = await newsroom(page);
  const [zoe, yara, xan] = authors as [(typeof authors)[0], (typeof authors)[0], (typeof authors)[0]];
  await expect.poll(() => textOf(page, path), live).toContain(zoe.name);

  const panel = await openPanel(page, url, id, 'Byline');
  const people = (heading: string) =>
    panel.locator('.newsroom-byline-people', { has: page.getByRole('heading', { name: heading }) });
  const listed = (heading: string) => people(heading).locator('li .newsroom-picker-title');
  // The one author that the story had before it had lists.
  await expect(listed('Authors')).toHaveText([zoe.name]);

  const add = async (label: string, name: string): Promise<void> => {
    await panel.getByRole('combobox', { name: label }).focus();
    await page.keyboard.insertText(name);
    await expect(panel.getByRole('option', { name })).toBeVisible();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
  };
  await add('Add an author', yara.name);
  await add('Add an author', xan.name);
  await expect(listed('Authors')).toHaveText([zoe.name, yara.name, xan.name]);
  expect(await violationsOn(page, '.newsroom-byline-people')).toEqual([]);

  // In another order, by keyboard; the button keeps the focus, even at the end of the list.
  const up = panel.getByRole('button', { name: `Move up: ${xan.name}` });
  await up.focus();
  await page.keyboard.press('Enter');
  await expect(listed('Authors')).toHaveText([zoe.name, xan.name, yara.name]);
  await expect(up).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(listed('Authors')).toHaveText([xan.name, zoe.name, yara.name]);
  await expect(up).toBeFocused();

  // The undo and redo of the block editor.
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(listed('Authors')).toHaveText([zoe.name, xan.name, yara.name]);
  await page.getByRole('button', { name: 'Redo' }).click();
  await expect(listed('Authors')).toHaveText([xan.name, zoe.name, yara.name]);

  await panel.getByRole('button', { name: `Remove: ${yara.name}` }).click();
  await add('Add a contributor', yara.name);
  await expect(listed('With reporting by')).toHaveText([yara.name]);
  await panel.getByLabel('Agency', { exact: true }).fill(`Wire <i>${mark}</i>`);
  await page.keyboard.press('ControlOrMeta+s');
  await untilSaved(page);

  await expect.poll(() => textOf(page, path), live).toContain(`"contributor":[{"@type":"Person","name":"${yara.name}"`);
  await page.goto(path);
  const credits = page.locator('.credits');
  await expect(credits.locator('address')).toHaveText(`By ${xan.name}, ${zoe.name} and Wire ${mark}`);
  await expect(credits.getByText('With reporting by')).toHaveText(`With reporting by ${yara.name}`);
  await expect(page.locator('.author-box h2')).toHaveText([xan.name, zoe.name]);
  expect(await violationsOn(page, '.story')).toEqual([]);
  // Each author's lists and feeds are rendered after the story.
  for (const { slug } of authors) {
    await expect.poll(() => textOf(page, `/author/${slug}`), live).toContain(path);
    await expect.poll(() => textOf(page, `/author/${slug}/rss.xml`), live).toContain(path);
  }
  const rss = await textOf(page, `/author/${yara.slug}/rss.xml`);
  expect(rss).toContain(
    `<dc:creator>${xan.name}</dc:creator><dc:creator>${zoe.name}</dc:creator><dc:creator>Wire ${mark}</dc:creator>`,
  );
  expect(rss).toContain(`<dc:contributor>${yara.name}</dc:contributor>`);

  // A renamed author's new name is on the story, without a save of the story.
  await save(`authors/${zoe.id}`, { title: `Renamed ${mark}` });
  await expect.poll(() => textOf(page, path), live).toContain(`Renamed ${mark}`);
  await save(`authors/${zoe.id}`, { status: 'draft' });
  await expect.poll(() => textOf(page, path), live).not.toContain(`Renamed ${mark}`);
  expect(await textOf(page, path)).toContain(xan.name);
  for (const author of authors) await save(`authors/${author.id}`, { status: 'draft' });
  await save(`articles/${id}`, { status: 'draft' });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });
  test('a story by three authors names them all, in lists and in print, and links lead to the staff page', async ({
    page,
  }) => {
    await page.goto('/article/how-a-recount-works');
    const address = page.locator('.credits address');
    await expect(address).toHaveText('By Amos Pettigrew, Tobias Renner and Viktor Halloran');
    await expect(page.locator('.credits')).toContainText('With reporting by Nadia Osterman');
    await expect(page.locator('.author-box')).toHaveCount(3);
    await page.emulateMedia({ media: 'print' });
    await expect(address).toBeVisible();
    await page.emulateMedia({ media: 'screen' });
    await address.getByRole('link', { name: 'Viktor Halloran' }).click();
    expect(new URL(page.url()).pathname).toBe('/author/viktor-halloran');
    await page.getByRole('link', { name: 'All our writers' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Our Writers');
    const writer = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Nadia Osterman' }) });
    await expect(writer).toContainText('Northeast reporter');
    await page.goto('/author/nadia-osterman');
    const helped = page.locator('article.card', { has: page.getByRole('link', { name: /^How a Recount Works/ }) });
    await expect(helped).toContainText('By Amos Pettigrew, Tobias Renner and Viktor Halloran');
    await expect(helped).toContainText('With reporting by Nadia Osterman');
  });

  test('a story by an agency names the agency, and has no author box', async ({ page }) => {
    await page.goto('/article/chess-fourteen-tables');
    await expect(page.locator('.credits address')).toHaveText('By Continental Wire');
    await expect(page.locator('.credits address a')).toHaveCount(0);
    await expect(page.locator('.author-box')).toHaveCount(0);
  });
});

test('stories by several authors, an author’s list and the staff page are accessible and fit on a phone', async ({
  page,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  for (const [path, part] of [
    ['/article/how-a-recount-works', '.story'],
    ['/article/chess-fourteen-tables', '.story'],
    ['/author/viktor-halloran', 'main'],
    ['/authors', 'main'],
  ] as const) {
    await page.goto(path);
    expect(await violationsOn(page, part), path).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path).toBe(true);
  }
});

test('a story by one author contains no markup or styles for several authors', async ({ page }) => {
  const html = await textOf(page, '/article/crack-closes-mississippi-bridge');
  expect(html).not.toMatch(/<style|bylines/);
  expect(html).toMatch(/<span[^>]* class="by-word"[^>]*>By<\/span> <a rel="author"/);
});

test('search finds a story by its second author, by a contributor, and by an agency', async ({ page }) => {
  for (const name of ['Tobias Renner', 'Nadia Osterman', 'Continental Wire']) {
    const { hits } = await (
      await page.request.get(
        `/api/v1/articles/search?q=${encodeURIComponent(`${name} ${name === 'Continental Wire' ? 'chess' : 'recount'}`)}`,
      )
    ).json();
    expect(
      hits.map(({ slug }: { slug: string }) => slug),
      name,
    ).toContain(name === 'Continental Wire' ? 'chess-fourteen-tables' : 'how-a-recount-works');
  }
});
