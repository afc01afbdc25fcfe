/** Readers of every kind for browser tests. */
import { type BrowserContext, expect } from '@playwright/test';
import { testSandbox } from '../world/world.ts';

export const payingKinds = ['reader', 'member', 'founder'] as const;
export const signedInKinds = ['registered', ...payingKinds] as const;
export type SignedInKind = (typeof signedInKinds)[number];

/** What a browser has asked the account service, by path. */
export interface Asked {
  /** How often a path was asked. */
  count(path: string): number;
  /** Every path, in order. */
  readonly all: readonly string[];
}

const accountPaths = /^\/(?:blaize|zephr|account)\/|^\/api\/(?:v1\/me\/|zephr|verification|geo)/;

/** Notes what a context asks the account service from now on. */
export function accountCalls(context: BrowserContext): Asked {
  const all: string[] = [];
  context.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (accountPaths.test(pathname)) all.push(pathname);
  });
  return { all, count: (path) => all.filter((each) => each === path).length };
}

/**
 * Gives a context the hint cookie of a kind of reader and answers what pages ask about it. For how things look to readers who pay;
 * who really signs in goes through {@link signIn}.
 */
export async function pretend(context: BrowserContext, kind: SignedInKind, site: string): Promise<void> {
  await context.addCookies([{ name: 'visitor', value: kind, url: site }]);
  const activeProducts = kind === 'registered' ? [] : [`sun-${kind}`];
  await context.route('**/zephr/feature-decisions', (route) =>
    route.fulfill({ json: { accessDetails: { authenticated: true, activeProducts } } }),
  );
  await context.route('**/api/v1/me/repair', (route) => route.fulfill({ json: { repaired: false } }));
}

/** An address that nobody has used yet. */
export const newAddress = (): string => `reader-${crypto.randomUUID().slice(0, 12)}@example.com`;

/**
 * Makes an account by the calls of spec section 7, with the code from the sandbox's mailbox. The context is signed in then.
 *
 * @returns the address
 */
export async function signIn(context: BrowserContext, site: string, email = newAddress()): Promise<string> {
  const identifiers = { email_address: email };
  const headers = { origin: site };
  const sent = await context.request.post(`${site}/blaize/two-factor-authentication`, {
    headers,
    data: {
      identifiers,
      action: 'register',
      method: 'email',
      redirect: '/',
      delivery: { method: 'email', destination: email, action: 'register', redirect: '/' },
    },
  });
  expect(sent.status(), await sent.text()).toBe(201);
  const inbox = new URL('/api/messages', testSandbox().mailbox.url);
  inbox.search = new URLSearchParams({ to: email, wait: '20000' }).toString();
  const letter = await context.request.get(inbox.href);
  expect(letter.status(), 'a message arrives').toBe(200);
  const { text } = (await letter.json()) as { text: string };
  const code = /\b\d{6}\b/.exec(text)?.[0];
  const registered = await context.request.post(`${site}/blaize/register`, {
    headers,
    data: { attributes: {}, identifiers, validators: { code } },
  });
  expect(registered.status(), await registered.text()).toBe(200);
  return email;
}
