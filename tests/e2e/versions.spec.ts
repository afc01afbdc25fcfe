/** Versions of a story in the real block editor: made by publishing, compared with the keyboard, restored as an unpublished change. */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { live, openNewsroom, openPanel, textOf, unique, untilSaved } from '../world/newsroom.ts';
import { expect, test } from '../world/readers.ts';

// In one worker: the tests share WordPress, which answers one call at a time.
test.describe.configure({ mode: 'default' });

const paragraphs = (...texts: string[]) =>
  texts.map((text) => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`).join('\n\n');

/** The value that the editor would save. */
const edited = (page: Page, attribute: string): Promise<string> =>
  page.evaluate((name) => Reflect.get(window, 'wp').data.select('core/editor').getEditedPostAttribute(name), attribute);
const change = (page: Page, attributes: object) =>
  page.evaluate((given) => Reflect.get(window, 'wp').data.dispatch('core/editor').editPost(given), attributes);

test('an editor publishes twice, compares versions by keyboard, and restores the first as an unsaved change', async ({
  page,
}) => {
  test.setTimeout(600_000);
  const { url, save } = await openNewsroom(page.context());
  const mark = unique();
  const story = await save('articles', {
    title: `The Bridge ${mark}`,
    slug: `versions-${mark}`,
    status: 'publish',
    content: paragraphs('It opens on Monday.', 'Nothing else is known.'),
    date_gmt: '2001-02-04T04:05:06',
  });
  const path = `/article/${story.slug}`;
  await expect.poll(() => textOf(page, path), live).toContain('It opens on Monday.');
  expect(await textOf(page, path)).not.toContain('newsroom-version');

  const panel = await openPanel(page, url, story.id, 'Versions', 'a');
  const items = panel.getByRole('listitem');
  await expect(items).toHaveCount(1);
  await expect(items).toContainText('First published');
  const publish = async (attributes: object) => {
    await change(page, attributes);
    await page.keyboard.press('ControlOrMeta+s');
    await untilSaved(page);
  };
  await publish({ title: `The Bridge <i>Opens</i> ${mark}` });
  await expect(items).toHaveCount(2);
  await expect(items.first()).toContainText('Headline');
  await publish({ content: paragraphs('It opens on Tuesday.', 'Nothing else is known.', 'A toll is due.') });
  await expect(items).toHaveCount(3);
  await expect(items.first()).toContainText('2 paragraphs');
  expect(await violationsOn(page, '.newsroom-version-list')).toEqual([]);
  await expect.poll(() => textOf(page, path), live).toContain('A toll is due.');

  await panel.getByRole('link', { name: 'Compare all versions (3)' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Versions of “The Bridge Opens ${mark}”`);
  await expect(page.getByRole('row')).toHaveCount(4);
  // The first and the last version, with the keyboard.
  const from = page.getByRole('radio', { name: 'From version 2' });
  await from.focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('radio', { name: 'From version 1' })).toBeChecked();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 2 }).first()).toHaveText('Version 1 and version 3');
  await expect(page.locator('.diff-deletedline del', { hasText: 'Monday' })).toBeVisible();
  await expect(page.locator('.diff-addedline ins', { hasText: 'A toll is due.' })).toBeVisible();
  // Markup in a headline is shown as text.
  await expect(page.locator('.diff-addedline').first()).toContainText('<i>Opens</i>');
  await expect(page.locator('.newsroom-versions i')).toHaveCount(0);
  // Changes are marked not only by color.
  await expect(page.locator('.diff-deletedline del').first()).toHaveCSS('text-decoration-line', 'line-through');
  await expect(page.locator('.diff-addedline ins').first()).toHaveCSS('text-decoration-line', 'underline');
  expect(await violationsOn(page, '.newsroom-versions')).toEqual([]);
  await page.getByRole('link', { name: 'Inline', exact: true }).click();
  await expect(page.locator('.newsroom-diff-changed', { hasText: 'It opens on' })).toContainText('MondayTuesday');
  for (const width of [390, 768]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), String(width)).toBeLessThan(1);
  }
  await page.setViewportSize({ width: 1280, height: 900 });

  await page
    .getByRole('row', { name: /First published/ })
    .getByRole('link', { name: 'Restore in the editor: version 1' })
    .click();
  await expect(page.locator('.components-notice', { hasText: 'Readers see no change until you save' })).toBeVisible();
  await expect.poll(() => edited(page, 'title')).toBe(`The Bridge ${mark}`);
  // As in `openPanel`.
  await page.evaluate(() => Reflect.get(window, 'wp').data.dispatch('core/editor').lockPostAutosaving('test'));
  expect(await edited(page, 'content')).toContain('Monday');
  expect(await page.evaluate(() => Reflect.get(window, 'wp').data.select('core/editor').isEditedPostDirty())).toBe(
    true,
  );
  expect(page.url()).not.toContain('newsroom_version');
  expect(await textOf(page, path)).toContain('A toll is due.');
  // A single undo step reverts all of it.
  await page.getByRole('button', { name: 'Undo', exact: true }).first().click();
  await expect.poll(() => edited(page, 'title')).toBe(`The Bridge <i>Opens</i> ${mark}`);
  expect(await edited(page, 'content')).toContain('A toll is due.');
  await page.getByRole('button', { name: 'Redo', exact: true }).click();
  await expect.poll(() => edited(page, 'title')).toBe(`The Bridge ${mark}`);
  await page.keyboard.press('ControlOrMeta+s');
  await untilSaved(page);
  await expect.poll(() => textOf(page, path), live).toContain('It opens on Monday.');
  expect(await textOf(page, path)).not.toContain('A toll is due.');

  // The list of articles links there, too.
  await page.goto(`${url}/wp-admin/edit.php?post_type=articles&s=${mark}`);
  await page.getByRole('link', { name: `Versions of “The Bridge ${mark}”` }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('row')).toHaveCount(5);
  await save(`articles/${story.id}`, { status: 'draft' });
  await page.reload();
  await expect(page.getByRole('row').nth(1)).toContainText('Removed from the site');
});
