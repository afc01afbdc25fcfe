/**
 * Access to Stripe: one client, one API version, bounded waits, and idempotency keys. Stripe replays the first answer under a key for a
 * day, its own failures (5xx) included (docs.stripe.com/api/idempotent_requests), so a call that met one is tried again under another key.
 */
import Stripe from 'stripe';
import { apiVersion } from './api-version.ts';

export interface StripeAccess {
  readonly secretKey: string;
  /** Without a slash at its end. */
  readonly apiUrl: string;
}

/** Milliseconds for one request; a second try under the same key follows. */
const patienceMs = 10_000;

export function openStripe(
  { secretKey, apiUrl }: StripeAccess,
  timeout = patienceMs,
  throughFetch?: typeof globalThis.fetch,
): Stripe {
  const { hostname, port, protocol } = new URL(apiUrl);
  return new Stripe(secretKey, {
    apiVersion,
    host: hostname,
    port: port || undefined,
    protocol: protocol === 'http:' ? 'http' : 'https',
    timeout,
    maxNetworkRetries: 1,
    telemetry: false,
    appInfo: { name: 'Broadsheet' },
    httpClient: throughFetch && Stripe.createFetchHttpClient(throughFetch),
  });
}

/** Failures by key; what a restart forgets costs one replayed failure. */
const failures = new Map<string, number>();
const mostKept = 10_000;

/**
 * Calls Stripe under a key that is the same in every process until Stripe itself fails. Only for calls that may be made twice, or whose
 * caller looks at Stripe's state before it calls again: after a 5xx it is not known whether the call was done.
 *
 * @param key of what is decided, for instance `switch:` and the purchase
 * @throws StripeError as the call does
 */
export async function withIdempotencyKey<T>(
  key: string,
  call: (options: { idempotencyKey: string }) => Promise<T>,
): Promise<T> {
  const failed = failures.get(key) ?? 0;
  try {
    return await call({ idempotencyKey: failed === 0 ? key : `${key}:${failed}` });
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError && (error.statusCode ?? 0) >= 500) {
      if (failures.size >= mostKept) failures.clear();
      failures.set(key, failed + 1);
    }
    throw error;
  }
}
