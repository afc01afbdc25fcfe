/**
 * Checks of email addresses that need the network: DNS, and an external service that knows whether a mailbox exists. Kickbox is
 * supported (docs.kickbox.com, "Single verification API"); any other vendor needs a small adapter (docs/operations.md): `GET
 * <url>?email=…` with `Authorization: Bearer <key>` answers `{"result": "deliverable" | "undeliverable" | "unknown", "suggestion":
 * string | null}`.
 */
import { Resolver } from 'node:dns/promises';
import { z } from 'zod';
import { createBoundedMap } from '../bounded-map.ts';
import type { Limiter } from '../http/limiter.server.ts';
import { withTimeLimit } from '../jobs/tasks.ts';
import type { Logger } from '../logging.ts';

export interface ExternalSettings {
  /** `plain`: the contract described above. */
  readonly vendor: 'kickbox' | 'plain';
  readonly url: string;
  readonly key: string | null;
}

export interface ExternalAnswer {
  readonly result: 'deliverable' | 'undeliverable' | 'unknown';
  readonly suggestion: string | null;
}

export interface ExternalOptions extends ExternalSettings {
  readonly log: Logger;
  /** Counts the calls of all callers together, because the service costs money. */
  readonly limiter: Pick<Limiter, 'count'>;
  /** Longest wait in milliseconds. */
  readonly timeoutMs?: number;
  /** Milliseconds; that of the process by default, which runs on when the machine's clock is set. */
  readonly now?: () => number;
}

/** Any other result, such as `risky`, counts as `unknown`. */
const result = z
  .string()
  .transform((word): ExternalAnswer['result'] =>
    word === 'deliverable' || word === 'undeliverable' ? word : 'unknown',
  );
const suggestion = z.string().max(254).nullish();

/** How each vendor is called (`prepare` completes the address and returns headers), and how its responses are read. */
const vendors: Readonly<
  Record<
    ExternalSettings['vendor'],
    {
      readonly prepare: (url: URL, key: string | null, timeoutMs: number) => Record<string, string>;
      readonly answer: z.ZodType<ExternalAnswer>;
    }
  >
> = {
  plain: {
    prepare: (_url, key): Record<string, string> => (key === null ? {} : { authorization: `Bearer ${key}` }),
    answer: z.object({ result, suggestion }).transform(({ result, suggestion = null }) => ({ result, suggestion })),
  },
  kickbox: {
    prepare(url, key, timeoutMs) {
      url.searchParams.set('apikey', key ?? '');
      // The service itself answers `unknown` if the mailbox's server takes longer; its answer must arrive before our own limit.
      url.searchParams.set('timeout', String(Math.max(500, timeoutMs - 500)));
      return {};
    },
    answer: z
      .object({ success: z.literal(true), result, did_you_mean: suggestion })
      .transform(({ result, did_you_mean: suggestion = null }) => ({ result, suggestion })),
  },
};

/** After this many failures in a row the service isn't called for a while (milliseconds); then one request tries it again. */
const breaker = { failures: 5, restMs: 30_000 };
const unknown: ExternalAnswer = { result: 'unknown', suggestion: null };
/** Results are kept for ten minutes, because one sign-up checks an address twice: in the form, and before the mail is sent. */
const keptMs = 600_000;
const mostKept = 1000;

/** Asks about one address. @throws if there is no result; {@link problemOf} names the cause without the address and the key */
export async function askVerifier(
  { vendor: name, url, key }: ExternalSettings,
  email: string,
  timeoutMs: number,
): Promise<ExternalAnswer> {
  const vendor = vendors[name];
  const requestUrl = new URL(url);
  requestUrl.searchParams.set('email', email);
  const headers = new Headers({ accept: 'application/json', ...vendor.prepare(requestUrl, key, timeoutMs) });
  const response = await fetch(requestUrl, { headers, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`it answers ${response.status}`);
  }
  return vendor.answer.parse(await response.json());
}

/** @returns a function that never throws; `unknown` when the service does not answer, or has been asked too often */
export function createExternalCheck(options: ExternalOptions): (email: string) => Promise<ExternalAnswer> {
  const { log, limiter, timeoutMs = 2000, now = () => performance.now() } = options;
  const kept = createBoundedMap<{ readonly until: number; readonly result: ExternalAnswer }>(mostKept);
  let failures = 0;
  let restsUntil = 0;

  return async (email) => {
    const known = kept.get(email);
    if (known && known.until > now()) return known.result;
    if (now() < restsUntil) return unknown;
    if (await limiter.count('verifier', {})) return unknown;
    // After the pause one request at a time tries the service; the others don't wait for it.
    if (failures >= breaker.failures) restsUntil = now() + breaker.restMs;
    try {
      const result = await askVerifier(options, email, timeoutMs);
      kept.set(email, { until: now() + keptMs, result });
      if (failures >= breaker.failures) log.info({}, 'The email verifier answers again');
      failures = 0;
      restsUntil = 0;
      return result;
    } catch (error) {
      failures++;
      if (failures === breaker.failures) {
        restsUntil = now() + breaker.restMs;
        // The URL of the request contains the address and, for Kickbox, the key, so only the kind of error is logged.
        log.warn(
          { problem: problemOf(error) },
          'The email verifier fails; it is not asked for a while, and addresses count as verified',
        );
      }
      return unknown;
    }
  };
}

/** Why the verifier gave no result. */
export function problemOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'its answer has an unexpected format';
  if (error instanceof SyntaxError) return "its answer isn't JSON";
  const { name, message, cause } = error as Error & { cause?: { code?: string } };
  if (name === 'TimeoutError') return 'it does not answer in time';
  return cause?.code ?? (message.startsWith('it ') ? message : name);
}

/** Whether a domain accepts mail, by DNS: RFC 5321 section 5.1 (MX, else its address) and RFC 7505 (null MX). */
export type MailDomain = 'takes-mail' | 'takes-none' | 'unknown';

/** The methods of Node's resolver that are used. */
export type Dns = Pick<Resolver, 'resolveMx' | 'resolve4' | 'resolve6'>;

export interface MailDomainOptions {
  readonly dns?: Dns;
  /** Longest wait in milliseconds. */
  readonly timeoutMs?: number;
  /** Milliseconds; that of the process by default, which runs on when the machine's clock is set. */
  readonly now?: () => number;
}

/** How long an answer is cached, in milliseconds. */
const lifetimes: Readonly<Record<MailDomain, number>> = {
  'takes-mail': 3_600_000,
  'takes-none': 300_000,
  unknown: 30_000,
};
const mostCached = 5000;
/** A domain that certainly accepts mail: if the resolver doesn't find it, DNS doesn't work. */
const controlDomain = 'gmail.com';

/** @returns a function that never throws */
export function createMailDomainCheck(options: MailDomainOptions = {}): (domain: string) => Promise<MailDomain> {
  const { dns = new Resolver({ timeout: 700, tries: 2 }), timeoutMs = 1500, now = () => performance.now() } = options;
  const cache = createBoundedMap<{ readonly until: number; readonly answer: Promise<MailDomain> }>(mostCached);

  function ask(domain: string): Promise<MailDomain> {
    const known = cache.get(domain);
    if (known && known.until > now()) return known.answer;
    const answer = lookUp(dns, domain);
    // Until then, other callers wait for the same answer.
    cache.set(domain, { until: Number.POSITIVE_INFINITY, answer });
    void answer.then((result) => cache.set(domain, { until: now() + lifetimes[result], answer }));
    return answer;
  }

  async function checkDomain(domain: string): Promise<MailDomain> {
    const answer = await ask(domain);
    // A resolver that finds no domain at all, as behind some firewalls, is ignored.
    return answer === 'takes-none' && (await ask(controlDomain)) !== 'takes-mail' ? 'unknown' : answer;
  }

  return (domain) => withTimeLimit(timeoutMs, checkDomain(domain), () => 'unknown');
}

/** Codes of node:dns for a domain or a record that does not exist. */
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
