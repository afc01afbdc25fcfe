/** The checks of an e-mail address, cheap ones first. Whatever cannot be asked counts as verified: nobody is kept out by an outage. */

import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';
import type { ExternalAnswer } from './external.server.ts';
import type { MailDomain } from './mail-domain.server.ts';
import type { EmailVerification, Verification } from './model.ts';
import { mended, readEmail } from './model.ts';
import { typoOf } from './typos.ts';

export interface VerificationOptions {
  /** `null`: DNS is not asked. */
  readonly mailDomain: ((domain: string) => Promise<MailDomain>) | null;
  /** `null`: no service is configured. */
  readonly external: ((email: string) => Promise<ExternalAnswer>) | null;
}

const verified: Verification = { verified: true, suggestedEmail: null, message: '' };
const refused = (message: string): Verification => ({ verified: false, suggestedEmail: null, message });
/** The words are those of the specification's error catalogue. */
const suggested = (email: string): Verification => ({
  verified: false,
  suggestedEmail: email,
  message: `Did you mean ${email}?`,
});

export function createEmailVerification({ mailDomain, external }: VerificationOptions): EmailVerification {
  return {
    async verify(text) {
      const parts = readEmail(text);
      if ('flaw' in parts) return withoutForm(text) ?? refused(parts.flaw);
      const { local, domain, asciiDomain } = parts;
      // First: squatters put throw-away mailboxes under slips of the hand.
      const typo = typoOf(domain);
      if (typo?.certain) return suggested(`${local}@${typo.domain}`);
      if (isDisposable(asciiDomain)) {
        return refused(
          'This address is from a service that throws its mail away. Please use one that you will still have tomorrow.',
        );
      }
      // DNS and the service are asked together: what a reader waits for is the slower of the two.
      const [takes, answer] = await Promise.all([
        mailDomain?.(asciiDomain) ?? 'unknown',
        external?.(`${local}@${asciiDomain}`) ?? null,
      ]);
      // A company may be called almost like a mail service; if it takes mail, it is meant.
      if (typo && takes !== 'takes-mail') return suggested(`${local}@${typo.domain}`);
      if (takes === 'takes-none')
        return refused(`We cannot send mail to ${domain}. Please check the part after the @.`);
      if (answer?.result !== 'undeliverable') return verified;
      const better = answer.suggestion;
      if (better && !('flaw' in readEmail(better)) && better !== `${local}@${domain}`) return suggested(better);
      return refused('We could not find this mailbox. Please check the address for a slip of the hand.');
    },
  };
}

/** A suggestion for what is no address at all: `ada@gmail`, `ada @gmail,com`. */
function withoutForm(text: string): Verification | null {
  const whole = mended(text);
  if (whole) {
    const at = whole.lastIndexOf('@');
    const typo = typoOf(whole.slice(at + 1).toLowerCase());
    return suggested(typo ? `${whole.slice(0, at)}@${typo.domain}` : whole);
  }
  const bare = /^([^\s@]+)@([a-z0-9]+)$/iu.exec(text.trim());
  const typo = bare && typoOf((bare[2] ?? '').toLowerCase());
  const email = `${bare?.[1]}@${typo?.domain}`;
  return typo && !('flaw' in readEmail(email)) ? suggested(email) : null;
}

let list: ReadonlySet<string> | undefined;

/** @param domain in lower case; mailboxes below a listed domain count too */
export function isDisposable(domain: string): boolean {
  list ??= disposableEmailBlocklistSet();
  const labels = domain.split('.');
  return labels.some((_, place) => labels.length - place > 1 && list?.has(labels.slice(place).join('.')));
}
