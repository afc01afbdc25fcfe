/** Names and numbers that server and browser share for the account calls, and the normal form of an email address. */
import { readEmail } from '../email-verification/model.ts';

export const providers = ['google', 'facebook'] as const;

/** Names of the session cookie and of the cookie with the browser's tracking id (docs/services/zephr.md). */
export const sessionCookie = 'blaize_session';
export const trackingCookie = 'blaize_tracking_id';

/** How long links and codes are valid, seconds. */
export const proofSeconds = 600;
/** Allowed wrong guesses for one code. */
export const guessesPerCode = 5;

/**
 * The normal form of an email address: trimmed, in lower case, with an ASCII domain, so that one mailbox is one account. It has no spaces,
 * line breaks or second address, and is safe in a mail's header.
 *
 * @returns `null` if the text isn't an address
 */
export function normalEmail(text: string): string | null {
  const parts = readEmail(text);
  return 'flaw' in parts ? null : `${parts.local.toLowerCase()}@${parts.asciiDomain}`;
}

/**
 * The forms that work without JavaScript, with their fields and the pages that they lead to. All post `application/x-www-form-urlencoded`
 * and are answered with 303. `return` is a path of this site; anything else, and none, is `/`. A failure leads to a page with
 * `?problem=…`, whose sentence is `problemText` (messages.ts). The email address is carried in an encrypted, HttpOnly cookie and never in
 * a URL. Social sign-in is a link: `/blaize/oauth/google?return=/path`. Forms of mail choices are in lib/newsletters/schema.ts.
 */
export const formActions = {
  /** `email`, `return`, `method` (`link` or `code`) → linkSent or enterCode */
  signIn: '/account/sign-in',
  /** `method` (`link`, `code`; `confirm` for signed-in users, with `return`) → linkSent or enterCode */
  resend: '/account/resend',
  /** `code`, one field or six of that name → `return` */
  code: '/account/code',
  /** `token`, of the page that a mailed link opens → what the link was requested for */
  link: '/account/link',
  /** `state_key`, `return`, of the page that a provider leads back to → `return` */
  social: '/account/social',
  /** `where` (`THIS_DEVICE`; everywhere without it) → signedOut */
  signOut: '/account/sign-out',
  /** `email`, `newsletter` (slugs), `return` → linkSent */
  newsletter: '/account/newsletter',
  /** `first_name`, `last_name`, `phone`, `birthday`, `address`, `return` → `return`?state=saved */
  profile: '/account/profile',
  /** `email`, typed to confirm, `return` → deleted */
  delete: '/account/delete',
} as const;

/** Pages that the forms lead to. */
export const formPages = {
  signIn: '/socialLogin',
  linkSent: '/account/link-sent',
  enterCode: '/account/enter-code',
  signedOut: '/account/signed-out',
  deleted: '/account/deleted',
  confirm: '/account/confirm',
} as const;

/** Address of the sign-in page. @param returnTo path to come back to */
export const signInLink = (returnTo: string): string =>
  `${formPages.signIn}?${formFields.return}=${encodeURIComponent(returnTo)}`;

/** Where a reader whose address is not confirmed has the mail sent again. @param returnTo where its link leads */
export const confirmPage = (returnTo: string): string =>
  `${formPages.confirm}?${new URLSearchParams({ return: returnTo })}`;

/** Error code: the account's address has to be confirmed first. */
export const unconfirmed = 'unconfirmed';

/** Names of the fields. */
export const formFields = {
  email: 'email',
  return: 'return',
  method: 'method',
  code: 'code',
  token: 'token',
  stateKey: 'state_key',
  where: 'where',
  newsletter: 'newsletter',
  /** Its button uses a link without saving the newsletters of its return path. */
  withoutNewsletters: 'without_newsletters',
} as const;
