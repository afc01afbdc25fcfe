/** The form by which readers choose what third parties may do (components/PrivacyBanner.astro, pages/privacy-choices.astro), and its texts. */
import type { OptionalPurpose } from './model.ts';

/** Names of its fields: the button that was pressed (`all`, `none` or `chosen`), the purposes that are ticked, where it leads. */
export const consentFields = { choice: 'choice', purpose: 'purpose', returnTo: 'return' } as const;

export const privacyPage = '/privacy-choices';
/** Where the form is sent. */
export const privacyAction = `${privacyPage}/save`;

export const purposeTexts: Readonly<Record<OptionalPurpose, { name: string; short: string; long: string }>> = {
  measurement: {
    name: 'Measurement',
    short: 'Which stories are read, and by what kind of reader.',
    long: 'We learn which stories are read, and whether by subscribers or by passers-by. It helps us decide what to print. Your name and address are never told.',
  },
  marketing: {
    name: 'Marketing',
    short: 'Notifications, rewards for recommending the paper, appointments.',
    long: 'Breaking news as notifications, rewards for recommending the paper, and appointments that you book without leaving the page.',
  },
  advertising: {
    name: 'Advertising',
    short: 'Advertisements from an ad server, which may be chosen for you.',
    long: 'Advertisements come from an ad server, which may choose them for you and keeps cookies to do so. We tell it the section and the article, and what kind of reader you are.',
  },
};
