/** Calls that are counted: those that reach Stripe, and those with which a caller finds something out by trying. */
import type { Session } from '../../accounts/service.ts';
import type { Limiter, Who } from '../../http/limiter.server.ts';
import type { LimitName } from '../../http/limits.ts';
import type { Billed } from '../service.ts';
import { overLimit } from './errors.ts';

/** Who is counted. @param address network address; `null` where it is not known */
export const askerOf = (session: Session | null, address: string | null): Who => ({
  ...(address !== null && { address }),
  ...(session && { email: session.email }),
});

/** Runs a call that reaches Stripe, within its limit; 429 without having run it. */
export async function within<T>(
  limiter: Limiter,
  name: LimitName,
  who: Who,
  work: () => Promise<Billed<T>>,
): Promise<Billed<T>> {
  const over = await limiter.count(name, who);
  return over ? overLimit(over) : work();
}

/**
 * Runs a call that tries a card, and counts it when the card is refused.
 *
 * @returns what the call answers; 429 without having run it when too many cards were refused
 */
export async function tryingCard<T>(limiter: Limiter, who: Who, work: () => Promise<Billed<T>>): Promise<Billed<T>> {
  // Counted before Stripe is asked, so that many at once cannot slip through.
  const over = await limiter.count('card', who);
  if (over) return overLimit(over);
  let refused = false;
  try {
    const answer = await work();
    refused = !answer.ok && answer.status === 402;
    return answer;
  } finally {
    if (!refused) await limiter.giveBack('card', who);
  }
}
