/** E-mail addresses as the accounts know them. */
import { readEmail } from '../../email-verification/model.ts';

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
