/** The site with accounts, and readers who sign in. */
import { expect } from 'vitest';
import { type AccountSite, type SiteOptions, startAccountSite } from '../fixtures/account-site.ts';

export let site: AccountSite;
export async function startSite(options: SiteOptions = {}): Promise<void> {
  site = await startAccountSite(options);
}

let count = 0;
export const someone = (): string => `reader-${++count}@example.com`;
export const by = (email: string) => ({ identifiers: { email_address: email } });
export const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A browser that is signed in. */
export async function reader(email = someone()) {
  const browser = site.browser();
  expect((await browser.signIn(site, email)).status).toBe(303);
  return { browser, email };
}
