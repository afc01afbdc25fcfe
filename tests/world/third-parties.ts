/**
 * A site that loads third parties, each of them a stand-in that says what it was asked and told. The edition is a copy of the world's.
 * One for each worker; tests in it are told apart by the address that each comes from (readers.ts).
 */
import { randomInt } from 'node:crypto';
import { type BrowserContext, test as base, expect as baseExpect, type Page } from '@playwright/test';
import { startThirdParty } from '../../sandbox/third-party/third-party.ts';
import { thirdPartyEnvironment } from '../../scripts/sandbox.ts';
import { startOwnSite } from './own-site.ts';

type Vendor = 'gtm' | 'marfeel' | 'onesignal' | 'growsurf' | 'calendly' | 'gpt' | 'cmp';
type Mode = 'ok' | 'slow' | 'error' | 'blocked' | 'throws' | 'empty';

interface Call {
  readonly vendor: Vendor;
  readonly what: string;
  readonly details: unknown;
}

interface Vendors {
  /** What this test's browser has asked and told, in order. */
  calls(vendor?: Vendor): Promise<readonly Call[]>;
  /** Vendors whose script was asked for. */
  scripts(): Promise<readonly Vendor[]>;
  mode(vendor: Vendor, mode: Mode): Promise<void>;
}

interface Running {
  readonly site: string;
  readonly vendors: string;
  stop(): Promise<void>;
}

async function open(platform: boolean): Promise<Running> {
  const standIn = await startThirdParty();
  const settings = thirdPartyEnvironment({ thirdParty: standIn.access });
  if (platform) settings.CONSENT_PLATFORM_URL = `${standIn.access.url}/cmp/choice.js?id=sandbox`;
  const own = await startOwnSite(settings);
  return {
    site: own.site,
    vendors: standIn.access.url,
    async stop() {
      await own.stop();
      await standIn.stop();
    },
  };
}

/** What pages of a context break of their policy, and what scripts throw. */
export interface Troubles {
  readonly all: readonly string[];
}

const address = () => `198.${randomInt(18, 20)}.${randomInt(256)}.${randomInt(1, 255)}`;

export const test = base.extend<
  {
    readonly reader: string;
    readonly vendors: Vendors;
    /** Fails the test whose pages break a vendor's interface. */
    readonly faults: undefined;
    readonly troubles: Troubles;
    /** Another browser at the same address. */
    readonly newDevice: () => Promise<BrowserContext>;
  },
  {
    readonly commercial: Running;
    /** Whether a consent platform asks in the place of our banner. */
    readonly platform: boolean;
  }
>({
  platform: [false, { option: true, scope: 'worker' }],
  commercial: [
    async ({ platform }, use) => {
      const running = await open(platform);
      await use(running);
      await running.stop();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture uses from its first parameter
  reader: async ({}, use) => use(address()),
  baseURL: async ({ commercial }, use) => use(commercial.site),
  extraHTTPHeaders: async ({ reader }, use) => use({ 'x-forwarded-for': reader }),
  vendors: async ({ commercial, reader }, use) => {
    const calls = async (vendor?: Vendor) => {
      const answer = await fetch(`${commercial.vendors}/api/calls?reader=${reader}`);
      const all = ((await answer.json()) as { calls: Call[] }).calls;
      return vendor ? all.filter((call) => call.vendor === vendor) : all;
    };
    await use({
      calls,
      scripts: async () => (await calls()).filter(({ what }) => what === 'script').map(({ vendor }) => vendor),
      async mode(vendor, mode) {
        const body = JSON.stringify({ reader, vendor, mode });
        const answer = await fetch(`${commercial.vendors}/api/modes`, { method: 'PUT', body });
        baseExpect(answer.status).toBe(204);
      },
    });
  },
  faults: [
    async ({ vendors }, use) => {
      await use(undefined);
      const broken = (await vendors.calls()).filter(({ what }) => what === 'fault');
      baseExpect(broken, 'what vendors would have refused').toEqual([]);
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
export async function chose(context: BrowserContext, site: string, ...purposes: string[]): Promise<void> {
  await context.addCookies([{ name: 'privacy-choices', value: ['1', ...purposes].join('.'), url: site }]);
}

/** Scripts come when the browser is idle, which a busy machine lets it be late. */
export const expect = baseExpect.configure({ timeout: 20_000 });
