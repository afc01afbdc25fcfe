/** Whether an e-mail address is one that a letter can reach (spec sections 3, 5 and 7, `POST /api/verification`). */

/** The answer of `POST /api/verification`, as it goes over the wire. */
export interface Verification {
  readonly verified: boolean;
  /** What was probably meant, a whole address; `null` when nothing better is known. */
  readonly suggestedEmail: string | null;
  /** What to show beside the field; empty when there is nothing to say. */
  readonly message: string;
}

export interface EmailVerification {
  /**
   * Never throws and never takes longer than a reader waits (about 2 seconds): what cannot be asked counts as verified.
   *
   * @param email as it was typed; white space around it does not matter
   */
  verify(email: string): Promise<Verification>;
}

export interface Parts {
  readonly local: string;
  /** As it was typed, in lower case. */
  readonly domain: string;
  /** In letters that DNS knows (IDNA). */
  readonly asciiDomain: string;
}

/** Why a text is no address, for the reader. */
export interface Flaw {
  readonly flaw: string;
}

/** RFC 5321's lengths; of RFC 5322's forms those that people have: no quotes, no comments, no address literals. */
export function readEmail(text: string): Parts | Flaw {
  const email = text.trim();
  if (email === '') return { flaw: 'Please enter your e-mail address.' };
  const at = email.lastIndexOf('@');
  if (at < 0) return { flaw: 'An e-mail address has an @ in it, as in name@example.com.' };
  const local = email.slice(0, at);
  const domain = email.slice(at + 1).toLowerCase();
  if (local === '') return { flaw: 'Something is missing before the @.' };
  if (domain === '') return { flaw: 'Something is missing after the @, such as example.com.' };
  if (/[^\x21-\x7e]/u.test(local) && !/[\s\p{C}]/u.test(local)) {
    return { flaw: 'Please use an address without accents before the @; ours cannot write to others yet.' };
  }
  if (local.length > 64 || !/^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+$/iu.test(local) || /^\.|\.\.|\.$/u.test(local)) {
    return { flaw: 'Please check the part before the @.' };
  }
  const asciiDomain = toAscii(domain);
  if (asciiDomain === null || local.length + 1 + asciiDomain.length > 254) {
    return { flaw: 'Please check the part after the @; it looks like example.com.' };
  }
  return { local, domain, asciiDomain };
}

function toAscii(domain: string): string | null {
  // What a URL would read as something else than a host, or drop at its end.
  if (/[\s\p{Cc}/\\?#@:[\]%]/u.test(domain) || !URL.canParse(`http://${domain}`)) return null;
  const ascii = new URL(`http://${domain}`).hostname;
  const labels = ascii.split('.');
  const fit = labels.length > 1 && labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/u.test(label));
  return fit && !/^\d+$/u.test(labels.at(-1) ?? '') ? ascii : null;
}

/** The address with what slips in by accident put right: spaces, commas for points, doubled signs; `null` when that is not enough. */
export function mended(text: string): string | null {
  // Longer than anything that one slip made of an address.
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
