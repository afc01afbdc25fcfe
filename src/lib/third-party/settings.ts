/**
 * Third parties whose scripts pages load: their settings, their purposes, and their names where readers choose. Each is off without its
 * id (server/config/third-party.ts).
 */
import type { OptionalPurpose } from '../consent/model.ts';

/** What pages need to know of each; `null`: it is not there. */
export interface ThirdParties {
  /** Google Tag Manager. `hosts`: what the tags in the container load from and report to, as bare hosts. */
  readonly tagManager: {
    readonly container: string;
    readonly scriptUrl: string;
    readonly hosts: readonly string[];
  } | null;
  /** Marfeel Compass. */
  readonly audience: { readonly account: string; readonly scriptUrl: string } | null;
  /** OneSignal. `sdkUrl`: the folder of its scripts. */
  readonly webPush: { readonly appId: string; readonly sdkUrl: string } | null;
  /** GrowSurf. */
  readonly referral: { readonly campaign: string; readonly scriptUrl: string } | null;
  /** Calendly. `url`: the page on which a time is chosen. */
  readonly scheduling: { readonly url: string; readonly scriptUrl: string } | null;
  /** Google Ad Manager. */
  readonly ads: AdSettings | null;
}

export interface AdSettings {
  /** Network code, with that of a child network behind a comma. */
  readonly network: string;
  readonly scriptUrl: string;
  /** The address of the script that sets no cookies, for limited ads. */
  readonly limitedScriptUrl: string;
  /** What readers get who have not allowed advertising: house ads, or ads that know nothing of them. */
  readonly withoutConsent: 'house' | 'limited';
}

export type ThirdPartyName = keyof ThirdParties;

/** Where each script comes from unless another address is set. */
export const usualAddresses = {
  tagManager: 'https://www.googletagmanager.com/gtm.js',
  audience: 'https://sdk.mrf.io/statics/marfeel-sdk.js',
  webPush: 'https://cdn.onesignal.com/sdks/web/v16',
  referral: 'https://app.growsurf.com/growsurf.js',
  scheduling: 'https://assets.calendly.com/assets/external/widget.js',
  ads: 'https://securepubads.g.doubleclick.net/tag/js/gpt.js',
  limitedAds: 'https://pagead2.googlesyndication.com/tag/js/gpt.js',
} as const;

/** No third party at all. */
export const noThirdParties: ThirdParties = {
  tagManager: null,
  audience: null,
  webPush: null,
  referral: null,
  scheduling: null,
  ads: null,
};

/** The purpose that each is allowed under, and its name for readers. */
export const thirdPartyPurposes: Readonly<
  Record<ThirdPartyName, { purpose: OptionalPurpose; name: string; what: string }>
> = {
  tagManager: { purpose: 'measurement', name: 'Google Tag Manager', what: 'which pages are read' },
  audience: { purpose: 'measurement', name: 'Marfeel', what: 'which stories each kind of reader reads' },
  webPush: { purpose: 'marketing', name: 'OneSignal', what: 'breaking news as notifications' },
  referral: { purpose: 'marketing', name: 'GrowSurf', what: 'rewards for recommending us' },
  scheduling: { purpose: 'marketing', name: 'Calendly', what: 'appointments you book without leaving the page' },
  ads: { purpose: 'advertising', name: 'Google Ad Manager', what: 'advertisements' },
};

export const thirdPartyNames = Object.keys(thirdPartyPurposes) as ThirdPartyName[];

/** What is set up. */
export const presentThirdParties = (settings: ThirdParties): ThirdPartyName[] =>
  thirdPartyNames.filter((name) => settings[name] !== null);

/** The purposes that something set up is for, in their order; readers are asked about these alone. */
export function purposesAsked(settings: ThirdParties, all: readonly OptionalPurpose[]): OptionalPurpose[] {
  const wanted = new Set(presentThirdParties(settings).map((name) => thirdPartyPurposes[name].purpose));
  return all.filter((purpose) => wanted.has(purpose));
}

/** Addresses with a secret that signs in, opens an article or unsubscribes: no third party's script may see them. */
const withoutThirdParties = /^\/(?:-|account|blaize|gift|preview|zephr)(?:\/|$)|unsubscribe/i;

/**
 * Whether an address may hold such a secret, in its path or in the return address of a sign-in. The next page must not get the address
 * as its referrer either (layouts/Base.astro).
 */
export const isSecretAddress = ({ pathname, searchParams }: URL): boolean =>
  [pathname, searchParams.get('return') ?? ''].some((path) => withoutThirdParties.test(path));

/** Whether a page may load third parties: some are configured, and its address holds no secret. */
export const hasThirdParties = (page: {
  readonly url: URL;
  readonly locals: { readonly config: { readonly thirdParties: ThirdParties } };
}): boolean => presentThirdParties(page.locals.config.thirdParties).length > 0 && !isSecretAddress(page.url);
