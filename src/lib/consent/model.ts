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
 * Script of the document's head: writes what is allowed on `<html>` before the first paint (`data-consent`, without it nobody has
 * chosen; `data-ads`: advertising is; `data-gpc`). Its text is fixed, for the policy of a page names it by its hash. It says what {@link readConsent} does.
 */
export const consentScript = `{const d=document.documentElement.dataset,g=navigator.globalPrivacyControl===true,m=/${form}/.exec(document.cookie);if(g)d.gpc='';if(m){const w=m[1].split('.'),c=w.filter(p=>p&&p!='gpc'&&!(g&&!w.includes('gpc')&&'${gpcPurposes.join(' ')}'.includes(p)));d.consent=c.join(' ');if(c.includes('advertising'))d.ads=''}}`;
