/** A correction, from the block editor to the readers: the story, the list, the feed, without a script, and to those who had read it. */
import type { Locator, Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { live, openNewsroom, openPanel, saveByKey, textOf, unique } from '../world/newsroom.ts';
import { expect, signIn, test } from '../world/readers.ts';

// In one worker: the tests share WordPress, which answers one call at a time.
test.describe.configure({ mode: 'default' });

/** The demo's administrator in the browser, with a story far down every list. */
async function newsroom(page: Page, title: string, fields: object = {}) {
  const { url, save } = await openNewsroom(page.context());
  const story = await save('articles', {
    title,
    slug: `corrected-${unique()}`,
    status: 'publish',
    content: '<!-- wp:paragraph --><p>The mule was fourteen dollars.</p><!-- /wp:paragraph -->',
    date_gmt: '2001-02-04T04:05:06',
    ...fields,
  });
  return { url, path: `/article/${story.slug}`, ...story, save: (data: object) => save(`articles/${story.id}`, data) };
}

test('an editor adds a correction by keyboard and removes it, and the story, the list and the feed follow', async ({
  page,
}) => {
  test.setTimeout(600_000);
  const sum = unique();
  const markup = `The mule was <em>forty</em> dollars (${sum}).`;
  const plain = `The mule was forty dollars (${sum}).`;
  const desk = await newsroom(page, 'The Price of a Mule');
  await expect.poll(async () => (await page.request.get(desk.path)).status(), live).toBe(200);
  expect(await textOf(page, desk.path)).not.toContain('correction');

  const panel = await openPanel(page, desk.url, desk.id, 'Corrections');
  await panel.getByRole('button', { name: 'Add a note' }).focus();
  await page.keyboard.press('Enter');
  const words = panel.getByLabel('Text');
  await expect(words).toBeFocused();
  await page.keyboard.insertText(markup);
  expect(await violationsOn(page, '.newsroom-correction')).toEqual([]);

  // The undo and redo of the block editor, and its warning about unsaved changes.
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(words).not.toHaveValue(/forty/);
  await page.getByRole('button', { name: 'Redo' }).click();
  await expect(words).toHaveValue(/forty/);
  expect(await page.evaluate(() => Reflect.get(window, 'wp').data.select('core/editor').isEditedPostDirty())).toBe(
    true,
  );

  // A note that is too long shows an error and keeps its text, and the story can't be saved until the note is shorter.
  await words.fill('x'.repeat(1501));
  await expect(panel.getByRole('alert')).toContainText('This note is too long.');
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
  // The panel may be closed: the message above the story stays until the note is shorter.
  const opener = panel.getByRole('button', { name: 'Corrections', exact: true });
  const above = page.locator('.components-notice', { hasText: 'a note under “Corrections” is too long' });
  await opener.click();
  await expect(words).toHaveCount(0);
  await expect(above).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeEnabled();
  await expect(above).toHaveCount(0);
  await opener.click();
  await words.fill(markup);
  await expect(panel.getByRole('alert')).toHaveCount(0);

  // The date is that of saving: readers who saw the story until then are notified.
  const time = panel.getByLabel('Date and time');
  await expect(time).toHaveValue('');
  await saveByKey(page);
  await expect(time).toHaveValue(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/);

  await expect.poll(() => textOf(page, desk.path), live).toContain(markup);
  const html = await textOf(page, desk.path);
  expect(html).toContain(`"correction":[{"@type":"CorrectionComment","text":"${plain}"`);
  // The list and the feed are rendered after the story.
  await expect.poll(() => textOf(page, '/corrections'), live).toContain(markup);
  await expect.poll(() => textOf(page, '/corrections/rss.xml'), live).toContain(plain);

  // A removed note disappears everywhere.
  await panel.getByRole('button', { name: /^Remove Correction/ }).focus();
  await page.keyboard.press('Enter');
  await expect(panel.getByRole('button', { name: 'Add a note' })).toBeFocused();
  await saveByKey(page);
  for (const path of [desk.path, '/corrections', '/corrections/rss.xml', '/corrections/feed.json'])
    await expect.poll(() => textOf(page, path), live).not.toContain(sum);
});

/** Selects words of a field, as an editor does. */
const select = (field: Locator, words: string) =>
  field.evaluate((area: HTMLTextAreaElement, text) => {
    const at = area.value.indexOf(text);
    area.focus();
    area.setSelectionRange(at, at + text.length);
  }, words);

test('an editor adds, changes and removes a link in a note by keyboard, without typing markup', async ({ page }) => {
  test.setTimeout(600_000);
  const story = await newsroom(page, 'A Linked Mule');
  const panel = await openPanel(page, story.url, story.id, 'Corrections');
  await panel.getByRole('button', { name: 'Add a note' }).click();
  const words = panel.getByLabel('Text');
  await expect(words).toBeFocused();
  await page.keyboard.insertText('The county’s report said forty.');

  await select(words, 'county’s report ');
  await page.keyboard.press('ControlOrMeta+k');
  const address = panel.getByLabel('Address for “county’s report”');
  await expect(address).toBeFocused();
  expect(await violationsOn(page, '.newsroom-correction')).toEqual([]);
  for (const wrong of ['javascript:alert(1)', 'no address', '//evil.example', '" onclick="alert(1)', '']) {
    await address.fill(wrong);
    await page.keyboard.press('Enter');
    await expect(panel.getByRole('alert')).toHaveText('This isn’t a web address.');
  }
  await address.fill('example.com/report?a=1&b=2');
  await page.keyboard.press('Enter');
  const link = '<a href="https://example.com/report?a=1&amp;b=2">county’s report</a>';
  await expect(words).toHaveValue(`The ${link} said forty.`);
  await expect(words).toBeFocused();
  expect(await words.evaluate((area: HTMLTextAreaElement) => area.selectionStart)).toBe(4 + link.length);

  // Without a selection the panel asks for the link's text, which is plain text.
  await words.evaluate((area: HTMLTextAreaElement) => area.setSelectionRange(area.value.length, area.value.length));
  await panel.getByRole('button', { name: 'Link', exact: true }).focus();
  await page.keyboard.press('Enter');
  await expect(panel.getByLabel('Link text', { exact: true })).toBeFocused();
  await page.keyboard.insertText('Ask <b>us</b> & them');
  await panel.getByLabel('Address', { exact: true }).fill('editors@example.com');
  await page.keyboard.press('Enter');
  const mail = '<a href="mailto:editors@example.com">Ask &lt;b&gt;us&lt;/b&gt; &amp; them</a>';
  await expect(words).toHaveValue(`The ${link} said forty.${mail}`);

  // Within a link it changes or removes the link; the editor's undo restores it. Part of an element can't become a link.
  await select(words, 'report</a> said');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(panel.getByRole('alert')).toHaveText(
    'Select text without tags, or with both the opening and the closing tag.',
  );
  await select(words, 'Ask');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(panel.getByLabel('Address for “Ask <b>us</b> & them”')).toHaveValue('mailto:editors@example.com');
  await page.keyboard.press('Escape');
  await expect(words).toBeFocused();
  await expect(panel.getByRole('group', { name: 'Link' })).toHaveCount(0);
  await select(words, 'county’s');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(panel.getByLabel('Address for “county’s report”')).toHaveValue('https://example.com/report?a=1&b=2');
  await panel.getByRole('button', { name: 'Remove the link' }).focus();
  await page.keyboard.press('Enter');
  await expect(words).toHaveValue(`The county’s report said forty.${mail}`);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(words).toHaveValue(`The ${link} said forty.${mail}`);

  await saveByKey(page);
  await expect.poll(() => textOf(page, story.path), live).toContain('>county’s report</a> said forty.');
  await page.goto(story.path);
  const notes = page.getByRole('region', { name: 'Corrections' });
  await expect(notes.getByRole('link', { name: 'county’s report' })).toHaveAttribute(
    'href',
    'https://example.com/report?a=1&b=2',
  );
  await expect(notes.getByRole('link', { name: 'Ask <b>us</b> & them' })).toHaveAttribute(
    'href',
    'mailto:editors@example.com',
  );
  await story.save({ status: 'draft' });
});

test('a note dated in the future shows an error and blocks saving the story', async ({ page }) => {
  test.setTimeout(400_000);
  const story = await newsroom(page, 'A Mule of Tomorrow');
  const panel = await openPanel(page, story.url, story.id, 'Corrections');
  await panel.getByRole('button', { name: 'Add a note' }).click();
  await expect(panel.getByLabel('Text')).toBeFocused();
  await page.keyboard.insertText('It was forty dollars.');
  const time = panel.getByLabel('Date and time');
  await time.fill('2099-01-01T10:00');
  const message = 'This date is in the future. Choose the time when the story was corrected.';
  await expect(panel.getByRole('alert')).toHaveText(message);
  await expect(time).toHaveAccessibleDescription(message);
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
  const above = page.locator('.components-notice', { hasText: 'a note under “Corrections” is dated in the future' });
  await expect(above).toBeVisible();
  expect(await violationsOn(page, '.newsroom-correction')).toEqual([]);
  await time.fill('2026-01-01T10:00');
  await expect(panel.getByRole('alert')).toHaveCount(0);
  await expect(above).toHaveCount(0);
  await saveByKey(page);
  await expect.poll(() => textOf(page, story.path), live).toContain('It was forty dollars.');
  await story.save({ status: 'draft' });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });
  test('a corrected story says so, and links to the note and the list of corrections', async ({ page }) => {
    await page.goto('/article/erie-makes-one-thing-well');
    await page.getByRole('link', { name: /^Corrected \w+ \d+, \d{4}$/ }).click();
    await expect(page).toHaveURL(/#corrections$/);
    const notes = page.getByRole('region', { name: 'Corrections' });
    await expect(notes.getByRole('heading', { name: /^Correction, .+ ET$/ })).toBeVisible();
    await expect(notes).toContainText('It was made in 1919, not in 1909.');
    await notes.getByRole('link', { name: 'All corrections' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Corrections');
    await expect(page.locator('link[rel="alternate"][href="/corrections/rss.xml"]')).toHaveCount(1);
    await page.getByRole('link', { name: /A Factory in Erie Reopens/ }).click();
    await expect(page).toHaveURL('/article/erie-makes-one-thing-well#corrections');
  });

  test('a printed story includes the note but not the link to all corrections', async ({ page }) => {
    await page.emulateMedia({ media: 'print' });
    await page.goto('/article/erie-makes-one-thing-well');
    const notes = page.locator('#corrections');
    await expect(notes.getByText('It was made in 1919')).toBeVisible();
    await expect(notes.getByText('All corrections')).toBeHidden();
  });
});

test('corrections in a story and the list of corrections have no axe violations and fit a phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  for (const [path, part] of [
    ['/article/erie-makes-one-thing-well', '.story'],
    ['/corrections', 'main'],
  ] as const) {
    await page.goto(path);
    expect(await violationsOn(page, part)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path).toBe(true);
  }
});

test('a correction to a story for subscribers is shown to everyone, without the story’s paid text', async ({
  page,
  browser,
  baseURL,
}) => {
  test.setTimeout(400_000);
  const words = `A mule, not a donkey (${unique()}).`;
  const desk = await newsroom(page, 'A Paid Mule', {
    content: `<p>${'An opening. '.repeat(60)}</p><p>UNPAID-CANARY</p>`,
    meta: {
      newsroom_access: 'subscriber',
      newsroom_corrections: [{ kind: 'clarification', date: '2026-11-20T12:00:00Z', text: words }],
    },
  });
  const anyone = await browser.newContext({ baseURL });
  const read = async (path: string) => (await anyone.request.get(path)).text();
  await expect.poll(() => read(desk.path), live).toContain(words);
  expect(await read(desk.path)).not.toContain('UNPAID-CANARY');
  await anyone.close();
  await desk.save({ status: 'draft' });
  await expect.poll(() => textOf(page, '/corrections'), live).not.toContain(words);
});

test('a signed-in reader is notified once that a story they read was corrected; a signed-out one is not', async ({
  page,
  context,
}) => {
  test.setTimeout(600_000);
  const asked: string[] = [];
  page.on('request', (request) => {
    if (/\/api\/v1\/me\/history\/corrections$|corrections\.[\w-]+\.js/.test(request.url()))
      asked.push(request.method());
  });
  const desk = await newsroom(page, 'A Mule That Was Read');
  await expect.poll(async () => (await page.request.get(desk.path)).status(), live).toBe(200);
  await page.goto('/about', { waitUntil: 'networkidle' });
  expect(asked, 'of a reader who is not signed in').toEqual([]);

  await signIn(context);
  const noted = await page.request.post('/api/v1/me/history', {
    headers: { origin: new URL(page.url()).origin },
    data: { articleId: desk.id },
  });
  expect(noted.ok(), await noted.text()).toBe(true);
  // Notes have whole seconds, and this one must be later than the reading.
  const at = Math.ceil(Date.now() / 1000) * 1000 + 1000;
  const note = { kind: 'correction', date: new Date(at).toISOString(), text: 'It was forty dollars.' };
  await desk.save({ meta: { newsroom_corrections: [note] } });
  await expect.poll(() => textOf(page, desk.path), live).toContain('It was forty dollars.');
  await expect.poll(() => Date.now()).toBeGreaterThan(at);
  // Reported by the button below, or by the timer before it if the test is slow.
  const told = page.waitForResponse(
    (answer) => answer.url().endsWith('/api/v1/me/history/corrections') && answer.request().method() === 'POST',
  );
  await page.goto('/about');
  const notice = page.getByRole('complementary', { name: 'A story you read was corrected' });
  await expect(notice.getByRole('link', { name: 'A Mule That Was Read' })).toHaveAttribute(
    'href',
    `${desk.path}#corrections`,
  );
  expect(await violationsOn(page, '.correction-notice')).toEqual([]);
  await notice.getByRole('button', { name: 'Dismiss' }).focus();
  await page.keyboard.press('Escape');
  expect((await told).status()).toBe(200);
  await expect(notice).toHaveCount(0);
  await page.goto('/dashboard/saved');
  await expect(page.getByRole('region', { name: 'Reading history' }).getByText(/^Corrected \w+ \d+/)).toBeVisible();
  const answer = await page.request.get('/api/v1/me/history/corrections');
  expect([await answer.json(), answer.headers()['cache-control']]).toEqual([{ stories: [], until: null }, 'no-store']);
  await desk.save({ status: 'draft' });
});
