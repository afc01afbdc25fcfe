// @vitest-environment jsdom
/** Each vendor's stand-in as a page runs it: an unknown name, a wrong type, or a missing account is reported as a fault, which fails a test. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Vendor } from './calls.ts';
import { withCallChecks } from './third-party.ts';

// biome-ignore lint/suspicious/noExplicitAny: a page is wrong here in ways that no type allows
type Loose = any;

let faults: string[];
beforeEach(() => {
  faults = [];
  const report = async (_address: unknown, init?: { body?: unknown }) => {
    const { what, details } = JSON.parse(String(init?.body ?? '{}')) as { what?: string; details?: unknown };
    if (what === 'fault') faults.push(String(details));
    return new Response(null, { status: 204 });
  };
  vi.stubGlobal('fetch', report);
  // OneSignal's queue continues after a fault.
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  // The retention widget reports by an image request.
  vi.stubGlobal(
    'Image',
    class {
      set src(address: string) {
        const report = JSON.parse(new URL(address).searchParams.get('what') ?? '{}');
        if (report.what === 'fault') faults.push(String(report.options.message));
      }
    },
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  for (const name of [
    'dataLayer',
    'marfeel',
    'grsfSettings',
    'googletag',
    'OneSignalDeferred',
    'Calendly',
    'churnkey',
    '__tcfapi',
  ])
    Reflect.deleteProperty(window, name);
  document.body.replaceChildren();
});

const files: Readonly<Record<Vendor | 'churnkey', string>> = {
  gtm: 'gtm.js',
  marfeel: 'marfeel.js',
  onesignal: 'onesignal.js',
  growsurf: 'growsurf.js',
  calendly: 'calendly.js',
  gpt: 'gpt.js',
  cmp: 'cmp.js',
  churnkey: 'widget.js',
};

/** Runs a stand-in's script as if its tag were in the page. */
function load(vendor: keyof typeof files, query = '', attributes: Readonly<Record<string, string>> = {}): void {
  const from = vendor === 'churnkey' ? [join(import.meta.dirname, '../retention')] : [];
  const tag = document.createElement('script');
  const src = `https://vendor.example/script.js${query}`;
  for (const [name, value] of Object.entries(attributes)) tag.setAttribute(name, value);
  Object.defineProperty(tag, 'src', { value: src });
  Object.defineProperty(document, 'currentScript', { value: tag, configurable: true });
  // A module gets its own address by another name.
  const script = withCallChecks(vendor, files[vendor], ...from).replaceAll('import.meta.url', JSON.stringify(src));
  new Function(script)();
}

const page = () => window as unknown as Record<string, Loose>;
/** As in the snippet: the data layer recognizes commands by `arguments`. */
function command(..._given: unknown[]): void {
  // biome-ignore lint/complexity/noArguments: a list isn't a command
  page().dataLayer.push(arguments);
}
const snippet = { event: 'gtm.js', 'gtm.start': 1 };

/** Mistakes of a page, and the fault that the stand-in reports for each. */
const wrong: readonly (readonly [vendor: keyof typeof files, what: string, act: () => unknown, fault: RegExp])[] = [
  [
    'gtm',
    'the snippet is missing',
    () => {
      page().dataLayer = [];
      load('gtm');
    },
    /gtm.start is not in the data layer/,
  ],
  [
    'gtm',
    'an unknown consent type',
    () => {
      page().dataLayer = [snippet];
      load('gtm');
      command('consent', 'update', { ads: 'granted' });
    },
    /ConsentParams has no ads/,
  ],
  [
    'gtm',
    'an event without a name',
    () => {
      page().dataLayer = [snippet];
      load('gtm');
      page().dataLayer.push({ events: 'x' });
    },
    /not an event/,
  ],
  [
    'marfeel',
    'the account is missing',
    () => {
      page().marfeel = { cmd: [] };
      load('marfeel', '?id=12');
    },
    /Config is undefined, not an object/,
  ],
  [
    'marfeel',
    'an account ID as a string',
    () => {
      page().marfeel = { config: { accountId: '12' } };
      load('marfeel', '?id=12');
    },
    /accountId is "12", not a number/,
  ],
  [
    'marfeel',
    'another account’s ID',
    () => {
      page().marfeel = { config: { accountId: 13 } };
      load('marfeel', '?id=12');
    },
    /another account id/,
  ],
  [
    'marfeel',
    'an unknown method',
    () => {
      page().marfeel = { config: { accountId: 12 }, cmd: [['compass', (compass: Loose) => compass.setUsertype(1)]] };
      load('marfeel', '?id=12');
    },
    /Compass has no setUsertype/,
  ],
  [
    'onesignal',
    'the app ID is missing',
    async () => {
      page().OneSignalDeferred = [(sdk: Loose) => sdk.init({})];
      load('onesignal');
    },
    /appId is missing/,
  ],
  [
    'onesignal',
    'an app ID that isn’t a UUID',
    async () => {
      page().OneSignalDeferred = [(sdk: Loose) => sdk.init({ appId: 'the-sun' })];
      load('onesignal');
    },
    /not a UUID/,
  ],
  [
    'onesignal',
    'a tag that isn’t a string',
    async () => {
      page().OneSignalDeferred = [(sdk: Loose) => sdk.User.addTags({ paying: true })];
      load('onesignal');
    },
    /paying is true, not a string/,
  ],
  [
    'growsurf',
    'the campaign is missing',
    () => {
      page().grsfSettings = { version: '2' };
      load('growsurf');
    },
    /campaignId is missing/,
  ],
  [
    'growsurf',
    'an unknown setting',
    () => {
      page().grsfSettings = { campaignId: 'a', version: '2', email: 'ann@example.com' };
      load('growsurf', '', { 'grsf-campaign': 'a' });
    },
    /has no email/,
  ],
  [
    'growsurf',
    'settings of another campaign',
    () => {
      page().grsfSettings = { campaignId: 'a', version: '2' };
      load('growsurf', '', { 'grsf-campaign': 'b' });
    },
    /differs from that of the settings/,
  ],
  [
    'calendly',
    'the URL is missing',
    () => {
      load('calendly');
      page().Calendly.initPopupWidget({});
    },
    /url is missing/,
  ],
  [
    'calendly',
    'an unknown option',
    () => {
      load('calendly');
      page().Calendly.initPopupWidget({ url: 'https://calendly.com/a', prefil: {} });
    },
    /has no prefil/,
  ],
  [
    'calendly',
    'an unknown function',
    () => {
      load('calendly');
      page().Calendly.showPopup({});
    },
    /Calendly has no showPopup/,
  ],
  [
    'gpt',
    'an unknown option',
    () => {
      page().googletag = { cmd: [() => page().googletag.setConfig({ lazyload: {} })] };
      load('gpt');
    },
    /has no lazyload/,
  ],
  [
    'gpt',
    'an ad unit path without its network',
    () => {
      page().googletag = { cmd: [() => page().googletag.defineSlot('home-1', [300, 250], 'a')] };
      load('gpt');
    },
    /not an ad unit path/,
  ],
  [
    'churnkey',
    'the hash is missing',
    () => {
      load('churnkey', '?appId=app_1');
      page().churnkey.init('show', { customerId: 'cus_1', appId: 'app_1', mode: 'test', provider: 'stripe' });
    },
    /authHash is missing/,
  ],
  [
    'churnkey',
    'another app’s ID',
    () => {
      load('churnkey', '?appId=app_1');
      page().churnkey.init('show', {
        customerId: 'cus_1',
        authHash: 'a',
        appId: 'app_2',
        mode: 'test',
        provider: 'stripe',
      });
    },
    /another app/,
  ],
  [
    'churnkey',
    'an unknown mode',
    () => {
      load('churnkey', '?appId=app_1');
      page().churnkey.init('show', {
        customerId: 'cus_1',
        authHash: 'a',
        appId: 'app_1',
        mode: 'demo',
        provider: 'stripe',
      });
    },
    /mode is "demo"/,
  ],
  ['cmp', 'the stub is missing', () => load('cmp'), /no stub/],
  [
    'cmp',
    'an unknown command',
    () => {
      const queue = [['getConsent', 2, () => {}]];
      page().__tcfapi = () => queue;
      const frame = Object.assign(document.createElement('iframe'), { name: '__tcfapiLocator' });
      document.body.append(frame);
      load('cmp');
    },
    /no command getConsent/,
  ],
];

it.each(wrong)('the %s stand-in reports a fault: %s', async (_vendor, _what, act, fault) => {
  try {
    await act();
  } catch {
    // Most throw as well, as the vendors' scripts do.
  }
  await vi.waitFor(() => expect(faults.join()).toMatch(fault));
});

it('every vendor’s stand-in has a fault test', () => {
  expect(new Set(wrong.map(([vendor]) => vendor))).toEqual(new Set(Object.keys(files)));
});
