/**
 * How fast pages are for readers: measured by their browsers after the page has loaded, sent when they leave, and shown to operators.
 */
import { gzipSync } from 'node:zlib';
import { type OwnSite, startOwnSite } from '../world/own-site.ts';
import { expect, test } from '../world/readers.ts';
import { operatorToken } from '../world/world.ts';

// In one worker, so that the file's site starts once.
test.describe.configure({ mode: 'default' });

let own: OwnSite;
test.beforeAll(async () => {
  test.setTimeout(600_000);
  own = await startOwnSite({ OPERATOR_TOKEN: operatorToken, VITALS_SHARE: '1' });
});
test.afterAll(() => own?.stop());

const article = '/article/crack-closes-mississippi-bridge';

test('a page view’s speed is measured and shown to operators, without data about the reader', async ({
  page,
  request,
}) => {
  const loaded: string[] = [];
  page.on('response', (response) => {
    if (/\/vitals\.[^/]*\.js$/.test(new URL(response.url()).pathname)) loaded.push(response.url());
  });
  // A page's last request isn't among the requests that the browser reports.
  await page.addInitScript(() => {
    const send = navigator.sendBeacon.bind(navigator);
    navigator.sendBeacon = (url, body) => {
      localStorage.setItem('sent', `${url} ${body}`);
      return send(url, body);
    };
  });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${own.site}${article}?recognized_email=ann%40example.com`);
  await expect.poll(() => loaded.length).toBe(1);
  // A busy browser may have discarded the response.
  const script = await request.get(loaded[0] ?? '');
  expect(script.status()).toBe(200);
  expect(gzipSync(await script.text()).byteLength).toBeLessThanOrEqual(1000);
  // The script is loaded before it has run, and then measures nothing; the second import waits for it.
  await page.evaluate((url) => import(url), loaded[0] ?? '');
  await page.locator('main h1').click();
  await page.goto(`${own.site}/about`);
  const sent = () => page.evaluate(() => localStorage.getItem('sent') ?? '');
  await expect.poll(sent).not.toBe('');
  const [path, text = ''] = (await sent()).split(' ');
  expect(path).toBe('/-/vitals');
  const body = JSON.parse(text) as { page: string; device: string; values: Record<string, number> };
  expect(body).toEqual({ page: 'article', device: 'phone', values: expect.any(Object) });
  expect(Object.keys(body.values)).toEqual(expect.arrayContaining(['lcp', 'cls', 'ttfb']));
  expect(body.values.lcp).toBeGreaterThan(0);

  const headers = { authorization: `Bearer ${operatorToken}` };
  const metrics = async () => (await request.get(`${own.site}/metrics`, { headers })).text();
  await expect.poll(metrics).toMatch(/^broadsheet_page_lcp_seconds_count\{page="article",device="phone"\} 1$/m);
  await page.setExtraHTTPHeaders(headers);
  await page.goto(`${own.site}/-/press`);
  const row = page.getByRole('region', { name: 'Table of page speed' }).getByRole('row', { name: /Articles/ });
  await expect(row).toContainText('Phones');
  await expect(row).toContainText(/good|fair|poor/);
});

test('pages load no measuring script where page views are not measured', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', (one) => asked.push(new URL(one.url()).pathname));
  await page.goto(article, { waitUntil: 'networkidle' });
  expect(await page.evaluate(() => document.documentElement.dataset.vitals)).toBeUndefined();
  expect(asked.filter((path) => /vitals/.test(path))).toEqual([]);
});
