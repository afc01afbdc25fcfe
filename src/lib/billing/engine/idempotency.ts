/**
 * Idempotency keys of calls to Stripe. Stripe replays the first answer under a key for a day, its own failures (5xx) included
 * (docs.stripe.com/api/idempotent_requests), so a call that met one is tried again under another key.
 */
import Stripe from 'stripe';

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
export async function underKey<T>(key: string, call: (options: { idempotencyKey: string }) => Promise<T>): Promise<T> {
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
