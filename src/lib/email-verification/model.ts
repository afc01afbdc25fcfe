/** Whether an email address can receive mail (spec sections 3, 5 and 7, `POST /api/verification`). */

/** Messages about an invalid address. */
export const verificationMessages = {
  missing: 'Please enter your email address.',
  noAt: 'An email address has an @ in it, as in name@example.com.',
  nothingBefore: 'Something is missing before the @.',
  nothingAfter: 'Something is missing after the @, such as example.com.',
  accents: 'Please use an address without accents before the @. We can’t send mail to others yet.',
  before: 'Please check the part before the @.',
  after: 'Please check the part after the @. It looks like example.com.',
  disposable: 'This address is temporary. Please use one that you keep.',
  noMail: (domain: string) => `We can’t send mail to ${domain}. Please check the part after the @.`,
  noMailbox: 'We couldn’t find this mailbox. Please check the address for typos.',
  /** Spec section 8. */
  suggestion: (email: string) => `Did you mean ${email}?`,
} as const;

/** The response of `POST /api/verification`. */
export interface Verification {
  readonly verified: boolean;
  /** The address that was probably meant; `null` where there is none. */
  readonly suggestedEmail: string | null;
  /** What to show next to the field; may be empty. */
  readonly message: string;
}

export interface EmailVerification {
  /**
   * Never throws and never takes longer than a reader waits (about 2 seconds): a check without an answer counts as passed.
   *
   * @param email as it was typed; white space around it does not matter
   */
  verify(email: string): Promise<Verification>;
}

/** The parts of an email address. */
export interface EmailParts {
  readonly local: string;
  /** As it was typed, in lower case. */
  readonly domain: string;
  /** In ASCII, for DNS (IDNA). */
  readonly asciiDomain: string;
}

/** Why a text isn't an address, for the reader. */
export interface Flaw {
  readonly flaw: string;
}

/** RFC 5321's lengths; of RFC 5322's forms those that people have: no quotes, no comments, no address literals. */
export function readEmail(text: string): EmailParts | Flaw {
  const email = text.trim();
  if (email === '') return { flaw: verificationMessages.missing };
  const at = email.lastIndexOf('@');
  if (at < 0) return { flaw: verificationMessages.noAt };
  const local = email.slice(0, at);
  const domain = email.slice(at + 1).toLowerCase();
  if (local === '') return { flaw: verificationMessages.nothingBefore };
  if (domain === '') return { flaw: verificationMessages.nothingAfter };
  if (/[^\x21-\x7e]/u.test(local) && !/[\s\p{C}]/u.test(local)) {
    return { flaw: verificationMessages.accents };
  }
  if (local.length > 64 || !/^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+$/iu.test(local) || /^\.|\.\.|\.$/u.test(local)) {
    return { flaw: verificationMessages.before };
  }
  const asciiDomain = toAscii(domain);
  if (asciiDomain === null || local.length + 1 + asciiDomain.length > 254) {
    return { flaw: verificationMessages.after };
  }
  return { local, domain, asciiDomain };
}

function toAscii(domain: string): string | null {
  // Characters that a URL parser would not treat as part of the host, or would drop at the end.
  if (/[\s\p{Cc}/\\?#@:[\]%]/u.test(domain) || !URL.canParse(`http://${domain}`)) return null;
  const ascii = new URL(`http://${domain}`).hostname;
  const labels = ascii.split('.');
  const fit = labels.length > 1 && labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/u.test(label));
  return fit && !/^\d+$/u.test(labels.at(-1) ?? '') ? ascii : null;
}

/** The address without common typing errors: spaces, commas for points, doubled signs; `null` if it is still invalid. */
export function withoutTypingErrors(text: string): string | null {
  // Longer than any address with a typing error.
  if (text.length > 320) return null;
  const email = text
    .replace(/^mailto:/iu, '')
    .replace(/^.*<([^<>]+)>.*$/u, '$1')
    .replace(/[\s\u200b-\u200f\ufeff]+/gu, '')
    .replace(/[,;]/gu, '.')
    .replace(/\.{2,}/gu, '.')
    .replace(/@{2,}/gu, '@')
    .replace(/^[."'<(]+|[.,"'>)]+$/gu, '')
    .replace(/\.@|@\./gu, '@');
  return email !== text.trim() && !('flaw' in readEmail(email)) ? email : null;
}
