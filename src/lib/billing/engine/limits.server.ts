/** Limits for calls to Stripe, for guesses, and for cards that our own calls try. */
import type { Session } from '../../accounts/service.ts';
import type { Limiter, LimitSubject } from '../../http/limiter.server.ts';
import type { LimitName } from '../../http/limits.ts';
import type { Billed } from '../service.ts';
import { asResult, overLimit } from './stripe.server.ts';

/** What a limit counts a call under. @param clientAddress network address; `null` if it isn't known */
export const limitSubject = (session: Session | null, clientAddress: string | null): LimitSubject => ({
  ...(clientAddress !== null && { address: clientAddress }),
  ...(session && { account: session.email }),
});

/** Runs a call to Stripe within its limit; over the limit it isn't run, and the answer is 429. */
export async function withinLimit<T>(
  limiter: Limiter,
  name: LimitName,
  subject: LimitSubject,
  work: () => Promise<Billed<T>>,
): Promise<Billed<T>> {
  const over = await limiter.count(name, subject);
  return over ? overLimit(over) : work();
}

/**
 * Runs a call that tries a card, and counts it when the card is refused.
 *
 * @returns the call's result, as {@link asResult}; 429 without running it if too many cards were refused
 */
export async function withinCardLimit<T>(
  limiter: Limiter,
  subject: LimitSubject,
  work: () => Promise<Billed<T>>,
): Promise<Billed<T>> {
  // Counted before the call, so that parallel tries count.
  const over = await limiter.count('card', subject);
  if (over) return overLimit(over);
  let refused = false;
  try {
    const answer = await asResult(work);
    refused = !answer.ok && answer.status === 402;
    return answer;
  } finally {
    if (!refused) await limiter.release('card', subject);
  }
}
