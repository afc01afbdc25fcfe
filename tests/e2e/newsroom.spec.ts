/** What editors do, as readers see it: moving and withdrawing a story, previewing a draft. */
import { createHmac } from 'node:crypto';
import type { APIRequestContext } from '@playwright/test';
import { live, openNewsroom, signInToWordPress, unique } from '../world/newsroom.ts';
import { expect, test } from '../world/readers.ts';
import { testWordPress } from '../world/world.ts';

/** A newsroom that publishes through WordPress's own REST API, signed in as the demo's administrator. */
async function newsroom(request: APIRequestContext) {
  const { url } = testWordPress();
  const nonce = await signInToWordPress(request);
  // The other side may just have closed a kept-alive connection.
  const usual = { headers: { 'X-WP-Nonce': nonce }, maxRetries: 2 };
  return {
    async save(path: string, data: object): Promise<{ id: number; slug: string }> {
      const answer = await request.post(`${url}/wp-json/wp/v2/${path}`, { ...usual, data });
      expect(answer.ok(), `${path}: ${answer.status()}`).toBe(true);
      return answer.json();
    },
    async trash(path: string): Promise<void> {
      expect((await request.delete(`${url}/wp-json/wp/v2/${path}`, usual)).ok(), path).toBe(true);
    },
    async find(path: string): Promise<{ id: number }[]> {
      return (await request.get(`${url}/wp-json/wp/v2/${path}`, usual)).json();
    },
  };
}

test('a moved article redirects with 301, and a withdrawn one answers 410', async ({ request, playwright, page }) => {
  test.setTimeout(300_000);
  const desk = await newsroom(await playwright.request.newContext());
  const slug = `moving-story-${unique()}`;
  const post = await desk.save('articles', {
    title: 'A Story That Moves',
    slug,
    status: 'publish',
    content: '<p>Here today.</p>',
    // Far down every list, where no other test looks.
    date_gmt: '2001-02-04T04:05:06',
  });
  const status = async (path: string) => (await request.get(path, { maxRedirects: 0 })).status();
  await expect.poll(() => status(`/article/${slug}`), live).toBe(200);

  await desk.save(`articles/${post.id}`, { slug: `${slug}-on` });
  await expect.poll(() => status(`/article/${slug}`), live).toBe(301);
  const moved = await request.get(`/article/${slug}`, { maxRedirects: 0 });
  expect(moved.headers().location).toMatch(new RegExp(`/article/${slug}-on$`));
  expect(await status(`/article/${slug}-on`)).toBe(200);

  await desk.trash(`articles/${post.id}`);
  await expect.poll(() => status(`/article/${slug}-on`), live).toBe(410);
  await page.goto(`/article/${slug}-on`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('no longer available');
  await expect(page.getByRole('link', { name: 'Go to Homepage' })).toBeVisible();
  expect(await status('/article/never-written')).toBe(404);
});

test.describe('previews', () => {
  const link = (type: string, id: number, expires: number, secret = testWordPress().secret) => {
    const signature = createHmac('sha256', secret).update(`preview.${type}.${id}.${expires}`).digest('hex');
    return `/preview?type=${type}&id=${id}&expires=${expires}&signature=${signature}`;
  };
  const inAMinute = () => Math.floor(Date.now() / 1000) + 60;

  test('show a draft to anyone with the link, uncached, while its public address answers 404', async ({
    page,
    playwright,
  }) => {
    const desk = await newsroom(await playwright.request.newContext());
    const [draft] = await desk.find('articles?slug=still-being-written&status=draft');
    expect(draft).toBeDefined();
    const answer = await page.goto(link('articles', draft?.id ?? 0, inAMinute()));
    expect(answer?.status()).toBe(200);
    expect(answer?.headers()['cache-control']).toBe('private, no-store');
    expect(answer?.headers()['x-robots-tag']).toBe('noindex, nofollow');
    await expect(page.getByText('Preview.')).toBeVisible();
    await expect(page.getByRole('heading', { level: 1 })).toContainText('The Mayor’s Boat');
    await expect(page.locator('.prose')).toContainText('CANARY-draft');
    expect((await page.request.get('/article/still-being-written')).status()).toBe(404);
  });

  test('refuse an expired, forged or incomplete link with an explanation', async ({ page }) => {
    const past = Math.floor(Date.now() / 1000) - 60;
    for (const [path, words] of [
      [link('articles', 1, past), /expired/],
      [link('articles', 1, inAMinute(), 'not-the-secret-of-the-newsroom'), /not signed/],
      ['/preview', /isn’t a preview link/],
    ] as const) {
      const answer = await page.goto(path);
      expect.soft(answer?.status(), path).toBeGreaterThanOrEqual(400);
      expect.soft(answer?.headers()['cache-control'], path).toBe('private, no-store');
      await expect.soft(page.getByRole('heading', { level: 1 }), path).toContainText(words);
    }
  });
});

test('a story restricted in the editor is published without its paid text, even if its meta boxes never save', async ({
  page,
}) => {
  test.setTimeout(300_000);
  const { url, save } = await openNewsroom(page.context());
  const words = `The mule was ${unique()}.`;
  const filler = `<!-- wp:paragraph --><p>${'Long words of a story. '.repeat(60)}</p><!-- /wp:paragraph -->`;
  const story = await save('articles', {
    title: 'A Story for Subscribers',
    slug: `closed-story-${unique()}`,
    status: 'draft',
    content: `${filler.repeat(4)}<!-- wp:paragraph --><p>${words}</p><!-- /wp:paragraph -->`,
    date_gmt: '2001-02-04T04:05:06',
  });
  // The editor sends the forms of its meta boxes after the story; here they never arrive.
  await page.route(/meta-box-loader/, (route) => route.abort());
  await page.goto(`${url}/wp-admin/post.php?post=${story.id}&action=edit`);
  await page.waitForFunction(() => Reflect.get(window, 'wp')?.data?.select('core/editor')?.getCurrentPostId());
  // Its welcome guide would take the focus.
  await page.evaluate(() => {
    Reflect.get(window, 'wp').data.dispatch('core/preferences').set('core/edit-post', 'welcomeGuide', false);
  });
  const choice = page.locator('input[name="newsroom_access"][value="subscriber"]');
  const boxes = page.getByRole('button', { name: 'Meta Boxes' });
  // While the editor is still opening, it may move the focus, so that a key is lost.
  await expect(async () => {
    if ((await boxes.getAttribute('aria-expanded')) !== 'true') await boxes.press('Enter');
    await choice.press('Space', { timeout: 5000 });
    await expect(choice).toBeChecked({ timeout: 5000 });
  }).toPass();
  await page.evaluate(() => {
    const { dispatch } = Reflect.get(window, 'wp').data;
    dispatch('core/editor').editPost({ status: 'publish' });
  });
  await expect(async () => {
    await page.keyboard.press('ControlOrMeta+s');
    await page.waitForFunction(
      () => Reflect.get(window, 'wp').data.select('core/editor').getCurrentPost().status === 'publish',
      undefined,
      { timeout: 10_000 },
    );
  }).toPass();
  const path = `/article/${story.slug}`;
  await expect.poll(async () => (await page.request.get(path)).status(), live).toBe(200);
  const text = await (await page.request.get(path)).text();
  expect(text).toContain('A Story for Subscribers');
  expect(text).toContain('data-paywall');
  expect(text).not.toContain(words);
});
