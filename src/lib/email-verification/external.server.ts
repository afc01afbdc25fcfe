/**
 * Asks an external service whether a mailbox exists. The contract is small, so that any vendor fits behind a few lines of glue
 * (docs/operations.md): `GET <url>?email=…` with `Authorization: Bearer <key>` answers
 * `{"result": "deliverable" | "undeliverable" | "unknown", "suggestion": string | null}`.
 */
import { z } from 'zod';
import type { Logger } from '../logging.ts';

export interface ExternalSettings {
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

const answer = z.object({
  result: z.enum(['deliverable', 'undeliverable', 'unknown']),
  suggestion: z.string().max(254).nullish(),
});

/** After so many failures in a row the service is left alone for a while, in milliseconds; then one question tries it again. */
const breaker = { failures: 5, restMs: 30_000 };
const unknown: ExternalAnswer = { result: 'unknown', suggestion: null };

/** @returns a function that never throws; `unknown` when the service is away */
export function createExternalCheck(options: ExternalOptions): (email: string) => Promise<ExternalAnswer> {
  const { url, key, log, patienceMs = 2000, now = Date.now } = options;
  let failures = 0;
  let restsUntil = 0;

  async function ask(email: string): Promise<ExternalAnswer> {
    const place = new URL(url);
    place.searchParams.set('email', email);
    const response = await fetch(place, {
      headers: { accept: 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) },
      redirect: 'error',
      signal: AbortSignal.timeout(patienceMs),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`it answers ${response.status}`);
    }
    const { result, suggestion } = answer.parse(await response.json());
    return { result, suggestion: suggestion ?? null };
  }

  return async (email) => {
    if (now() < restsUntil) return unknown;
    // One question at a time tries a service that has rested; the others do not wait for it.
    if (failures >= breaker.failures) restsUntil = now() + breaker.restMs;
    try {
      const result = await ask(email);
      if (failures >= breaker.failures) log.info({}, 'The e-mail verifier answers again');
      failures = 0;
      restsUntil = 0;
      return result;
    } catch (error) {
      failures++;
      if (failures === breaker.failures) {
        restsUntil = now() + breaker.restMs;
        // The address stands in the URL of the request, so that only the kind of trouble is told.
        log.warn(
          { problem: reason(error) },
          'The e-mail verifier is left alone for a while; addresses count as verified',
        );
      }
      return unknown;
    }
  };
}

function reason(error: unknown): string {
  if (error instanceof z.ZodError) return 'its answer has another form';
  if (error instanceof SyntaxError) return 'its answer is no JSON';
  const { name, message, cause } = error as Error & { cause?: { code?: string } };
  if (name === 'TimeoutError') return 'it does not answer in time';
  return cause?.code ?? (message.startsWith('it ') ? message : name);
}
