/** What each third party receives, and that none of them can harm the page. */
import { waitLonger } from '../world/intercept.ts';
import { pretend } from '../world/readers.ts';
import { expect, rememberChoice, test } from '../world/third-parties.ts';

// In one worker, so that the file's site starts once.
test.describe.configure({ mode: 'default' });

const article = '/article/crack-closes-mississippi-bridge';
const all = ['measurement', 'marketing', 'advertising'];

test('vendors get an article’s fields and the visitor kind, and no page view before the kind is known', async ({
  context,
  page,
  vendors,
  baseURL,
}) => {
  await rememberChoice(context, baseURL ?? '', ...all);
  await pretend(context, 'member', { site: baseURL ?? '' });
  await waitLonger(context);
  const gate = Promise.withResolvers<void>();
  await context.route('**/zephr/feature-decisions', async (route) => {
    await gate.promise;
    await route.fallback();
  });
  await page.goto(`${article}?utm_source=mail&recognized_email=ann%40example.com`);
  const told = async (vendor: 'gtm' | 'marfeel' | 'onesignal', what: string) =>
    (await vendors.calls(vendor)).filter((call) => call.what === what).map(({ details }) => details);
  await expect.poll(async () => (await vendors.scripts()).includes('onesignal')).toBe(true);
  await expect.poll(async () => (await vendors.scripts()).includes('marfeel')).toBe(true);
  expect(await told('gtm', 'page_view')).toEqual([]);
  expect(await told('marfeel', 'setUserType')).toEqual([]);
  expect(await told('onesignal', 'addTags')).toEqual([]);
  gate.resolve();
  await expect.poll(() => told('gtm', 'page_view')).toHaveLength(1);
  expect((await told('gtm', 'page_view'))[0]).toEqual({
    event: 'page_view',
    visitor_type: 'member',
    visitor_code: 4,
    page_path: article,
    page_kind: 'article',
    article: {
      slug: 'crack-closes-mississippi-bridge',
      title: expect.any(String),
      id: expect.any(Number),
      date: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      author: expect.stringMatching(/\w/),
      category: expect.stringMatching(/\w/),
    },
  });
  await expect.poll(() => told('marfeel', 'setUserType')).toEqual([4]);
  await expect.poll(() => told('onesignal', 'addTags')).toEqual([{ paying_subscriber: 'true' }]);
  // Consent is reported before anything else.
  const words = (await vendors.calls('gtm')).map(({ what }) => what);
  expect(words.slice(0, 3)).toEqual(['script', 'consent default', 'consent update']);
  // A route within the page is a view of its own.
  await page.evaluate(() => {
    history.pushState(null, '', '#comments');
    history.back();
  });
  await expect.poll(() => told('gtm', 'page_view')).toHaveLength(2);
  await expect.poll(() => told('marfeel', 'setUserType')).toEqual([4, 4]);
  expect(JSON.stringify(await vendors.calls())).not.toMatch(/ann(?:%40|@)example/);
});

test.describe('push notifications', () => {
  test.use({ serviceWorkers: 'allow' });
  test('run their service worker from the site’s own address, in a scope of its own', async ({
    context,
    page,
    vendors,
    baseURL,
    request,
  }) => {
    const file = await request.get('/push/onesignal/OneSignalSDKWorker.js');
    expect(file.headers()['content-type']).toBe('application/javascript; charset=utf-8');
    await rememberChoice(context, baseURL ?? '', 'marketing');
    await page.goto('/about');
    const words = async () => (await vendors.calls('onesignal')).map(({ what }) => what);
    await expect.poll(words).toContain('addTags');
    expect(await words()).toEqual([
      ...['script', 'setConsentRequired', 'setConsentGiven', 'init'],
      // The worker's own request.
      ...['script', 'worker', 'addTags'],
    ]);
    const scopes = await page.evaluate(async () =>
      (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => new URL(scope).pathname),
    );
    expect(scopes).toEqual(['/push/onesignal/']);
  });
});

test('vendors that fail, break or never answer affect neither the page nor each other', async ({
  context,
  page,
  vendors,
  baseURL,
}) => {
  await rememberChoice(context, baseURL ?? '', ...all);
  await vendors.mode('gtm', 'blocked');
  await vendors.mode('onesignal', 'slow');
  await vendors.mode('growsurf', 'throws');
  await vendors.mode('gpt', 'error');
  const ours: string[] = [];
  page.on('pageerror', (error) => {
    if (!error.message.includes('The vendor’s script has failed')) ours.push(error.message);
  });
  await page.goto(article);
  await expect.poll(async () => (await vendors.calls('marfeel')).map(({ what }) => what)).toContain('setUserType');
  await expect.poll(async () => new Set(await vendors.scripts()).size).toBe(5);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.getByRole('button', { name: 'Menu' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  expect(ours).toEqual([]);
});

test('an appointment is made in a popup of 1000 × 680 pixels, or through a plain link', async ({
  context,
  page,
  vendors,
  baseURL,
}) => {
  const link = page.locator('a[data-schedule]');
  await page.goto('/founder');
  await link.click();
  await expect(page).toHaveURL(/\/calendly\/book\/the-sun$/);
  await rememberChoice(context, baseURL ?? '', 'marketing');
  await page.setViewportSize({ width: 1536, height: 900 });
  await page.goto('/founder');
  await expect.poll(async () => (await vendors.scripts()).includes('growsurf')).toBe(true);
  expect(await vendors.scripts()).not.toContain('calendly');
  // Until the booking page's adapter has started, the link would lead to the other page.
  await page.evaluate(() => addEventListener('click', (event) => event.preventDefault()));
  await expect(async () => {
    await link.click();
    await expect.poll(vendors.scripts, { timeout: 5000 }).toContain('calendly');
  }).toPass();
  await expect(page.locator('.calendly-popup')).toBeVisible();
  // Its height follows from the vendor's style sheet, which may come later.
  const size = async () => {
    const { width, height } = (await page.locator('.calendly-popup').boundingBox()) ?? {};
    return [width, height];
  };
  await expect.poll(size).toEqual([1000, 680]);
  await vendors.mode('calendly', 'blocked');
  await page.goto('/founder');
  await expect.poll(async () => (await vendors.scripts()).filter((name) => name === 'growsurf').length).toBe(2);
  await link.click();
  await expect(page).toHaveURL(/\/calendly\/book\/the-sun$/);
});

test('pages with secret addresses load no third party, and other pages are the same for every reader', async ({
  request,
}) => {
  const hidesItself = '<meta name="referrer" content="strict-origin">';
  const secret = ['/account/signed-out', '/gift/none', '/blaize/token-exchange?token=none', '/preview?id=1'];
  for (const path of [...secret, '/socialLogin?return=%2Fgift%2Fnone']) {
    const html = await (await request.get(path)).text();
    expect(html, path).not.toContain('id="third-parties"');
    // The next page doesn't learn the address, either.
    expect(html, path).toContain(hidesItself);
  }
  expect(await (await request.get(article)).text()).not.toContain(hidesItself);
  const headers = { cookie: 'privacy-choices=1.advertising; visitor=member' };
  // New prices may change a page between the two requests.
  for (const path of ['/', article])
    await expect(async () => {
      expect(await (await request.get(path, { headers })).text(), path).toBe(await (await request.get(path)).text());
    }).toPass({ timeout: 30_000 });
});
