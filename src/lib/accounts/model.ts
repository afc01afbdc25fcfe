/** Words that both ends of the account calls have to agree on. Free of imports: islands may use these values. */

import { readEmail } from '../email-verification/model.ts';

/** Keys of `validators` under which a six-digit code is taken; the first is the one that our own screens send. */
export const codeKeys = ['code', 'email_otp', 'otp'] as const;

/** Key of `validators` for a social sign-in that has not become an account yet. */
export const tokenExchangeKey = 'token_exchange';

export const providers = ['google', 'facebook'] as const;

/** The window that a social sign-in opens in (vendors.md 1.8). */
export const popupFeatures = 'menubar=no,location=yes,resizable=no,scrollbars=no,status=no,width=500,height=600';

/** Name of the cookie with the public number of a browser's user (vendors.md 1.0). */
export const trackingCookie = 'blaize_tracking_id';

/** Sentences of successful answers (spec section 7, vendors.md 1.1 to 1.12). */
export const said = {
  login: 'Login successful',
  register: 'Registration successful',
  linkSent: 'Login link sent',
  codeSent: 'Verification code sent',
  codeRight: 'Code is valid',
  userFound: 'User exists',
  profile: 'User profile updated',
  extendedProfile: 'User extended profile updated',
  logout: 'Session deleted',
  forgotten: 'User data deleted',
  state: 'State initialized',
  anonymous: 'Anonymous session created successfully',
  recognised: 'Lookup complete',
} as const;

/** How long a proof of an e-mail address is good for, and how often a code may be guessed at. */

/** Links and codes live this long, in seconds. */
export const proofSeconds = 600;
/** Wrong guesses at one code. */
export const guessesPerCode = 5;

/** E-mail addresses as the accounts know them. */

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
