/**
 * Idempotency keys (docs.stripe.com/api/idempotent_requests, docs.stripe.com/error-low-level#content-errors): once a call has begun to
 * execute, its status and body are replayed for a day, 400, 402, 404 and 500 alike. Malformed parameters, missing keys and rate limits are
 * found before that and are not stored. Using a key with other parameters, or twice at once, is an error.
 */
import { createHash } from 'node:crypto';
import type { StripeAccount } from './core/account.ts';
import { ApiError, invalid } from './core/errors.ts';

export interface StoredResponse {
  readonly status: number;
  readonly body: string;
}

const day = 86_400_000;

/** docs.stripe.com/api/idempotent_requests */
const longestKey = 255;

export const hashRequest = (method: string, path: string, body: string): string =>
  createHash('sha256').update(`${method} ${path}\n${body}`).digest('base64url');

export interface Idempotency {
  /**
   * The stored response; `null` for a new key, which is then in use until `finish`.
   * @throws {ApiError} 400 for other parameters, 409 while the first call is still running
   */
  begin(key: string, requestHash: string): StoredResponse | null;
  /** Stores the answer in the transaction of the call itself, so that both are committed or neither is. */
  store(key: string, requestHash: string, response: StoredResponse): void;
  finish(key: string): void;
  /** Marks a key as in use while its call is delayed; `false` if it is in use already. */
  reserve(key: string): boolean;
}

export function makeIdempotency(account: StripeAccount, systemTime: () => number): Idempotency {
  const running = new Set<string>();
  return {
    begin(key, requestHash) {
      if (key.length > longestKey) throw invalid(`Idempotency keys can have up to ${longestKey} characters.`);
      if (running.has(key)) {
        throw new ApiError(409, {
          type: 'idempotency_error',
          code: 'idempotency_key_in_use',
          message:
            'There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through). Please try again later.',
        });
      }
      const stored = account.store.find('answer', key);
      if (stored && systemTime() - Number(stored.at) < day) {
        if (stored.print !== requestHash) {
          throw new ApiError(400, {
            type: 'idempotency_error',
            message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
          });
        }
        return { status: Number(stored.status), body: String(stored.body) };
      }
      running.add(key);
      return null;
    },
    store(key, requestHash, { status, body }) {
      account.store.add('answer', { id: key, object: 'answer', at: systemTime(), print: requestHash, status, body });
    },
    finish: (key) => running.delete(key),
    reserve(key) {
      if (running.has(key)) return false;
      running.add(key);
      return true;
    },
  };
}
