/**
 * The pages of plans (spec sections 2, 3, 4, 6 and 9): what each kind of reader sees, starting a purchase with and without a
 * script, the welcome after it, the address of the printed paper, and its upsell.
 */
import type { BrowserContext, Page } from '@playwright/test';
import { violationsOn } from '../world/axe.ts';
import { shiftsOn, watchShifts } from '../world/layout-shifts.ts';
import {
  codeTo,
  emailField,
  expect,
  linkTo,
  newEmail,
  pretend,
  signedInKinds,
  test,
  wrongCode,
} from '../world/readers.ts';

const pages = ['/pricing', '/print', '/membership', '/founder'];
const kinds = ['anonymous', ...signedInKinds] as const;
type Kind = (typeof kinds)[number];

/** The server's answer for a reader with this plan. */
const subscriptionTo = (planId: string, product: string) => ({
  id: 'sub_1',
  currency: 'usd',
  preDiscountPrice: 20_000,
  price: 20_000,
  productId: product,
  planId,
  planName: planId,
  interval: 'year',
  print: planId.includes('print'),
  status: 'active',
  cancelAtPeriodEnd: false,
  nextBillingDate: '2027-11-21T12:00:00Z',
  paidUntil: '2027-11-21T12:00:00Z',
});

/** Makes the browser that of a kind of reader; `plan` is the plan in the server's answer, which without it has none. */
async function as(context: BrowserContext, kind: Kind, plan?: string): Promise<void> {
  if (kind === 'anonymous') return;
  await pretend(context, kind);
  await context.route('**/api/v1/me/subscription', (route) =>
    plan
      ? route.fulfill({ json: { subscription: subscriptionTo(plan, `sun-${kind}`) } })
      : route.fulfill({ status: 200, json: { subscription: null } }),
  );
}

const card = (page: Page, name: string) => page.getByRole('article', { name });
const choice = (page: Page, plan: string) => page.locator(`li[data-plan~="${plan}"]`);
const planLink = (page: Page, plan: string) => choice(page, plan).getByRole('link');
const plans = ['reader-monthly', 'reader-yearly', 'member-monthly', 'member-yearly', 'member-print-yearly'] as const;

/** The texts of the links to the five plans, in order; `null` where there is none. */
async function links(page: Page): Promise<(string | null)[]> {
  const said = [];
  for (const plan of plans) {
    const [words] = await planLink(page, plan).allInnerTexts();
    said.push(words === undefined ? null : (words.split('\n')[0]?.trim() ?? ''));
  }
  return said;
}

test.describe('the pricing page', () => {
  test('shows the prices and the wording of the specification', async ({ page }) => {
    await page.goto('/pricing');
    const main = page.locator('main');
    for (const text of [
      'Read the Sun for a PENNY A DAY',
      '$0.01/Day',
      'Full dues ($120/year) billed after 60 days',
      'You may cancel your subscription at any time.',
    ])
      await expect(main.getByText(text).first()).toBeVisible();
    // Amounts in other currencies are in the page, but hidden.
    const shown = { useInnerText: true };
    await expect(choice(page, 'reader-monthly')).toContainText(/\$12\s*\/month/, shown);
    await expect(choice(page, 'reader-yearly')).toContainText(/\$120\s*\/year/, shown);
    await expect(choice(page, 'reader-yearly')).toContainText(/\$24\s+less\s+than twelve months at\s+\$12\s*\./, shown);
    await expect(choice(page, 'member-print-yearly')).toContainText(/\$280\s*\/year/, shown);
    await expect(page.getByRole('table')).toContainText('+$80 a year', shown);
    await expect(card(page, 'Sun Founder')).toContainText('By arrangement');
  });

  test('preselects no plan, and gives all plan links the same look', async ({ page }) => {
    await page.goto('/pricing');
    await expect(page.locator('main').locator('input, select, [aria-selected], [data-countdown]')).toHaveCount(0);
    const looks = await page.locator('.plan-link:visible').evaluateAll((links) =>
      links.map((link) => {
        const { backgroundColor, color, fontSize } = getComputedStyle(link);
        return `${backgroundColor} ${color} ${fontSize}`;
      }),
    );
    expect(looks).toHaveLength(plans.length + 1);
    expect(new Set(looks).size, 'no way in is louder than another').toBe(1);
  });
});

test.describe('the first paint of plan pages', () => {
  const join = 'Join Today';
  for (const [kind, expected, label] of [
    ['anonymous', [join, join, join, join, join], null],
    ['registered', [join, join, join, join, join], null],
    ['reader', [null, null, 'Upgrade', 'Upgrade', 'Upgrade'], 'You are a Sun Reader.'],
    ['member', ['Change', 'Change', null, null, 'Upgrade'], 'You are a Sun Member.'],
    ['founder', [null, null, null, null, null], 'You are a Sun Founder.'],
  ] as const) {
    test(`has the right plan links for visitor kind ${kind}`, async ({ context, page }) => {
      await as(context, kind);
      await context.route('**/*.js', (route) => route.abort());
      await page.goto('/pricing');
      expect(await links(page)).toEqual(expected);
      const penny = page.getByRole('heading', { name: 'Read the Sun for a PENNY A DAY' });
      await expect(penny).toBeVisible({ visible: label === null });
      if (label) await expect(page.getByText(label)).toBeVisible();
      await expect(page.getByRole('link', { name: 'Become a founder' })).toBeVisible({ visible: kind !== 'founder' });
      const own = { reader: 'Sun Reader', member: 'Sun Member', founder: 'Sun Founder' }[kind as 'reader'];
      for (const name of ['Sun Reader', 'Sun Member', 'Sun Founder'])
        await expect(card(page, name).getByText('Your plan', { exact: true }).first()).toBeVisible({
          visible: name === own,
        });
      await expect(page.getByRole('link', { name: 'Sign In' })).toBeVisible({ visible: kind === 'anonymous' });
    });
  }

  for (const kind of kinds) {
    test(`is followed by no layout shift for visitor kind ${kind}`, async ({ context, page }) => {
      await as(context, kind, { reader: 'reader-monthly', member: 'member-yearly' }[kind as 'reader']);
      await watchShifts(context, 'blocked');
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        for (const path of [...pages, '/thankyou']) {
          await page.goto(path, { waitUntil: 'networkidle' });
          expect(await shiftsOn(page), `${path} at ${width}`).toEqual([]);
        }
      }
    });
  }
});

test.describe('a reader’s current plan', () => {
  for (const [kind, plan, expected] of [
    ['reader', 'reader-monthly', [null, 'Change', 'Upgrade', 'Upgrade', 'Upgrade']],
    ['reader', 'reader-penny', ['Change', null, 'Upgrade', 'Upgrade', 'Upgrade']],
    ['member', 'member-yearly', ['Change', 'Change', 'Change', null, 'Upgrade']],
    ['member', 'member-print-yearly', ['Change', 'Change', 'Change', 'Change', null]],
  ] as const) {
    test(`is marked and can’t be bought again: ${plan}`, async ({ context, page }) => {
      await as(context, kind, plan);
      await page.goto('/pricing');
      await expect(choice(page, plan).getByText('Your plan')).toBeVisible();
      await expect.poll(() => links(page)).toEqual(expected);
      await expect(page.locator('li[data-plan]').getByText('Your plan').and(page.locator(':visible'))).toHaveCount(1);
    });
  }

  test('is marked on the page of the print edition', async ({ context, page }) => {
    await as(context, 'member', 'member-print-yearly');
    await page.goto('/print');
    await expect(choice(page, 'member-print-yearly').getByText('Your plan')).toBeVisible();
    await expect(planLink(page, 'member-print-yearly')).toBeHidden();
  });

  test('is not requested for a reader without a subscription', async ({ context, page }) => {
    await as(context, 'registered');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto('/pricing', { waitUntil: 'networkidle' });
    expect(asked).not.toContain('/api/v1/me/subscription');
  });
});

for (const kind of ['reader', 'member', 'founder'] as const) {
  test(`the plan pages have no axe violations and fit a phone for a ${kind}`, async ({ context, page }) => {
    await as(context, kind, { reader: 'reader-yearly', member: 'member-yearly', founder: undefined }[kind]);
    for (const path of [...pages, '/thankyou']) {
      await page.setViewportSize({ width: 360, height: 900 });
      await page.goto(path, { waitUntil: 'load' });
      for (const width of [360, 1536]) {
        await page.setViewportSize({ width, height: 900 });
        const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        expect.soft(content, `${path} is no wider than ${width}`).toBeLessThanOrEqual(screen as number);
        // On wide screens the pages of a member contain everything that those of other readers contain.
        if (width === 1536 && kind !== 'member') continue;
        expect.soft(await violationsOn(page), `${path} at ${width}`).toEqual([]);
      }
    }
  });
}

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('choosing a plan leads to a page that names it and offers to order by phone or email', async ({ page }) => {
    await page.goto('/pricing');
    await planLink(page, 'member-print-yearly').click();
    await expect(page).toHaveURL(/\/subscribe\?plan=member-print-yearly$/);
    const main = page.locator('main');
    await expect(main.getByRole('heading', { level: 1 })).toHaveText('Sun Member with the print edition');
    await expect(main).toContainText('card form needs JavaScript');
    await expect(main.getByRole('link', { name: '+1 212 555 0183' })).toHaveAttribute('href', 'tel:+12125550183');
    await expect(main.locator('a[href^="mailto:"]')).toHaveAttribute('href', /member-print-yearly/);
    await expect(main.getByRole('link', { name: 'Continue to payment' })).toBeHidden();
  });

  test('a failed sign-in says why, and the next one leads back to the chosen plan', async ({ page }) => {
    const email = newEmail('plans');
    await page.goto('/subscribe?plan=reader-yearly');
    await page.getByRole('link', { name: 'Sign in or create one first' }).click();
    const proceed = page.getByRole('button', { name: 'Continue', exact: true });
    const problem = page.locator('main').getByRole('alert').filter({ hasText: /./ });
    await emailField(page).fill(email.replace('example.com', 'gmial.com'));
    await proceed.click();
    await expect(problem).toContainText('Did you mean');
    await emailField(page).fill(email);
    await proceed.click();
    const link = await linkTo(email);
    await page.getByRole('button', { name: 'Login with code instead' }).click();
    const { text } = await codeTo(email, link.number);
    for (const [typed, said] of [
      [wrongCode(text), 'Invalid code. Please check the code and try again.'],
      [text, null],
    ] as const) {
      await page.getByLabel(/^Verification code/).fill(typed);
      await page.getByRole('button', { name: 'Confirm' }).click();
      if (said) await expect(problem).toHaveText(said);
    }
    await expect(page).toHaveURL(/\/subscribe\?plan=reader-yearly$/);
    await expect(page.locator('main')).toContainText(`Signed in as ${email}`);
  });
});

test('with JavaScript, the page of a chosen plan links to payment', async ({ page }) => {
  await page.goto('/subscribe?plan=reader-yearly');
  const go = page.getByRole('link', { name: 'Continue to payment' });
  await expect(go).toHaveAttribute('data-paywall', '{"planId":"reader-yearly"}');
  await expect(go).toBeVisible();
  expect(await violationsOn(page)).toEqual([]);
});

test.describe('the page after a purchase', () => {
  test('says what was bought, and what to do next', async ({ context, page }) => {
    await as(context, 'member', 'member-print-yearly');
    await page.goto('/thankyou');
    const main = page.locator('main');
    await expect(main).toContainText('Sun Member with the print edition');
    await expect(main).toContainText('Your next bill is $200 on November 21, 2027.');
    await expect(main.getByRole('link', { name: 'Check the address' })).toHaveAttribute('href', '/shipping');
    for (const [name, href] of [
      ['Newsletters', '/newsletter'],
      ['Games', '/games'],
      ['Your account', '/dashboard/account'],
    ] as const)
      await expect(main.getByRole('link', { name, exact: true })).toHaveAttribute('href', href);
    await main.getByText('How to').click();
    await expect(main.getByText('press Share, then “Add to Home Screen”')).toBeVisible();
  });

  test('is shown even when the subscription can’t be loaded', async ({ context, page }) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await pretend(context, 'reader');
    await context.route('**/api/v1/me/subscription', (route) => route.abort());
    await page.goto('/thankyou', { waitUntil: 'networkidle' });
    await expect(page.getByText('You’ll find your plan, renewal date and details in your account.')).toBeVisible();
    expect(errors).toEqual([]);
  });
});
