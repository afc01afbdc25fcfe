/**
 * Readers of the browser tests: each test has its own network address, so that tests don't share limits, and reads its mail in
 * the sandbox's mailbox.
 */
import { randomInt } from 'node:crypto';
import { type BrowserContext, test as base, expect, type Page } from '@playwright/test';
import { type Retention, startRetention } from '../../sandbox/retention/retention.ts';
import { type CommercialSite, openCommercialSite } from './commercial-site.ts';
import { openShop, type Shop } from './shop.ts';
import { newEmail, signInAt } from './sign-in.ts';
import { siteData, testSandbox, testSite } from './world.ts';

export const payingKinds = ['reader', 'member', 'founder'] as const;
export const signedInKinds = ['registered', ...payingKinds] as const;
export type SignedInKind = (typeof signedInKinds)[number];

let lastAddress = randomInt(2 ** 24);

/**
 * An address that no other test of this worker has, and hardly any test of another worker, as a proxy in front of the site would
 * report it.
 */
export function someAddress(): string {
  lastAddress = (lastAddress + 1) % 2 ** 24;
  return `10.${lastAddress >> 16}.${(lastAddress >> 8) & 255}.${lastAddress & 255}`;
}

/** Separate sites, each started when the first test of a worker requests it. */
interface Sites {
  /** With a Stripe whose clock tests move; knows countries by the header `cf-ipcountry`. */
  readonly shop: Shop;
  /** With sales tax. */
  readonly taxShop: Shop;
  /** With a retention widget on the page to cancel. */
  readonly retentionShop: Shop & { readonly retention: Retention };
  /** With third parties and the site's own question for consent. */
  readonly commercial: CommercialSite;
  /** With third parties and a consent platform. */
  readonly platform: CommercialSite;
}

const started = { scope: 'worker', timeout: 600_000 } as const;

/**
 * All fixtures of the browser tests. Worker fixtures are declared only here: Playwright starts a new worker and a new browser wherever a
 * file declares its own.
 */
export const test = base.extend<{ newDevice: () => Promise<BrowserContext> }, Sites>({
  // biome-ignore-start lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture uses from its first parameter
  extraHTTPHeaders: async ({}, use) => use({ 'x-forwarded-for': someAddress() }),
  shop: [async ({}, use) => untilDone(await openShop({ GEO_COUNTRY_HEADER: 'cf-ipcountry' }), use), started],
  taxShop: [async ({}, use) => untilDone(await openShop({ STRIPE_TAX: 'on' }), use), started],
  retentionShop: [async ({}, use) => withRetention(use), started],
  commercial: [async ({}, use) => untilDone(await openCommercialSite('own'), use), started],
  platform: [async ({}, use) => untilDone(await openCommercialSite('platform'), use), started],
  // biome-ignore-end lint/correctness/noEmptyPattern: as above
  /** Another browser, of the same person or another. */
  newDevice: async ({ browser, baseURL, viewport }, use) => {
    const contexts: BrowserContext[] = [];
    await use(async () => {
      const context = await browser.newContext({
        baseURL,
        viewport,
        serviceWorkers: 'block',
        extraHTTPHeaders: { 'x-forwarded-for': someAddress() },
      });
      contexts.push(context);
      return context;
    });
    for (const context of contexts) await context.close();
  },
});

async function untilDone<Site extends { stop(): Promise<void> }>(site: Site, use: (site: Site) => Promise<void>) {
  await use(site);
  await site.stop();
}

async function withRetention(use: (shop: Shop & { readonly retention: Retention }) => Promise<void>): Promise<void> {
  const retention = await startRetention();
  const { appId, apiKey, scriptUrl } = retention.access;
  const shop = await openShop({
    CHURNKEY_APP_ID: appId,
    CHURNKEY_API_KEY: apiKey,
    CHURNKEY_SCRIPT_URL: scriptUrl,
  });
  await use({ ...shop, retention });
  await shop.stop();
  await retention.stop();
  expect(retention.reports.filter(({ what }) => what === 'fault')).toEqual([]);
}

interface Letter {
  readonly number: number;
  readonly subject: string;
  readonly text: string;
  readonly links: readonly string[];
}

/** The first letter to an address after the one with this number; waits for it. */
async function letterTo(email: string, after: number): Promise<Letter> {
  const query = new URLSearchParams({ to: email, after: String(after), wait: '60000' });
  const answer = await fetch(`${testSandbox().mailbox.url}/api/messages?${query}`);
  if (answer.status !== 200) throw new Error(`No such letter came to ${email} after number ${after}.`);
  return (await answer.json()) as Letter;
}

/** The letters to an address, newest first. */
export async function lettersTo(email: string): Promise<readonly Letter[]> {
  const answer = await fetch(`${testSandbox().mailbox.url}/api/messages?${new URLSearchParams({ to: email })}`);
  return ((await answer.json()) as { messages: readonly Letter[] }).messages;
}

/** Number of the newest letter to an address; 0 before the first. Later letters have higher numbers. */
export const newestLetter = async (email: string): Promise<number> => (await lettersTo(email))[0]?.number ?? 0;

/** A letter with the code or link in it. */
interface FoundInMail {
  readonly number: number;
  readonly text: string;
}

/** Waits for a letter that contains something; others (such as a welcome) are skipped. */
async function waitForMailWith(
  email: string,
  after: number,
  find: (letter: Letter) => string | undefined,
): Promise<FoundInMail> {
  const letter = await letterTo(email, after);
  const text = find(letter);
  return text === undefined ? waitForMailWith(email, letter.number, find) : { number: letter.number, text };
}

/** The six digits of the next code that is mailed: from the subject, which contains no other digits. */
export const codeTo = (email: string, after = 0): Promise<FoundInMail> =>
  waitForMailWith(email, after, ({ subject }) => /^(\d{6}) is your code/.exec(subject)?.[1]);

/** The link in the next sign-in mail. */
export const linkTo = (email: string, after = 0): Promise<FoundInMail> =>
  waitForMailWith(email, after, ({ links }) => links.find((link) => link.includes('/blaize/token-exchange')));

/** A code that differs from this one. */
export const wrongCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

export const dialog = (page: Page) => page.getByRole('dialog');
export const emailField = (page: Page) => page.getByLabel('Please enter your email address below:');
export const boxes = (page: Page) => page.getByRole('group', { name: /code/i }).getByRole('textbox');

/**
 * Makes an account and signs the context in to it, without mail or a page, for tests that start signed in.
 *
 * @returns its address
 */
export async function signIn(context: BrowserContext, email = newEmail()): Promise<string> {
  await signInAt(context, email, testSite(), siteData);
  return email;
}

/**
 * Signs in by the calls of spec section 7, with a code from the mailbox.
 *
 * @param how `login` for an address that has an account already
 * @returns the address
 */
export async function signInByMail(
  context: BrowserContext,
  email = newEmail(),
  how: 'register' | 'login' = 'register',
): Promise<string> {
  const headers = { origin: testSite() };
  const identifiers = { email_address: email };
  const after = await newestLetter(email);
  const delivery = { method: 'email', destination: email, action: how, redirect: '/' };
  const sent = await context.request.post('/blaize/two-factor-authentication', {
    headers,
    data: { identifiers, action: how, method: 'email', redirect: '/', delivery },
  });
  expect(sent.status(), await sent.text()).toBe(201);
  const { text: code } = await codeTo(email, after);
  const entered = await context.request.post(`/blaize/${how}`, {
    headers,
    data: { attributes: {}, identifiers, validators: { code } },
  });
  expect(entered.status(), await entered.text()).toBe(200);
  return email;
}

/**
 * Gives a context the hint cookie of a kind of reader and answers the page's calls accordingly, for tests of what paying readers see. For a
 * real sign-in use {@link signIn}.
 *
 * @param options `upsell`: whether the printed paper may still be offered today, in a dialog over the page. `site`: address of the site, if
 *   it isn't the world's
 */
export async function pretend(
  context: BrowserContext,
  kind: SignedInKind,
  { upsell = false, site = testSite() } = {},
): Promise<void> {
  if (!upsell)
    await context.addInitScript(() => localStorage.setItem('print-edition-promo-last-seen', `${Date.now()}`));
  await context.addCookies([{ name: 'visitor', value: kind, url: site }]);
  const activeProducts = kind === 'registered' ? [] : [`sun-${kind}`];
  await context.route('**/zephr/feature-decisions', (route) =>
    route.fulfill({ json: { accessDetails: { authenticated: true, activeProducts } } }),
  );
  await context.route('**/api/v1/me/repair', (route) => route.fulfill({ json: { repaired: false } }));
  // The server has no session for this cookie, and its own response would delete it.
  await context.route('**/zephr/decision-engine', (route) => route.fulfill({ json: { outputValue: 'NO' } }));
  await context.route('**/api/v1/me/history/corrections', (route) =>
    route.fulfill({ json: { stories: [], until: null } }),
  );
  await context.route('**/api/v1/me/subscription', (route) => route.fulfill({ json: { subscription: null } }));
  await context.route('**/api/v1/checkout/currency', (route) => route.fulfill({ json: { currency: 'usd' } }));
}

/** A browser's calls to the account service, by path. */
interface AccountCalls {
  /** Every path, in order. */
  readonly all: readonly string[];
}

const accountPaths = /^\/(?:blaize|zephr|account)\/|^\/api\/(?:v1\/me\/|zephr|verification|geo)/;

/** Records a context's calls to the account service from now on. */
export function accountCalls(context: BrowserContext): AccountCalls {
  const all: string[] = [];
  context.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (accountPaths.test(pathname)) all.push(pathname);
  });
  return { all };
}

/** Profile of the reader who is signed in (spec section 7). */
export async function profileOf(context: BrowserContext): Promise<Record<string, unknown>> {
  const answer = await context.request.get('/blaize/profile');
  expect(answer.status(), await answer.text()).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

/**
 * Waits until a touch would start the islands of the open page. A page without the header loads the code for it after `load`, and a form
 * that is sent before posts as it does without JavaScript.
 */
export const islandsReady = (page: Page) =>
  page.waitForFunction(() => customElements.get('astro-island') !== undefined);

/** Opens the popup on a stored page and enters an address. */
export async function askFor(page: Page, email: string, path = '/about'): Promise<void> {
  await page.goto(path);
  await page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();
  await expect(dialog(page)).toBeVisible();
  await emailField(page).fill(email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(dialog(page).getByText('login link has been sent to')).toBeVisible();
}

/** Continues to the six boxes. Returns the code from the mail. */
export async function askForCode(page: Page, email: string, path?: string): Promise<string> {
  const seen = await newestLetter(email);
  await askFor(page, email, path);
  const link = await linkTo(email, seen);
  await page.getByRole('button', { name: 'Login with code instead' }).click();
  await expect(page.getByRole('heading', { name: 'Please check your email.' })).toBeVisible();
  return (await codeTo(email, link.number)).text;
}

/** Types a code as a reader would, into whichever box has the focus. */
export async function typeCode(page: Page, code: string): Promise<void> {
  await boxes(page).first().click();
  await page.keyboard.type(code);
}

export async function expectSignedIn(page: Page): Promise<void> {
  await expect(page.locator('.site-header').getByRole('button', { name: 'Account' })).toBeVisible();
  await expect(page.locator('.site-header').getByRole('link', { name: 'Sign In' })).toBeHidden();
}

export async function expectAnonymous(page: Page): Promise<void> {
  await expect(page.locator('.site-header').getByRole('link', { name: 'Sign In' })).toBeVisible();
}

export { expect, newEmail };
