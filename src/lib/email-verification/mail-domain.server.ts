/** Whether a domain takes mail, by DNS: RFC 5321 section 5.1 (MX, else its address) and RFC 7505 (none at all). */
import { Resolver } from 'node:dns/promises';

/** `unknown`: nobody could say, which is no reason to refuse anybody. */
export type MailDomain = 'takes-mail' | 'takes-none' | 'unknown';

/** The part of Node's resolver that is asked. */
export type Dns = Pick<Resolver, 'resolveMx' | 'resolve4' | 'resolve6'>;

export interface MailDomainOptions {
  readonly dns?: Dns;
  /** Longest wait in milliseconds. */
  readonly patienceMs?: number;
  readonly now?: () => number;
}

/** How long an answer counts, in milliseconds. */
const lifetimes: Readonly<Record<MailDomain, number>> = {
  'takes-mail': 3_600_000,
  'takes-none': 300_000,
  unknown: 30_000,
};
const mostKept = 5000;
/** Surely takes mail: a resolver that does not find it finds nothing. */
const control = 'gmail.com';

/** @returns a function that never throws */
export function createMailDomainCheck(options: MailDomainOptions = {}): (domain: string) => Promise<MailDomain> {
  const { dns = new Resolver({ timeout: 700, tries: 2 }), patienceMs = 1500, now = Date.now } = options;
  const kept = new Map<string, { readonly until: number; readonly answer: Promise<MailDomain> }>();

  function ask(domain: string): Promise<MailDomain> {
    const known = kept.get(domain);
    if (known && known.until > now()) return known.answer;
    const answer = lookUp(dns, domain);
    const keep = (until: number) => {
      kept.delete(domain);
      kept.set(domain, { until, answer });
      const eldest = kept.keys().next();
      if (kept.size > mostKept && !eldest.done) kept.delete(eldest.value);
    };
    // Others who ask meanwhile wait for the same answer.
    keep(Number.POSITIVE_INFINITY);
    void answer.then((result) => keep(now() + lifetimes[result]));
    return answer;
  }

  async function judged(domain: string): Promise<MailDomain> {
    const answer = await ask(domain);
    // A resolver that finds nothing at all, as behind some firewalls, is not believed.
    return answer === 'takes-none' && (await ask(control)) !== 'takes-mail' ? 'unknown' : answer;
  }

  return async (domain) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<MailDomain>((resolve) => {
      timer = setTimeout(() => resolve('unknown'), patienceMs);
    });
    const answer = await Promise.race([judged(domain), late]);
    clearTimeout(timer);
    return answer;
  };
}

/** Codes of node:dns by which a domain or a record is surely not there. */
const absent = new Set(['ENOTFOUND', 'ENODATA']);
const codeOf = (error: unknown): string => String((error as { code?: unknown }).code);

async function lookUp(dns: Dns, domain: string): Promise<MailDomain> {
  try {
    const records = await dns.resolveMx(domain);
    return records.some(({ exchange }) => exchange !== '' && exchange !== '.') ? 'takes-mail' : 'takes-none';
  } catch (error) {
    if (codeOf(error) === 'ENOTFOUND') return 'takes-none';
    if (codeOf(error) !== 'ENODATA') return 'unknown';
  }
  const addresses = await Promise.allSettled([dns.resolve4(domain), dns.resolve6(domain)]);
  if (addresses.some((one) => one.status === 'fulfilled' && one.value.length > 0)) return 'takes-mail';
  return addresses.every((one) => one.status === 'fulfilled' || absent.has(codeOf(one.reason)))
    ? 'takes-none'
    : 'unknown';
}
