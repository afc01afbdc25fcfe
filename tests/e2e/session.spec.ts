/** Who is reading: at the first paint, across pages and tabs, and the number of calls that this needs. */
import type { BrowserContext, Page } from '@playwright/test';
import { sessionName } from '../../src/lib/accounts/visitor.ts';
import { correctionsId } from '../../src/lib/corrections/schema.ts';
import { waitLonger } from '../world/intercept.ts';
import { shiftsOn, watchShifts } from '../world/layout-shifts.ts';
import { accountCalls, expect, pretend, signedInKinds, signIn, test } from '../world/readers.ts';

const article = '/article/crack-closes-mississippi-bridge';
const decisions = '/zephr/feature-decisions';
const repair = '/api/v1/me/repair';
const corrections = '/api/v1/me/history/corrections';

const visitor = (page: Page) => page.locator('html').getAttribute('data-visitor');
const header = (page: Page) => page.locator('.site-header');
const signInLink = (page: Page) => header(page).getByRole('link', { name: 'Sign In' });
const accountButton = (page: Page) => header(page).getByRole('button', { name: 'Account' });

test.describe('account requests', () => {
  test('are not sent for an anonymous reader', async ({ context, page }) => {
    const asked = accountCalls(context);
    for (const path of ['/', article, '/section/politics']) await page.goto(path, { waitUntil: 'networkidle' });
    expect(asked.all).toEqual([]);
    expect(await visitor(page)).toBeNull();
  });

  test('are sent once for a signed-in reader, and their answers are shared by pages and tabs', async ({
    context,
    page,
  }) => {
    await pretend(context, 'reader');
    const asked = accountCalls(context);
    await page.goto('/');
    // A page that is left before its answer arrives shares none.
    await expect.poll(() => asked.all.toSorted()).toEqual([corrections, repair, decisions]);
    await page.waitForFunction((name) => localStorage.getItem(name) !== null, sessionName);
    await page.goto(article, { waitUntil: 'networkidle' });
    const second = await context.newPage();
    await second.goto('/', { waitUntil: 'networkidle' });
    await expect(accountButton(second)).toBeVisible();
    expect(asked.all.toSorted()).toEqual([corrections, repair, decisions]);
  });

  test('are sent once by tabs that are opened at the same time', async ({ context }) => {
    await pretend(context, 'member');
    await waitLonger(context);
    let asked = 0;
    const gate = Promise.withResolvers<void>();
    await context.route(`**${decisions}`, async (route) => {
      asked++;
      await gate.promise;
      await route.fallback();
    });
    const pages = await Promise.all([context.newPage(), context.newPage(), context.newPage()]);
    await Promise.all(pages.map((page) => page.goto(article)));
    // Every tab is waiting for the lock or holds it.
    const waiting = () =>
      pages[0]?.evaluate(async () => {
        const { held = [], pending = [] } = await navigator.locks.query();
        return held.length + pending.length;
      });
    await expect.poll(waiting).toBe(3);
    gate.resolve();
    for (const page of pages) await page.waitForFunction((name) => localStorage.getItem(name) !== null, sessionName);
    await expect.poll(waiting).toBe(0);
    expect(asked).toBe(1);
  });

  test('that fail leave the reader signed out, and the page works', async ({ context, page }) => {
    await pretend(context, 'founder');
    await context.route(`**${decisions}`, (route) => route.fulfill({ status: 503, body: '<h1>Busy</h1>' }));
    await page.goto(article);
    await expect(signInLink(page)).toBeVisible();
    await expect(accountButton(page)).toBeHidden();
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  });

  test('identify a newsletter’s reader once, and the email address is removed from the address bar', async ({
    context,
    page,
  }) => {
    const bodies: unknown[] = [];
    await context.route('**/zephr/recognise-me', (route) => {
      bodies.push(route.request().postDataJSON());
      return route.fulfill({ json: { message: 'Lookup complete' } });
    });
    await page.goto(`${article}?utm_source=mail&recognized_email=ann%40example.com`);
    await expect(page).toHaveURL(/\?utm_source=mail$/);
    await expect.poll(() => bodies).toEqual([{ identifiers: { email_address: 'ann@example.com' } }]);
    await page.reload({ waitUntil: 'networkidle' });
    expect(bodies).toHaveLength(1);
  });
});

test.describe('the first paint', () => {
  for (const kind of signedInKinds) {
    test(`shows the right header for visitor kind ${kind}, with all external scripts blocked`, async ({
      context,
      page,
    }) => {
      await pretend(context, kind);
      await context.route('**/*.js', (route) => route.abort());
      await page.goto(article);
      expect(await visitor(page)).toBe(kind);
      await expect(accountButton(page)).toBeVisible();
      await expect(signInLink(page)).toBeHidden();
      const bar = header(page);
      await expect(bar.getByRole('link', { name: 'Join Today' })).toBeVisible({ visible: kind === 'registered' });
      await expect(bar.getByRole('link', { name: 'Upgrade' })).toBeVisible({
        visible: kind === 'reader' || kind === 'member',
      });
    });
  }

  test('is the same HTML for every reader', async ({ request }) => {
    for (const path of ['/', article, '/section/politics', '/pricing']) {
      // Other tests' publishing and reading may change the page between the two requests.
      await expect(async () => {
        const anonymous = await request.get(path);
        const member = await request.get(path, { headers: { cookie: 'visitor=member; blaize_session=none' } });
        expect(await member.text(), path).toBe(await anonymous.text());
      }).toPass({ timeout: 30_000 });
    }
  });

  for (const kind of ['anonymous', ...signedInKinds] as const) {
    test(`is followed by no layout shift for visitor kind ${kind}`, async ({ context, page }) => {
      if (kind !== 'anonymous') await pretend(context, kind);
      await watchShifts(context, 'blocked');
      // Prices, and times that become "2 hours ago", change the width of words, for every kind alike.
      await context.route(/\/stocks\/quote/, (route) => route.abort());
      const pages = ['/', article];
      await context.route(
        ({ pathname }) => pages.includes(pathname),
        async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, body: (await response.text()).replaceAll(' data-relative', '') });
        },
      );
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        for (const path of pages) {
          await page.goto(path, { waitUntil: 'networkidle' });
          expect(await shiftsOn(page), `${path} at ${width}`).toEqual([]);
        }
      }
    });
  }
});

test.describe('two tabs', () => {
  const tabs = async (context: BrowserContext, ...paths: string[]) => {
    const pages = [];
    for (const path of paths) {
      const page = await context.newPage();
      await page.goto(path, { waitUntil: 'networkidle' });
      pages.push(page);
    }
    return pages as [Page, Page];
  };

  test('a sign-out in one reaches the other at once', async ({ context }) => {
    await signIn(context);
    // Prevents the question about corrections, which comes seconds after a page and would add to the counted calls.
    await context.addInitScript((name) => localStorage.setItem(name, `${Date.now()}`), correctionsId);
    const [here, there] = await tabs(context, article, '/section/politics');
    await expect(accountButton(there)).toBeVisible();
    await there.waitForFunction((name) => localStorage.getItem(name) !== null, sessionName);
    const calls = accountCalls(context);
    await accountButton(here).click();
    await here.getByRole('menuitem', { name: 'Sign out' }).click();
    await expect(signInLink(there)).toBeVisible();
    await expect(accountButton(there)).toBeHidden();
    await expect(signInLink(here)).toBeVisible();
    expect(calls.all).toEqual(['/blaize/logout']);
    const account = await context.request.get('/blaize/account');
    expect(account.status()).toBe(401);
  });

  test('a sign-out in one takes the account page in the other away', async ({ context }) => {
    const email = await signIn(context);
    const [here, there] = await tabs(context, article, '/dashboard/account');
    await expect(there.locator('main')).toContainText(email);
    await expect(accountButton(here)).toBeVisible();
    await here.waitForFunction((name) => localStorage.getItem(name) !== null, sessionName);
    await accountButton(here).click();
    await here.getByRole('menuitem', { name: 'Sign out' }).click();
    await expect(there).toHaveURL(/\/socialLogin\?return=%2Fdashboard%2Faccount$/);
    await expect(there.getByText(email)).toHaveCount(0);
    await expect(here).toHaveURL(new RegExp(`${article}$`));
  });

  test('a sign-in link opened in one signs in the other', async ({ context }) => {
    const [there] = await tabs(context, article);
    await expect(signInLink(there)).toBeVisible();
    await signIn(context);
    await tabs(context, '/section/politics');
    await expect(accountButton(there)).toBeVisible();
    await expect(signInLink(there)).toBeHidden();
  });

  test('a sign-out by the plain form in one reaches the other', async ({ context }) => {
    await signIn(context);
    const [there, here] = await tabs(context, article, '/section/politics');
    await expect(accountButton(there)).toBeVisible();
    // Before that the browser doesn't know that a reader was signed in.
    await there.waitForFunction((name) => localStorage.getItem(name) !== null, sessionName);
    await context.route(/HeaderAuth\.island/, (route) => route.abort());
    await here.reload({ waitUntil: 'networkidle' });
    await accountButton(here).click();
    await here.getByRole('menuitem', { name: 'Sign out' }).click();
    await expect(here).toHaveURL(/\/account\/signed-out$/);
    await expect(signInLink(there)).toBeVisible();
  });
});

test('no third party loads where none is configured', async ({ page }) => {
  await page.goto(article, { waitUntil: 'networkidle' });
  await expect(page.getByRole('region', { name: 'Your privacy, your choice' })).toHaveCount(0);
  expect(await page.evaluate(() => ['marfeel', 'dataLayer', 'googletag'].filter((name) => name in window))).toEqual([]);
});
