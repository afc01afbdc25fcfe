/** What the two vendors have in common: how a purge goes out, and what their answers mean. */
import type { Outcome } from '../outbound/delivery-queue.server.ts';
import type { PostResult } from '../outbound/post.server.ts';

/** One CDN's purge call. */
export interface CdnVendor {
  /** Most keys in one request. */
  readonly batchSize: number;
  /**
   * Purges keys. Never throws.
   *
   * @param soft mark as stale instead of removing, where the vendor can
   */
  purge(keys: readonly string[], soft: boolean, signal: AbortSignal): Promise<Outcome>;
}

/** How one vendor's answers are told apart. */
export interface AnswerRules {
  readonly vendor: string;
  /** Whether a JSON body says that the purge has been taken. */
  readonly taken: (json: unknown) => boolean;
  /** The vendor's own words on what went wrong, '' when it gave none. */
  readonly words: (json: unknown) => string;
  /** What to do about a refused credential, an unknown zone or service, and a wrong address. */
  readonly credentialAdvice: string;
  readonly targetAdvice: string;
  readonly addressAdvice: string;
  /** Advice on an answer that the status alone does not explain. */
  readonly specialAdvice?: (json: unknown) => string | null;
  /** A vendor's own way to say how long to wait, milliseconds. */
  readonly waitOf?: (headers: Headers) => number | null;
}

/** Purging is idempotent: whenever it is not certain that a purge was taken, it is repeated. */
export function outcomeOf(result: PostResult, rules: AnswerRules): Outcome {
  const { vendor } = rules;
  if (!result.answered) return { kind: 'failed', message: `${vendor}: ${result.message}` };
  const { status, json } = result;
  const words = rules.words(json).slice(0, 300);
  const said = `${vendor} answered ${status}${words ? ` (${words})` : ''}`;
  const misconfigured = (advice: string): Outcome => ({ kind: 'misconfigured', message: `${said}: ${advice}` });

  if (status === 408 || status === 429 || status >= 500) {
    return { kind: 'failed', message: said, retryAfterMs: result.retryAfterMs ?? rules.waitOf?.(result.headers) };
  }
  if (status >= 300 && status < 400) return misconfigured(rules.addressAdvice);
  const special = rules.specialAdvice?.(json);
  if (special) return misconfigured(special);
  if (status === 401 || status === 403) return misconfigured(rules.credentialAdvice);
  if (status === 404 || status === 405) return misconfigured(rules.targetAdvice);
  if (status >= 400) return { kind: 'refused', message: said };
  if (json === undefined) {
    return { kind: 'failed', message: `${said} with ${result.form} instead of JSON; ${rules.addressAdvice}` };
  }
  return rules.taken(json) ? { kind: 'accepted' } : { kind: 'refused', message: `${said} without taking the purge` };
}

/** A value as an object to look into; anything else is an empty one. */
export const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
