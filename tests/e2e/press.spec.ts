/**
 * From the editor's save to the reader's page, through the real WordPress, its plugin and its webhook; and the operators' page
 * as an operator uses it.
 */
import type { APIRequestContext } from '@playwright/test';
import { signIn } from '../../sandbox/testing.ts';
import { violationsOn } from '../world/axe.ts';
import { live, unique } from '../world/newsroom.ts';
import { expect, test } from '../world/readers.ts';
import { operatorToken, testWordPress } from '../world/world.ts';

type Rest = Awaited<ReturnType<typeof signIn>>;

async function send(rest: Rest, path: string, method: string, body?: object): Promise<{ id: number; slug: string }> {
  const answer = await rest(path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
  return (await answer.json()) as { id: number; slug: string };
}

const textOf = async (request: APIRequestContext, path: string): Promise<string> => (await request.get(path)).text();

test.describe.configure({ mode: 'serial', timeout: 300_000 });

test('a headline that an editor changes appears on the front page and on the story', async ({ request, page }) => {
  const rest = await signIn(testWordPress());
  await page.goto('/');
  const slug = String(await page.locator('main a[href^="/article/"]').first().getAttribute('href')).slice(
    '/article/'.length,
  );
  const [article] = (await (await rest(`/wp/v2/articles?slug=${slug}&context=edit`)).json()) as {
    id: number;
    title: { raw: string };
  }[];
  if (!article) throw new Error(`WordPress has no article ${slug}.`);
  const headline = `${article.title.raw} (late edition)`;
  try {
    await send(rest, `/wp/v2/articles/${article.id}`, 'POST', { title: headline });
    await expect.poll(() => textOf(request, '/'), live).toContain('(late edition)');
    await expect.poll(() => textOf(request, `/article/${slug}`), live).toContain('(late edition)');
    // Other tests may cause renders of the page, too.
    await expect.poll(async () => (await request.get('/')).headers()['server-timing']).toBe('press;desc="hit"');
  } finally {
    await send(rest, `/wp/v2/articles/${article.id}`, 'POST', { title: article.title.raw });
  }
  await expect.poll(() => textOf(request, '/'), live).not.toContain('(late edition)');
});

test('a story appears when published, redirects when its slug changes, and answers 410 when withdrawn', async ({
  request,
}) => {
  const rest = await signIn(testWordPress());
  const name = `press-test-${unique()}`;
  const made = await send(rest, '/wp/v2/articles', 'POST', {
    title: `Press test ${name}`,
    slug: name,
    content: '<p>A story for the press.</p>',
    status: 'publish',
    // Far down every list, where no other test looks.
    date_gmt: '2001-02-03T04:05:06',
  });
  const status = async (path: string) => (await request.get(path, { maxRedirects: 0 })).status();
  try {
    await expect.poll(() => status(`/article/${name}`), live).toBe(200);
    await send(rest, `/wp/v2/articles/${made.id}`, 'POST', { slug: `${name}-moved` });
    await expect.poll(() => status(`/article/${name}-moved`), live).toBe(200);
    const old = await request.get(`/article/${name}`, { maxRedirects: 0 });
    expect([old.status(), old.headers().location]).toEqual([301, `/article/${name}-moved`]);
    expect(await textOf(request, `/search?q=${name}`)).toContain(`/article/${name}-moved`);

    await send(rest, `/wp/v2/articles/${made.id}`, 'POST', { status: 'draft' });
    await expect.poll(() => status(`/article/${name}-moved`), live).toBe(410);
    // The page is gone at once; lists follow before WordPress gets its answer, sitemaps last.
    await expect.poll(() => textOf(request, '/sitemaps/articles-1.xml'), live).not.toContain(name);
    expect(await textOf(request, `/search?q=${name}`)).not.toContain(`/article/${name}-moved`);
  } finally {
    await send(rest, `/wp/v2/articles/${made.id}?force=true`, 'DELETE');
  }
});

test.describe('the operators’ page', () => {
  for (const javaScriptEnabled of [true, false]) {
    test.describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
      test.use({ javaScriptEnabled });
      test('requires the token, shows the state of the press, and refreshes a page', async ({ page }) => {
        expect((await page.goto('/-/press'))?.status()).toBe(401);
        await page.getByLabel('Operators’ token').fill('this-is-not-the-token-at-all');
        await page.getByRole('button', { name: 'Enter' }).click();
        await expect(page.getByRole('status')).toHaveText('Token: doesn’t match OPERATOR_TOKEN.');
        await page.getByLabel('Operators’ token').fill(operatorToken);
        await page.getByRole('button', { name: 'Enter' }).click();
        await expect(page.getByText('Pages stored')).toBeVisible();
        await expect(page.getByRole('heading', { name: 'The support inbox' })).toBeVisible();
        await expect(page.getByRole('heading', { name: 'Why readers leave' })).toBeVisible();
        await page.getByLabel('A page, by its path').fill('/about');
        await page.getByRole('button', { name: 'Refresh the page' }).click();
        await expect(page.getByRole('status')).toHaveText(/^(?:Rendered again|Done)/);
        await expect(page.getByRole('img', { name: /^Time until fresh/ })).toBeVisible();
        if (javaScriptEnabled) expect(await violationsOn(page)).toEqual([]);
        await page.setViewportSize({ width: 390, height: 800 });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await expect(page.getByLabel('Operators’ token')).toBeVisible();
      });
    });
  }
});

test('a browser’s report of a blocked image appears on the operators’ page, without the full URL', async ({
  page,
  request,
}) => {
  await page.goto('/about?reader=ann');
  await page.evaluate(() => {
    new Image().src = 'https://blocked.example/pixel.gif?reader=ann';
  });
  const headers = { authorization: `Bearer ${operatorToken}` };
  await expect
    .poll(async () => (await request.get('/-/press', { headers })).text())
    .toContain('https://blocked.example');
  const text = await (await request.get('/-/press', { headers })).text();
  expect(text).toMatch(/img-src[\s\S]{0,40}\/about/);
  expect(text).not.toMatch(/pixel\.gif|reader=ann/);
});
