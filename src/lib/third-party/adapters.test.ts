// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { consentValue, type OptionalPurpose, readConsent } from '../consent/model.ts';
import { makeReferral } from './referral.ts';
import { forgetThirdParty, hidePayment } from './run.ts';
import { defaultAddresses, hasThirdParties, isSecretAddress, noThirdParties, purposesAsked } from './settings.ts';
import { makeTagManager } from './tag-manager.ts';
import { makeWebPush } from './web-push.ts';

const consent = (...granted: OptionalPurpose[]) =>
  readConsent(`privacy-choices=${consentValue(granted, false)}`, false);
const codes = { anonymous: 0, registered: 1, subscriber: 2, reader: 3, member: 4, founder: 5 };
const page = { kind: 'home', section: null, article: null };
const scripts = () => [...document.querySelectorAll('script')].map(({ src }) => src);

beforeEach(() => {
  for (const name of ['dataLayer', 'OneSignalDeferred', 'grsfSettings']) Reflect.deleteProperty(window, name);
});
afterEach(() => {
  for (const script of document.querySelectorAll('script')) script.remove();
});

describe('the tag manager', () => {
  const settings = { container: 'GTM-TEST', scriptUrl: defaultAddresses.tagManager, hosts: [] };
  const layer = () =>
    (window.dataLayer ?? []).map((entry) =>
      Object.prototype.toString.call(entry) === '[object Arguments]' ? [...(entry as unknown[])] : entry,
    );

  it('reports denied consent first, then what is granted, and a page view once the reader’s type is known', () => {
    const tags = makeTagManager({ settings, page, codes });
    expect(window.dataLayer).toBeUndefined();
    void tags.allow(consent('measurement'));
    const denied = { ad_storage: 'denied', ad_user_data: 'denied', ad_personalization: 'denied' };
    expect(layer().slice(0, 3)).toEqual([
      ['consent', 'default', { analytics_storage: 'denied', ...denied }],
      ['consent', 'update', { analytics_storage: 'granted', ...denied }],
      { 'gtm.start': expect.any(Number), event: 'gtm.js' },
    ]);
    expect(layer()).toHaveLength(3);
    tags.visitor?.('reader');
    expect(layer()[3]).toMatchObject({ event: 'page_view', visitor_type: 'reader', visitor_code: 3, article: null });
    expect(scripts()).toEqual(['https://www.googletagmanager.com/gtm.js?id=GTM-TEST']);
    tags.withdraw();
    tags.route?.();
    expect(layer().slice(4)).toEqual([['consent', 'update', { analytics_storage: 'denied', ...denied }]]);
  });
});

describe('push notifications', () => {
  it('start after consent, follow changes of subscription and consent, and respect an opt-out at the vendor', async () => {
    const push = makeWebPush({ settings: { appId: 'app', sdkUrl: defaultAddresses.webPush }, page, codes });
    push.visitor?.('member');
    void push.allow(consent('marketing'));
    push.visitor?.('reader');
    push.visitor?.('reader');
    push.visitor?.('registered');
    const calls: unknown[] = [];
    const note =
      (name: string) =>
      async (value: unknown): Promise<void> =>
        void calls.push([name, value]);
    const sdk = {
      setConsentRequired: note('required'),
      setConsentGiven: note('given'),
      init: note('init'),
      Notifications: { permission: true },
      User: {
        addTags: note('tags'),
        PushSubscription: { optedIn: true, optIn: note('optIn'), optOut: note('optOut') },
      },
    };
    const waiting = (window.OneSignalDeferred ?? []) as unknown as ((with_: unknown) => Promise<void>)[];
    window.OneSignalDeferred = { push: (action: (with_: never) => unknown) => action(sdk as never) } as never;
    for (const action of waiting) await action(sdk);
    await vi.waitFor(() => expect(calls).toHaveLength(5));
    expect(calls).toEqual([
      ['required', true],
      ['given', true],
      [
        'init',
        {
          appId: 'app',
          serviceWorkerPath: 'push/onesignal/OneSignalSDKWorker.js',
          serviceWorkerParam: { scope: '/push/onesignal/' },
        },
      ],
      ['tags', { paying_subscriber: 'true' }],
      ['tags', { paying_subscriber: 'false' }],
    ]);
    push.withdraw();
    await vi.waitFor(() =>
      expect(calls.slice(5)).toEqual([
        ['optOut', undefined],
        ['given', false],
      ]),
    );
    // Consent alone doesn't undo an opt-out at the vendor.
    void push.allow(consent('marketing'));
    await vi.waitFor(() =>
      expect(calls.slice(7)).toEqual([
        ['given', true],
        ['optIn', undefined],
      ]),
    );
    // If the browser's permission has been withdrawn, nothing asks for it again.
    sdk.Notifications.permission = false;
    push.withdraw();
    await vi.waitFor(() => expect(calls).toHaveLength(11));
    void push.allow(consent('marketing'));
    await vi.waitFor(() => expect(calls).toHaveLength(12));
    sdk.Notifications.permission = true;
    void push.allow(consent('marketing'));
    await vi.waitFor(() =>
      expect(calls.slice(9)).toEqual([
        ['optOut', undefined],
        ['given', false],
        ['given', true],
        ['given', true],
        ['optIn', undefined],
      ]),
    );
    // A reader who has turned notifications off at the vendor stays without them.
    sdk.User.PushSubscription.optedIn = false;
    push.withdraw();
    void push.allow(consent('marketing'));
    await vi.waitFor(() =>
      expect(calls.slice(14)).toEqual([
        ['given', false],
        ['given', true],
      ]),
    );
  });
});

describe('push notifications of a reader who changes consent quickly', () => {
  /** Loads the vendor's script, whose calls take a while. */
  function load(optedIn: boolean) {
    let given: boolean | null = null;
    const optIn = vi.fn(async () => {
      sdk.User.PushSubscription.optedIn = true;
    });
    const sdk = {
      setConsentRequired: async () => {},
      setConsentGiven: async (value: boolean) => {
        given = value;
      },
      init: async () => {},
      Notifications: { permission: true },
      User: {
        addTags: async () => {},
        PushSubscription: {
          optedIn,
          optIn,
          optOut: async () => {
            sdk.User.PushSubscription.optedIn = false;
          },
        },
      },
    };
    const run = (action: unknown) => (action as (with_: typeof sdk) => Promise<void>)(sdk);
    const waiting = window.OneSignalDeferred ?? [];
    window.OneSignalDeferred = { push: run } as never;
    for (const action of waiting) void run(action);
    return { given: () => given, optIn };
  }
  const settled = () => new Promise((resolve) => setTimeout(resolve));
  beforeEach(() => {
    Reflect.deleteProperty(window, 'OneSignalDeferred');
    localStorage.clear();
  });
  afterEach(() => localStorage.clear());
  const open = () => makeWebPush({ settings: { appId: 'app', sdkUrl: defaultAddresses.webPush }, page, codes });

  it('are off when consent is withdrawn before the script has loaded', async () => {
    const push = open();
    void push.allow(consent('marketing'));
    push.withdraw();
    const { given } = load(false);
    await settled();
    expect(given()).toBe(false);
  });

  it('follow the reader’s last choice', async () => {
    const push = open();
    void push.allow(consent('marketing'));
    const { given, optIn } = load(true);
    await settled();
    push.withdraw();
    void push.allow(consent('marketing'));
    await settled();
    expect([given(), optIn.mock.calls.length]).toEqual([true, 1]);
    push.withdraw();
    await settled();
    void push.allow(consent('marketing'));
    push.withdraw();
    await settled();
    expect([given(), optIn.mock.calls.length]).toEqual([false, 1]);
  });
});

it('the referral vendor gets only its campaign', () => {
  void makeReferral({ settings: { campaign: 'abc123', scriptUrl: defaultAddresses.referral }, page, codes }).allow(
    consent(),
  );
  expect(window.grsfSettings).toEqual({ campaignId: 'abc123', version: '2.0.0' });
  expect(document.querySelector('script')?.getAttribute('grsf-campaign')).toBe('abc123');
});

it('forgetting a vendor deletes its cookies and stored items, and no others', () => {
  // biome-ignore lint/suspicious/noDocumentCookie: as vendors do
  for (const cookie of ['_ga=1', '_ga_X1=2', 'visitor=reader', '_garden=3']) document.cookie = `${cookie}; Path=/`;
  localStorage.setItem('mrfTest', '1');
  localStorage.setItem('trackedArticles', '[]');
  forgetThirdParty('tagManager');
  forgetThirdParty('audience');
  expect(document.cookie.split('; ').toSorted()).toEqual(['_garden=3', 'visitor=reader']);
  expect(Object.keys(localStorage)).toEqual(['trackedArticles']);
});

it('forgetting push notifications removes their service worker and database', async () => {
  const [deleteDatabase, unregister] = [vi.fn(), vi.fn(async () => true)];
  vi.stubGlobal('indexedDB', { deleteDatabase });
  const registrations = ['/push/onesignal/', '/'].map((scope) => ({ scope: `http://localhost${scope}`, unregister }));
  Object.defineProperty(navigator, 'serviceWorker', {
    value: { getRegistrations: async () => registrations },
    configurable: true,
  });
  forgetThirdParty('ads');
  expect(deleteDatabase).not.toHaveBeenCalled();
  forgetThirdParty('webPush');
  expect(deleteDatabase).toHaveBeenCalledExactlyOnceWith('ONE_SIGNAL_SDK_DB');
  await vi.waitFor(() => expect(unregister).toHaveBeenCalledOnce());
  Reflect.deleteProperty(navigator, 'serviceWorker');
  vi.unstubAllGlobals();
});

it('hidePayment removes only payment parameters from the page’s URL', () => {
  history.replaceState(
    { own: 1 },
    '',
    '/thankyou?plan=reader&payment_intent=pi_1&payment_intent_client_secret=s&redirect_status=succeeded&setup_intent=seti_1&setup_intent_client_secret=s#top',
  );
  hidePayment();
  expect(location.pathname + location.search + location.hash).toBe('/thankyou?plan=reader#top');
  expect(history.state).toEqual({ own: 1 });
  history.replaceState(null, '', '/search?q=a+b');
  hidePayment();
  expect(location.search).toBe('?q=a+b');
  history.replaceState(null, '', '/');
});

it('readers are asked only about configured vendors, and no vendor is loaded on pages with a secret URL', () => {
  const ads = { network: '1', scriptUrl: '', limitedScriptUrl: '', withoutConsent: 'house' as const };
  const all = ['measurement', 'marketing', 'advertising'] as const;
  expect(purposesAsked(noThirdParties, all)).toEqual([]);
  expect(purposesAsked({ ...noThirdParties, ads }, all)).toEqual(['advertising']);
  const at = (path: string, thirdParties = { ...noThirdParties, ads }) =>
    hasThirdParties({ url: new URL(path, 'https://paper.example'), locals: { config: { thirdParties } } });
  expect(at('/')).toBe(true);
  expect(at('/', noThirdParties as never)).toBe(false);
  expect(at('/article/a-gift')).toBe(true);
  const isSecret = (path: string) => isSecretAddress(new URL(path, 'https://paper.example'));
  const secret = ['/gift/abc', '/blaize/token-exchange', '/account/code', '/preview', '/newsletter/unsubscribe'];
  // From a gift's page a reader may go to sign in and return to the gift.
  for (const path of [...secret, `/socialLogin?return=${encodeURIComponent('/gift/abc')}`])
    expect([at(path), isSecret(path)], path).toEqual([false, true]);
  for (const path of ['/article/a-gift', '/socialLogin', '/socialLogin?return=%2Fdashboard%2Faccount'])
    expect([at(path), isSecret(path)], path).toEqual([true, false]);
  // Pages that show a reader's profile or plan have no secret: the next page may have their address.
  for (const path of ['/dashboard', '/dashboard/account', '/Dashboard/contact', '/profile', '/shipping', '/cancel'])
    expect([at(path), isSecret(path)], path).toEqual([false, false]);
  for (const path of ['/thankyou', '/subscribe', '/section/dashboard', '/canceled-flights'])
    expect([at(path), isSecret(path)], path).toEqual([true, false]);
});
