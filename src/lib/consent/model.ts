/**
 * What a reader has allowed third parties, and the cookie that remembers it:
 *
 *     privacy-choices=<version>[.<purpose>…][.gpc]      e.g. 1.measurement.advertising
 *
 * Nothing is allowed before a choice has been made. Global Privacy Control (the header `Sec-GPC: 1`, in the browser
 * `navigator.globalPrivacyControl`) takes back marketing and advertising, unless the choice was made in its knowledge (`gpc`).
 */

/** Purposes that a reader decides about; what the site can't do without needs no choice. */
export const optionalPurposes = ['measurement', 'marketing', 'advertising'] as const;
export type OptionalPurpose = (typeof optionalPurposes)[number];

/** Purposes that Global Privacy Control is about: selling, sharing and targeting. */
export const gpcPurposes: readonly OptionalPurpose[] = ['marketing', 'advertising'];

export interface Consent extends Readonly<Record<OptionalPurpose, boolean>> {
  /** `unasked`: no choice was made yet, or under an older version. */
  readonly status: 'unasked' | 'chosen';
  readonly necessary: true;
  /** Whether the browser sends Global Privacy Control. */
  readonly gpc: boolean;
}

/** Raised when purposes change their meaning: everybody is asked again. */
export const consentVersion = 1;
export const consentCookieName = 'privacy-choices';
/** Six months, in seconds. */
export const consentMaxAge = 183 * 24 * 60 * 60;

const form = `(?:^|; )${consentCookieName}=${consentVersion}((?:\\.\\w+)*)(?:;|$)`;

/**
 * What is allowed.
 *
 * @param cookies a `document.cookie` or a header `Cookie`
 * @param gpc whether the browser sends Global Privacy Control
 */
export function readConsent(cookies: string, gpc: boolean): Consent {
  const found = new RegExp(form).exec(cookies)?.[1];
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

/** The cookie's value for a choice, made under Global Privacy Control or not. */
export const consentValue = (granted: readonly OptionalPurpose[], gpc: boolean): string =>
  [consentVersion, ...optionalPurposes.filter((purpose) => granted.includes(purpose)), ...(gpc ? ['gpc'] : [])].join(
    '.',
  );

/** What is granted. */
export const grantedBy = (consent: Consent): OptionalPurpose[] =>
  optionalPurposes.filter((purpose) => consent[purpose]);

/**
 * What a sent form grants. Under Global Privacy Control "all" is all but what the signal is about: that is granted one by one.
 *
 * @returns `null` when it is no answer
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
 * Script of the document's head: writes what is allowed on `<html>` before the first paint (`data-consent`, without it no choice was
 * chosen; `data-ads`: advertising is; `data-gpc`). Its text is fixed, for the policy of a page names it by its hash. It says what {@link readConsent} does.
 */
export const consentScript = `{const d=document.documentElement.dataset,g=navigator.globalPrivacyControl===true,m=/${form}/.exec(document.cookie);if(g)d.gpc='';if(m){const w=m[1].split('.'),c=w.filter(p=>p&&p!='gpc'&&!(g&&!w.includes('gpc')&&'${gpcPurposes.join(' ')}'.includes(p)));d.consent=c.join(' ');if(c.includes('advertising'))d.ads=''}}`;

/** The form by which readers choose what third parties may do (components/PrivacyBanner.astro, pages/privacy-choices.astro), and its texts. */

/** Names of its fields: the button that was pressed (`all`, `none` or `chosen`), the purposes that are ticked, where it leads. */
export const consentFields = { choice: 'choice', purpose: 'purpose', returnTo: 'return' } as const;

export const privacyPage = '/privacy-choices';
/** Where the form is sent. */
export const privacyAction = `${privacyPage}/save`;

export const purposeTexts: Readonly<Record<OptionalPurpose, { name: string; short: string; long: string }>> = {
  measurement: {
    name: 'Measurement',
    short: 'Which stories are read, and by what kind of reader.',
    long: 'We learn which stories are read, and whether by subscribers or by passers-by. It helps us decide what to publish. We never share your name and address.',
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
