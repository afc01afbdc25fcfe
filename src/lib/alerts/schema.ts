/** Alerts: what server and browser share. Browsers load it. */

/** The banner as a part of a page; empty while there is no alert. */
export const alertFragment = '/fragments/alert';

/** The key under which a browser remembers the alert that its reader has closed. */
export const closedKey = 'alert-closed';

/** What screen readers say of a banner that comes or goes while a page is open. */
export const alertWords = {
  news: (text: string): string => `Breaking news: ${text}`,
  withdrawn: 'The breaking news has been withdrawn.',
} as const;
