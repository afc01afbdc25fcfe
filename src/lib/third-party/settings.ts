/**
 * Third parties whose scripts pages load: their settings, purposes, and names in the privacy choices. Each is off unless its id is set
 * (server/config/vendors.ts).
 */
import type { OptionalPurpose } from '../consent/model.ts';

/** The settings that pages need; `null`: the third party is off. */
export interface ThirdParties {
  /** Google Tag Manager. `hosts`: bare hosts that the container's tags load from and report to. */
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
  /** Calendly. `url`: the page on which readers choose a time. */
  readonly scheduling: { readonly url: string; readonly scriptUrl: string } | null;
  /** Google Ad Manager. */
  readonly ads: AdSettings | null;
}

export interface AdSettings {
  /** Network code, followed by a comma and the code of a child network if there is one. */
  readonly network: string;
  readonly scriptUrl: string;
  /** The address of the script that sets no cookies, for limited ads. */
  readonly limitedScriptUrl: string;
  /** What readers get without consent to advertising: house ads, or limited ads. */
  readonly withoutConsent: 'house' | 'limited';
}

export type ThirdPartyName = keyof ThirdParties;

/** Each script's default address. */
export const defaultAddresses = {
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

/** The purpose that each needs consent for, and its name for readers. */
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

/** The third parties that are configured. */
export const presentThirdParties = (settings: ThirdParties): ThirdPartyName[] =>
  thirdPartyNames.filter((name) => settings[name] !== null);

/** The purposes of the configured third parties, in order; readers are asked only about these. */
export function purposesAsked(settings: ThirdParties, all: readonly OptionalPurpose[]): OptionalPurpose[] {
  const wanted = new Set(presentThirdParties(settings).map((name) => thirdPartyPurposes[name].purpose));
  return all.filter((purpose) => wanted.has(purpose));
}

/** Addresses with a secret that signs in, opens an article or unsubscribes: no third party's script may see them. */
const secretPages = /^\/(?:-|account|blaize|gift|preview|zephr)(?:\/|$)|unsubscribe/i;

/**
 * Whether an address may contain such a secret, in its path or in the return address of a sign-in. The next page must not get the
 * address as its referrer either (layouts/Base.astro).
 */
export const isSecretAddress = ({ pathname, searchParams }: URL): boolean =>
  [pathname, searchParams.get('return') ?? ''].some((path) => secretPages.test(path));

/**
 * Pages with a reader's name, phone, address or plan, which a script in the page could read. `/thankyou` is not among them: tags count
 * subscriptions by it.
 */
const personalPages = /^\/(?:dashboard|profile|shipping|cancel)(?:\/|$)/i;

/** Whether a page may load third parties: some are configured, its address contains no secret, and it shows no profile. */
export const hasThirdParties = (page: {
  readonly url: URL;
  readonly locals: { readonly config: { readonly thirdParties: ThirdParties } };
}): boolean =>
  presentThirdParties(page.locals.config.thirdParties).length > 0 &&
  !isSecretAddress(page.url) &&
  !personalPages.test(page.url.pathname);
