/**
 * A site that loads third parties, each of them a stand-in that records its calls. The edition is a copy of the world's. One for each
 * worker; its tests are told apart by their addresses (readers.ts).
 */
import { type BrowserContext, expect, type Page } from '@playwright/test';
import type { CommercialSite } from './commercial-site.ts';
import { test as base, someAddress } from './readers.ts';

type Vendor = 'gtm' | 'marfeel' | 'onesignal' | 'growsurf' | 'calendly' | 'gpt' | 'cmp';
type Mode = 'ok' | 'slow' | 'error' | 'blocked' | 'throws' | 'empty';

interface Call {
  readonly vendor: Vendor;
  readonly what: string;
  readonly details: unknown;
}

interface Vendors {
  /** The calls of this test's browser, in order. */
  calls(vendor?: Vendor): Promise<readonly Call[]>;
  /** Vendors whose script was requested. */
  scripts(): Promise<readonly Vendor[]>;
  mode(vendor: Vendor, mode: Mode): Promise<void>;
}

/** Violations of the content security policy by a context's pages, and errors that scripts throw. */
export interface PageErrors {
  readonly all: readonly string[];
}

export const test = base.extend<{
  /** The site that the tests of a file visit. */
  readonly visited: CommercialSite;
  readonly reader: string;
  readonly vendors: Vendors;
  /** Fails the test if its pages violate a vendor's interface. */
  readonly faults: undefined;
  readonly troubles: PageErrors;
}>({
  visited: ({ commercial }, use) => use(commercial),
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture uses from its first parameter
  reader: async ({}, use) => use(someAddress()),
  baseURL: ({ visited }, use) => use(visited.site),
  extraHTTPHeaders: async ({ reader }, use) => use({ 'x-forwarded-for': reader }),
  vendors: async ({ visited, reader }, use) => {
    const calls = async (vendor?: Vendor) => {
      const answer = await fetch(`${visited.vendors}/api/calls?reader=${reader}`);
      const all = ((await answer.json()) as { calls: Call[] }).calls;
      return vendor ? all.filter((call) => call.vendor === vendor) : all;
    };
    await use({
      calls,
      scripts: async () => (await calls()).filter(({ what }) => what === 'script').map(({ vendor }) => vendor),
      async mode(vendor, mode) {
        const body = JSON.stringify({ reader, vendor, mode });
        const answer = await fetch(`${visited.vendors}/api/modes`, { method: 'PUT', body });
        expect(answer.status).toBe(204);
      },
    });
  },
  faults: [
    async ({ vendors }, use) => {
      await use(undefined);
      const broken = (await vendors.calls()).filter(({ what }) => what === 'fault');
      expect(broken, 'what vendors would have refused').toEqual([]);
    },
    { auto: true },
  ],
  newDevice: async ({ browser, baseURL, reader }, use) => {
    const contexts: BrowserContext[] = [];
    await use(async () => {
      const context = await browser.newContext({
        baseURL,
        extraHTTPHeaders: { 'x-forwarded-for': reader },
        serviceWorkers: 'block',
      });
      contexts.push(context);
      return context;
    });
    for (const context of contexts) await context.close();
  },
  troubles: async ({ context }, use) => {
    const all: string[] = [];
    context.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) all.push(message.text());
    });
    context.on('weberror', (error) => void all.push(String(error.error())));
    await use({ all });
  },
});

/** The question about third parties. */
export const banner = (page: Page) => page.getByRole('region', { name: 'Your privacy, your choice' });

/** A reader who has chosen before. */
export async function rememberChoice(context: BrowserContext, site: string, ...purposes: string[]): Promise<void> {
  await context.addCookies([{ name: 'privacy-choices', value: ['1', ...purposes].join('.'), url: site }]);
}

export { expect };
