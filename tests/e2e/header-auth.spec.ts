/** The header and the slide-over menu for each kind of reader; the reader's own menu with pointer, keyboard, and without scripts. */
import type { Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { expect, payingKinds, pretend, type SignedInKind, signedInKinds, test } from '../world/readers.ts';

const article = '/article/crack-closes-mississippi-bridge';

const bar = (page: Page) => page.locator('.site-header');
const account = (page: Page) => bar(page).getByRole('button', { name: 'Account' });
const menu = (page: Page) => page.getByRole('menu', { name: 'Account' });
const item = (page: Page, name: string) => menu(page).getByRole('menuitem', { name });
const siteMenu = (page: Page) => page.locator('#site-menu');

async function openSiteMenu(page: Page): Promise<void> {
  await bar(page).getByRole('button', { name: 'Menu', exact: true }).click();
  await expect(siteMenu(page)).toBeVisible();
}

/** What each kind sees (spec sections 2 and 6). */
const sees: Record<'anonymous' | SignedInKind, { join: boolean; upgrade: boolean; signIn: boolean; ad: boolean }> = {
  anonymous: { join: true, upgrade: false, signIn: true, ad: true },
  registered: { join: true, upgrade: false, signIn: false, ad: true },
  reader: { join: false, upgrade: true, signIn: false, ad: false },
  member: { join: false, upgrade: true, signIn: false, ad: false },
  founder: { join: false, upgrade: false, signIn: false, ad: false },
};

test.describe('the header and the menu', () => {
  for (const kind of ['anonymous', ...signedInKinds] as const) {
    test(`show join, upgrade and sign-in links according to the visitor kind: ${kind}`, async ({ context, page }) => {
      if (kind !== 'anonymous') await pretend(context, kind);
      const { join, upgrade, signIn, ad } = sees[kind];
      await page.goto('/');
      const visible = (locator: ReturnType<Page['locator']>, expected: boolean) =>
        expect(locator).toBeVisible({ visible: expected });
      await visible(page.locator('[data-ad-slot="home-1"]'), ad);
      await openSiteMenu(page);
      for (const place of [bar(page), siteMenu(page)]) {
        await visible(place.getByRole('link', { name: 'Join Today', includeHidden: true }), join);
        await visible(place.getByRole('link', { name: 'Upgrade', includeHidden: true }), upgrade);
        await visible(place.getByRole('link', { name: 'Sign In', includeHidden: true }), signIn);
      }
      await visible(siteMenu(page).getByText('Already have an account?'), signIn);
      await visible(siteMenu(page).locator('a[href="/dashboard/account"]'), !signIn);
      await visible(siteMenu(page).getByRole('link', { name: 'About The Sun' }), true);
      await visible(bar(page).locator('button[aria-haspopup="menu"]'), !signIn);
    });
  }

  test('have no menu button, search, join link or account button on community pages', async ({ context, page }) => {
    await pretend(context, 'registered');
    await page.goto('/community');
    await expect(bar(page).getByRole('link', { name: 'About' })).toBeVisible();
    await expect(bar(page).locator('button, form, a[href="/pricing"], a[href="/search"]')).toHaveCount(0);
  });

  test('keep the header’s controls from overlapping the site’s name in windows 320 to 768 pixels wide', async ({
    context,
    page,
  }) => {
    await pretend(context, 'member');
    for (const width of [320, 360, 390, 768]) {
      await page.setViewportSize({ width, height: 700 });
      await page.goto(article);
      const overlaps = await bar(page).evaluate((header) => {
        const boxes = [...header.querySelectorAll('.start > *, .logo, .end > *')]
          .map((each) => each.getBoundingClientRect())
          .filter((box) => box.width > 1)
          .sort((a, b) => a.left - b.left);
        return boxes.some((box, index) => index > 0 && box.left < (boxes[index - 1]?.right ?? 0) - 0.5);
      });
      expect(overlaps, `${width}`).toBe(false);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), `${width}`).toBe(width);
    }
  });
});

test.describe('the Sign In link', () => {
  for (const place of ['header', 'menu'] as const) {
    test(`in the ${place} opens the popup without leaving the page`, async ({ page }) => {
      await page.goto(article);
      if (place === 'menu') await openSiteMenu(page);
      const from = place === 'menu' ? siteMenu(page) : bar(page);
      await from.getByRole('link', { name: 'Sign In' }).click();
      const popup = page.getByRole('dialog', { name: 'Sign in or create a free account' });
      await expect(popup).toBeVisible();
      await expect(siteMenu(page)).toBeHidden();
      expect(new URL(page.url()).pathname).toBe(article);
      await page.keyboard.press('Escape');
      await expect(popup).toBeHidden();
    });
  }

  test('opened in a new tab leads to the sign-in page, without a popup', async ({ context, page }) => {
    await page.goto(article);
    const opening = context.waitForEvent('page');
    await bar(page)
      .getByRole('link', { name: 'Sign In' })
      .click({ modifiers: ['ControlOrMeta'] });
    await expect(await opening).toHaveURL(/\/socialLogin$/);
    await expect(page.getByRole('dialog')).toBeHidden();
  });
});

test.describe('the account menu', () => {
  test.beforeEach(async ({ context, page }) => {
    await pretend(context, 'registered');
    await page.goto(article);
  });

  test('opens below its button, shows the reader’s plan, and links to the dashboard', async ({ page }) => {
    await account(page).click();
    await expect(menu(page)).toBeVisible();
    await expect(page.locator('#user-menu')).toContainText('Free Account');
    const [button, panel] = [await account(page).boundingBox(), await page.locator('#user-menu').boundingBox()];
    expect(panel?.y).toBeGreaterThanOrEqual((button?.y ?? 0) + (button?.height ?? 0));
    expect((panel?.x ?? 0) + (panel?.width ?? 0)).toBeLessThanOrEqual(1280);
    await expect(item(page, 'Dashboard')).toHaveAttribute('href', '/dashboard/account');
    await page.mouse.click(20, 600);
    await expect(menu(page)).toBeHidden();
  });

  for (const kind of payingKinds) {
    test(`shows the plan of a ${kind}`, async ({ context, page }) => {
      await pretend(context, kind);
      await page.reload();
      await account(page).click();
      const plan = page.locator('#user-menu').getByText(`Sun ${kind.charAt(0).toUpperCase()}${kind.slice(1)}`);
      await expect(plan).toBeVisible();
      await expect(page.locator('#user-menu').getByText('Free Account')).toBeHidden();
    });
  }

  test('works by keyboard alone', async ({ page }) => {
    await bar(page).getByRole('link', { name: 'Join Today' }).focus();
    await page.keyboard.press('Tab');
    await expect(account(page)).toBeFocused();
    await expect(menu(page)).toBeHidden();

    await page.keyboard.press('Enter');
    await expect(item(page, 'Dashboard')).toBeFocused();
    await expect(menu(page)).toBeVisible();
    await page.keyboard.press('ArrowDown');
    await expect(item(page, 'Profile')).toBeFocused();
    await page.keyboard.press('End');
    await expect(item(page, 'Sign out')).toBeFocused();
    await page.keyboard.press('ArrowDown');
    await expect(item(page, 'Dashboard')).toBeFocused();
    await page.keyboard.press('ArrowUp');
    await expect(item(page, 'Sign out')).toBeFocused();
    await page.keyboard.press('Home');
    await expect(item(page, 'Dashboard')).toBeFocused();
    await page.keyboard.press('c');
    await expect(item(page, 'Contact')).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(menu(page)).toBeHidden();
    await expect(account(page)).toBeFocused();
    await expect(menu(page)).toBeHidden();

    await page.keyboard.press('ArrowUp');
    await expect(item(page, 'Sign out')).toBeFocused();
    await page.keyboard.press('Tab');
    await expect(menu(page)).toBeHidden();
    await expect(account(page)).not.toBeFocused();
    await page.keyboard.press('Shift+Tab');
    await expect(account(page)).toBeFocused();

    await page.keyboard.press('Space');
    await expect(item(page, 'Dashboard')).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/dashboard\/account$|\/socialLogin/);
  });

  test('has no axe violations while closed and while open, on light and dark pages', async ({ page }) => {
    for (const path of [article, '/media']) {
      await page.goto(path);
      await expect(account(page)).toBeVisible();
      await expect(menu(page)).toBeHidden();
      expect(await violationsOn(page, '.site-header'), `${path}, closed`).toEqual([]);
      await account(page).click();
      await expect(item(page, 'Dashboard')).toBeFocused();
      expect(await violationsOn(page, '.site-header'), `${path}, open`).toEqual([]);
    }
  });

  test('signs the reader out everywhere and shows the signed-out header', async ({ page }) => {
    const bodies: unknown[] = [];
    await page.route('**/blaize/logout', (route) => {
      bodies.push(route.request().postDataJSON());
      return route.fulfill({ json: { message: 'Session deleted' } });
    });
    await account(page).click();
    await item(page, 'Sign out').click();
    await expect(bar(page).getByRole('link', { name: 'Sign In' })).toBeVisible();
    await expect(account(page)).toBeHidden();
    expect(bodies).toEqual([{ where: 'EVERYWHERE' }]);
    expect(new URL(page.url()).pathname).toBe(article);
  });

  test('says when signing out has failed, and lets the reader try again', async ({ page }) => {
    let fails = true;
    await page.route('**/blaize/logout', (route) =>
      fails ? route.fulfill({ status: 500, body: 'broken' }) : route.fulfill({ json: {} }),
    );
    await account(page).click();
    await item(page, 'Sign out').click();
    await expect(page.locator('#user-menu').getByRole('alert')).toHaveText('Something went wrong. Please try again.');
    await expect(account(page)).toBeVisible();
    fails = false;
    await item(page, 'Sign out').click();
    await expect(bar(page).getByRole('link', { name: 'Sign In' })).toBeVisible();
  });
});

test.describe('when the account menu’s script fails to load', () => {
  test('the menu still opens, and Sign out submits a plain form', async ({ context, page }) => {
    await pretend(context, 'registered');
    await context.route(/HeaderAuth\.island/, (route) => route.abort());
    const posted = context.waitForEvent('request', (request) => request.url().endsWith('/account/sign-out'));
    await context.route('**/account/sign-out', (route) => route.fulfill({ body: 'Signed out' }));
    await page.goto(article);
    await account(page).click();
    await expect(menu(page)).toBeVisible();
    await item(page, 'Sign out').click();
    expect((await posted).method()).toBe('POST');
  });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('Sign In in the header and in the menu leads to the sign-in page', async ({ page }) => {
    await page.goto(article);
    await expect(account(page)).toBeHidden();
    await openSiteMenu(page);
    await siteMenu(page).getByRole('link', { name: 'Sign In' }).click();
    await expect(page).toHaveURL(/\/socialLogin$/);
    await page.goto(article);
    await bar(page).getByRole('link', { name: 'Sign In' }).click();
    await expect(page).toHaveURL(/\/socialLogin$/);
  });
});

test.describe('the scripts of an article', () => {
  const scripts = (page: Page) => {
    const names: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'script') names.push(new URL(request.url()).pathname);
    });
    return names;
  };

  test('leave out React and the session code for an anonymous reader until Sign In is clicked', async ({ page }) => {
    const loaded = scripts(page);
    await page.goto(article, { waitUntil: 'networkidle' });
    // The pattern does match real names: the next test finds them for a reader who is signed in.
    expect(loaded.filter((name) => /island|session-page|\/client\.|\/react/.test(name))).toEqual([]);
    await page.mouse.move(640, 20);
    await page.evaluate(() => window.scrollTo(0, 900));
    await page.waitForLoadState('networkidle');
    expect(loaded.filter((name) => /HeaderAuth|session-page/.test(name))).toEqual([]);
    await bar(page).getByRole('link', { name: 'Sign In' }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    expect(loaded.some((name) => name.includes('island'))).toBe(true);
  });

  test('include React and the session code for a signed-in reader', async ({ context, page }) => {
    await pretend(context, 'registered');
    const loaded = scripts(page);
    await page.goto(article, { waitUntil: 'networkidle' });
    for (const part of ['HeaderAuth.island', 'session-page', '/client.'])
      await expect.poll(() => loaded.some((name) => name.includes(part)), part).toBe(true);
  });
});
