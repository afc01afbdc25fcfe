/**
 * A reader's consent to third parties, and the cookie that stores it:
 *
 *     privacy-choices=<version>[.<purpose>…][.gpc]      e.g. 1.measurement.advertising
 *
 * Before the reader has chosen, nothing is allowed. Global Privacy Control (the header `Sec-GPC: 1`, in the browser
 * `navigator.globalPrivacyControl`) withdraws marketing and advertising, unless the reader made the choice while it was on (`gpc`).
 */

/** Purposes that need consent; what the site needs to work is not among them. */
export const optionalPurposes = ['measurement', 'marketing', 'advertising'] as const;
export type OptionalPurpose = (typeof optionalPurposes)[number];

/** Purposes that Global Privacy Control covers: selling, sharing and targeting. */
export const gpcPurposes: readonly OptionalPurpose[] = ['marketing', 'advertising'];

export interface Consent extends Readonly<Record<OptionalPurpose, boolean>> {
  /** `unasked`: no choice so far, or one under an older version. */
  readonly status: 'unasked' | 'chosen';
  readonly necessary: true;
  /** Whether the browser sends Global Privacy Control. */
  readonly gpc: boolean;
}

/** Increased when the meaning of a purpose changes: all readers must choose again. */
const consentVersion = 1;
/** scripts/third-parties.ts has a copy. */
export const consentCookieName = 'privacy-choices';
/** Six months, in seconds. */
export const consentMaxAge = 183 * 24 * 60 * 60;

const cookiePattern = `(?:^|; )${consentCookieName}=${consentVersion}((?:\\.\\w+)*)(?:;|$)`;

/**
 * Reads the consent.
 *
 * @param cookies a `document.cookie` or a header `Cookie`
 * @param gpc whether the browser sends Global Privacy Control
 */
export function readConsent(cookies: string, gpc: boolean): Consent {
  const found = new RegExp(cookiePattern).exec(cookies)?.[1];
  const words = (found ?? '').split('.');
  const allowed = (purpose: OptionalPurpose) =>
    words.includes(purpose) && !(gpc && !words.includes('gpc') && gpcPurposes.includes(purpose));
  return {
    status: found === undefined ? 'unasked' : 'chosen',
    necessary: true,
    gpc,
    measurement: allowed('measurement'),
    marketing: allowed('marketing'),
    advertising: allowed('advertising'),
  };
}

/** The cookie's value for a choice. @param gpc whether the browser sent Global Privacy Control */
export const consentValue = (granted: readonly OptionalPurpose[], gpc: boolean): string =>
  [consentVersion, ...optionalPurposes.filter((purpose) => granted.includes(purpose)), ...(gpc ? ['gpc'] : [])].join(
    '.',
  );

/**
 * The purposes that a posted form grants. Under Global Privacy Control, "all" leaves out the purposes that the signal covers: the
 * reader must tick those one by one.
 *
 * @returns `null` when the form is invalid
 */
export function grantedByForm(
  choice: string | null,
  ticked: readonly string[],
  gpc: boolean,
): readonly OptionalPurpose[] | null {
  switch (choice) {
    case 'all':
      return optionalPurposes.filter((purpose) => !gpc || !gpcPurposes.includes(purpose));
    case 'none':
      return [];
    case 'chosen':
      return optionalPurposes.filter((purpose) => ticked.includes(purpose));
    default:
      return null;
  }
}

/**
 * Script in the document's head: writes the consent on `<html>` before the first paint (`data-consent`: a choice was made; `data-ads`:
 * advertising is allowed; `data-gpc`). Its text is fixed, because the content security policy names it by its hash. It computes the
 * same as {@link readConsent}. It can run again (lib/early-script.ts), so it removes what no longer holds.
 */
export const consentScript = `{const d=document.documentElement.dataset,g=navigator.globalPrivacyControl===true,m=/${cookiePattern}/.exec(document.cookie);delete d.gpc;delete d.consent;delete d.ads;if(g)d.gpc='';if(m){const w=m[1].split('.'),c=w.filter(p=>p&&p!='gpc'&&!(g&&!w.includes('gpc')&&'${gpcPurposes.join(' ')}'.includes(p)));d.consent=c.join(' ');if(c.includes('advertising'))d.ads=''}}`;

// The form in which readers choose what third parties may do (components/consent/PrivacyBanner.astro, pages/privacy-choices.astro).

/** Names of its fields: the pressed button (`all`, `none` or `chosen`), the ticked purposes, the page to return to. */
export const consentFields = { choice: 'choice', purpose: 'purpose', returnTo: 'return' } as const;

export const privacyPage = '/privacy-choices';
/** The address that the form posts to. */
export const privacyAction = `${privacyPage}/save`;

export const purposeTexts: Readonly<Record<OptionalPurpose, { name: string; short: string; long: string }>> = {
  measurement: {
    name: 'Measurement',
    short: 'Which stories are read, and by what kind of reader.',
    long: 'We learn which stories are read, and whether by subscribers or by passers-by. It helps us decide what to publish, and which of two headlines to keep. We never share your name and address.',
  },
  marketing: {
    name: 'Marketing',
    short: 'Notifications, rewards for recommending us, appointments.',
    long: 'Breaking news as notifications, rewards for recommending us, and appointments that you book without leaving the page.',
  },
  advertising: {
    name: 'Advertising',
    short: 'Advertisements from an ad server, which may be chosen for you.',
    long: 'Advertisements come from an ad server, which may choose them for you and keeps cookies to do so. We tell it the section and the article, and what kind of reader you are.',
  },
};
