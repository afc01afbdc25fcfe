/**
 * Asks an external service whether a mailbox exists. Kickbox is spoken as it is (docs.kickbox.com, "Single verification API"). For any
 * other vendor there is a contract of our own, which a few lines of glue fulfill (docs/operations.md): `GET <url>?email=…` with
 * `Authorization: Bearer <key>` answers `{"result": "deliverable" | "undeliverable" | "unknown", "suggestion": string | null}`.
 */
import { z } from 'zod';
import type { Logger } from '../logging.ts';

export interface ExternalSettings {
  /** `plain`: our own contract. */
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
  /** Longest wait in milliseconds. */
  readonly patienceMs?: number;
  readonly now?: () => number;
}

/** Every verdict but these two leaves the address as it is: `risky`, and whatever a vendor adds later. */
const result = z
  .string()
  .transform((word): ExternalAnswer['result'] =>
    word === 'deliverable' || word === 'undeliverable' ? word : 'unknown',
  );
const suggestion = z.string().max(254).nullish();

/** How each vendor is asked, and how it answers. */
const vendors: Readonly<
  Record<
    ExternalSettings['vendor'],
    {
      readonly ask: (place: URL, key: string | null, patienceMs: number) => Record<string, string>;
      readonly answer: z.ZodType<ExternalAnswer>;
    }
  >
> = {
  plain: {
    ask: (_place, key): Record<string, string> => (key === null ? {} : { authorization: `Bearer ${key}` }),
    answer: z
      .object({ result, suggestion })
      .transform((said) => ({ result: said.result, suggestion: said.suggestion ?? null })),
  },
  kickbox: {
    ask(place, key, patienceMs) {
      place.searchParams.set('apikey', key ?? '');
      // It answers `unknown` by itself when the mailbox's server takes longer.
      place.searchParams.set('timeout', String(patienceMs));
      return {};
    },
    answer: z
      .object({ success: z.literal(true), result, did_you_mean: suggestion })
      .transform((said) => ({ result: said.result, suggestion: said.did_you_mean ?? null })),
  },
};

/** After so many failures in a row the service is left alone for a while, in milliseconds; then one question tries it again. */
const breaker = { failures: 5, restMs: 30_000 };
const unknown: ExternalAnswer = { result: 'unknown', suggestion: null };

/** Asks about one address. @throws for anything that is no verdict; {@link problemOf} says what it was, without the address and the key */
export async function askVerifier(
  { vendor: name, url, key }: ExternalSettings,
  email: string,
  patienceMs: number,
): Promise<ExternalAnswer> {
  const vendor = vendors[name];
  const place = new URL(url);
  place.searchParams.set('email', email);
  const headers = new Headers({ accept: 'application/json', ...vendor.ask(place, key, patienceMs) });
  const response = await fetch(place, { headers, redirect: 'error', signal: AbortSignal.timeout(patienceMs) });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`it answers ${response.status}`);
  }
  return vendor.answer.parse(await response.json());
}

/** @returns a function that never throws; `unknown` when the service is away */
export function createExternalCheck(options: ExternalOptions): (email: string) => Promise<ExternalAnswer> {
  const { log, patienceMs = 2000, now = Date.now } = options;
  let failures = 0;
  let restsUntil = 0;

  return async (email) => {
    if (now() < restsUntil) return unknown;
    // One question at a time tries a service that has rested; the others do not wait for it.
    if (failures >= breaker.failures) restsUntil = now() + breaker.restMs;
    try {
      const result = await askVerifier(options, email, patienceMs);
      if (failures >= breaker.failures) log.info({}, 'The e-mail verifier answers again');
      failures = 0;
      restsUntil = 0;
      return result;
    } catch (error) {
      failures++;
      if (failures === breaker.failures) {
        restsUntil = now() + breaker.restMs;
        // The address, and with Kickbox the key, stand in the URL of the request: only the kind of trouble is told.
        log.warn(
          { problem: problemOf(error) },
          'The e-mail verifier is left alone for a while; addresses count as verified',
        );
      }
      return unknown;
    }
  };
}

/** What kept a verifier from a verdict. */
export function problemOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'its answer has another form';
  if (error instanceof SyntaxError) return 'its answer is no JSON';
  const { name, message, cause } = error as Error & { cause?: { code?: string } };
  if (name === 'TimeoutError') return 'it does not answer in time';
  return cause?.code ?? (message.startsWith('it ') ? message : name);
}
