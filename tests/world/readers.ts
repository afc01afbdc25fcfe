/**
 * Readers of the browser tests: each test comes from a network address of its own, so that the limits of one are not those of
 * another, and reads its mail in the sandbox's mailbox.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { type BrowserContext, test as base, expect, type Page } from '@playwright/test';
import { testSandbox } from './world.ts';

/** An address of TEST-NET or of the benchmarking network (RFC 2544), as a proxy in front of the site would report it. */
const someAddress = () => `198.${randomInt(18, 20)}.${randomInt(256)}.${randomInt(1, 255)}`;

export const test = base.extend<{ newDevice: () => Promise<BrowserContext> }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture uses from its first parameter
  extraHTTPHeaders: async ({}, use) => use({ 'x-forwarded-for': someAddress() }),
  /** Another browser of the same or of another person. */
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

/** An address that nobody has used. */
export const newEmail = (name = 'reader'): string => `${name}.${randomUUID().slice(0, 12)}@example.com`;

interface Letter {
  readonly number: number;
  readonly subject: string;
  readonly text: string;
  readonly links: readonly string[];
}

/** The first letter to an address after the one with this number; waits for it. */
async function letterTo(email: string, after: number): Promise<Letter> {
  const query = new URLSearchParams({ to: email, after: String(after), wait: '20000' });
  const answer = await fetch(`${testSandbox().mailbox.url}/api/messages?${query}`);
  if (answer.status !== 200) throw new Error(`No such letter came to ${email} after number ${after}.`);
  return (await answer.json()) as Letter;
}

/** The letters to an address, newest first. */
export async function lettersTo(email: string): Promise<readonly Letter[]> {
  const answer = await fetch(`${testSandbox().mailbox.url}/api/messages?${new URLSearchParams({ to: email })}`);
  return ((await answer.json()) as { messages: readonly Letter[] }).messages;
}

/** A letter with what it brings. */
interface Brought {
  readonly number: number;
  readonly text: string;
}

/** Waits for a letter that brings something; others (a welcome) are passed over. */
async function bringing(email: string, after: number, find: (letter: Letter) => string | undefined): Promise<Brought> {
  const letter = await letterTo(email, after);
  const text = find(letter);
  return text === undefined ? bringing(email, letter.number, find) : { number: letter.number, text };
}

/** The six digits of the next code that is mailed. */
export const codeTo = (email: string, after = 0): Promise<Brought> =>
  bringing(email, after, ({ text }) => /(?<![\d.])(\d{6}|\d{3} \d{3})(?![\d.]\d)/.exec(text)?.[1]?.replace(' ', ''));

/** The next link to sign in by that is mailed. */
export const linkTo = (email: string, after = 0): Promise<Brought> =>
  bringing(email, after, ({ links }) => links.find((link) => link.includes('/blaize/token-exchange')));

/** A code that is certainly not this one. */
export const wrongCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

export const dialog = (page: Page) => page.getByRole('dialog');
export const emailField = (page: Page) => page.getByLabel('Please enter your email address below:');
export const boxes = (page: Page) => page.getByRole('group', { name: /code/i }).getByRole('textbox');

/** Opens the popup on a page of the store and enters an address. */
export async function askFor(page: Page, email: string, path = '/latest'): Promise<void> {
  await page.goto(path);
  await page.locator('.site-header').getByRole('link', { name: 'Sign In' }).click();
  await expect(dialog(page)).toBeVisible();
  await emailField(page).fill(email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(dialog(page).getByText('login link has been sent to')).toBeVisible();
}

/** Goes on to the six boxes; answers with the code from the mail. */
export async function askForCode(page: Page, email: string, path?: string): Promise<string> {
  const seen = (await lettersTo(email))[0]?.number ?? 0;
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

export { expect };
