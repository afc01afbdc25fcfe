/** Names and numbers that both ends of the account calls share, and the normal form of an email address. */
import { readEmail } from '../email-verification/model.ts';

export const providers = ['google', 'facebook'] as const;

/** Name of the cookie with the public number of a browser's user (vendors.md 1.0). */
export const trackingCookie = 'blaize_tracking_id';

/** Links and codes live this long, in seconds. */
export const proofSeconds = 600;
/** Wrong tries at one code. */
export const guessesPerCode = 5;

/**
 * The normal form: without white space around it, in lower case, with a domain in the letters that DNS knows, so that one mailbox is
 * one reader however it was typed. What the address check takes has one. Neither spaces nor line breaks nor a second address get
 * through, so that it may stand in the head of a mail.
 *
 * @returns `null` when it is none
 */
export function normalEmail(text: string): string | null {
  const parts = readEmail(text);
  return 'flaw' in parts ? null : `${parts.local.toLowerCase()}@${parts.asciiDomain}`;
}

/**
 * The forms that work without JavaScript: where they post, the names of their fields, and what the pages that they lead to are
 * asked to say. Free of imports: pages, components and islands may use these values.
 *
 * All of them post `application/x-www-form-urlencoded` to this site and are answered 303, whatever happens. `return` is a path
 * of this site (anything else becomes `/`); leave it out and the reader comes to `/`.
 *
 * | form       | `action` (POST)       | fields                                                                                  | leads to                            |
 * |------------|-----------------------|-----------------------------------------------------------------------------------------|-------------------------------------|
 * | sign in    | /account/sign-in      | `email`, `return` (hidden), `method` = `link` or `code` (may be a submit button's name) | /account/link-sent, /account/enter-code; /socialLogin?problem=… |
 * | resend     | /account/resend       | `method` = `link` or `code`                                                             | the same two, with ?state=resent    |
 * | confirm    | /account/resend       | `method` = `confirm`, `return` (hidden); mails a link to a reader who is signed in       | /account/link-sent; /account/confirm?problem=… |
 * | code       | /account/code         | `code` (one field of six digits, or six fields of that name, which are joined)          | `return`; /account/enter-code?problem=code |
 * | link       | /account/link         | `token` (hidden; the button on the page that a mailed link opens)                       | what the link was asked for         |
 * | social end | /account/social       | `state_key`, `return` (hidden; the page that a provider leads back to)                  | `return`; /socialLogin?problem=social |
 * | sign out   | /account/sign-out     | `where` (`THIS_DEVICE`; left out it is everywhere)                                      | /account/signed-out                 |
 * | newsletter | /account/newsletter   | `email`, `newsletter` (slug; any number of them), `return` (the page that it stands on) | /account/link-sent?state=newsletter; `return`?problem=… |
 * | delete     | /account/delete       | `email` (typed to confirm), `return`                                                    | /account/deleted; `return`?problem=confirm |
 * | profile    | /account/profile      | `first_name`, `last_name`, `phone`, `birthday`, `address`, `return`                     | `return`?state=saved or ?problem=…  |
 *
 * Social sign-in is a plain link: `/blaize/oauth/google?return=/path`, `/blaize/oauth/facebook?return=/path`. Opened as a popup
 * its end is posted to the opener, opened in the page itself it ends at `return`; the address is the same.
 *
 * The form of all mail choices (/account/mail) and the way out of a newsletter (/account/unsubscribe) are in lib/newsletters/schema.ts.
 *
 * Pages (GET): /socialLogin and /account/confirm (`return`, `problem`), /account/link-sent and /account/enter-code (`state`, `problem`), and
 * /account/signed-out. None of them is stored. The reader's address travels in a sealed, HttpOnly cookie of fifteen minutes
 * and never in an address; "Edit" is a link to `/socialLogin?return=…`, where the address stands in the field again.
 *
 * Components that these pages use, with the properties that they are given (all optional):
 * `components/accounts/SignIn.astro` { email, returnTo, problem }, `components/newsletters/NewsletterForm.astro` { returnTo, problem }.
 * `problem` is a whole sentence from `problemText` (messages.ts).
 */

/** Where the forms post. */
export const formActions = {
  signIn: '/account/sign-in',
  resend: '/account/resend',
  code: '/account/code',
  link: '/account/link',
  social: '/account/social',
  signOut: '/account/sign-out',
  newsletter: '/account/newsletter',
  profile: '/account/profile',
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

/** Code of a refusal: the address of the account has to be confirmed first. */
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
} as const;
