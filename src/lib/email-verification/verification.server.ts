/** The checks of an email address, cheap ones first. A check that gets no answer counts as passed, so that an outage keeps no user out. */
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';
import type { ExternalAnswer, MailDomain } from './external.server.ts';
import {
  type EmailVerification,
  readEmail,
  type Verification,
  verificationMessages,
  withoutTypingErrors,
} from './model.ts';
import { typoOf } from './typos.ts';

export interface VerificationOptions {
  /** `null`: DNS isn't checked. */
  readonly mailDomain: ((domain: string) => Promise<MailDomain>) | null;
  /** `null`: no service is configured. */
  readonly external: ((email: string) => Promise<ExternalAnswer>) | null;
}

const verified: Verification = { verified: true, suggestedEmail: null, message: '' };
const refused = (message: string): Verification => ({ verified: false, suggestedEmail: null, message });
const suggested = (email: string): Verification => ({
  verified: false,
  suggestedEmail: email,
  message: verificationMessages.suggestion(email),
});

export function createEmailVerification({ mailDomain, external }: VerificationOptions): EmailVerification {
  return {
    async verify(text) {
      const parts = readEmail(text);
      if ('flaw' in parts) return suggestionFor(text) ?? refused(parts.flaw);
      const { local, domain, asciiDomain } = parts;
      // First, because squatters run disposable mailboxes under misspelled names.
      const typo = typoOf(domain);
      if (typo?.certain) return suggested(`${local}@${typo.domain}`);
      if (isDisposable(asciiDomain)) {
        return refused(verificationMessages.disposable);
      }
      // DNS and the service are called at the same time, so that the user waits only for the slower one.
      const [takes, answer] = await Promise.all([
        mailDomain?.(asciiDomain) ?? 'unknown',
        external?.(`${local}@${asciiDomain}`) ?? null,
      ]);
      // A company's name may look like that of a mail service; a domain that takes mail is what the user meant.
      if (typo && takes !== 'takes-mail') return suggested(`${local}@${typo.domain}`);
      if (takes === 'takes-none') return refused(verificationMessages.noMail(domain));
      if (answer?.result !== 'undeliverable') return verified;
      const better = answer.suggestion;
      if (better && !('flaw' in readEmail(better)) && better !== `${local}@${domain}`) return suggested(better);
      return refused(verificationMessages.noMailbox);
    },
  };
}

/** A suggestion for a text that isn't an address at all: `ada@gmail`, `ada @gmail,com`. */
function suggestionFor(text: string): Verification | null {
  const whole = withoutTypingErrors(text);
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
