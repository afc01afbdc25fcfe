/** Names and numbers that both ends of the account calls share, and the normal form of an email address. */
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
