/** Where the forms of the mail choices post. Free of imports: the server's renderer, pages and islands use these values. */

/** Ends a newsletter by its token (RFC 8058). Mail programs post here without saying where they stand. */
export const unsubscribePath = '/account/unsubscribe';

/** The form of all choices, for readers who are signed in. */
export const choicesPath = '/account/mail';

/** The same as a call: `PUT {"choices": ["morning"]}`. */
export const choicesCall = '/api/v1/me/newsletters';

/** Name of the fields, and of the token in an address. */
export const mailFields = { choice: 'choice', token: 't', again: 'again' } as const;
