/** The form by which readers choose (components/consent/PrivacyBanner.astro, pages/privacy-choices.astro). */

/** Names of its fields: the button that was pressed (`all`, `none` or `chosen`), the purposes that are ticked, where it leads. */
export const consentFields = { choice: 'choice', purpose: 'purpose', returnTo: 'return' } as const;

export const privacyPage = '/privacy-choices';
/** Where the form is sent. */
export const privacyAction = `${privacyPage}/save`;
