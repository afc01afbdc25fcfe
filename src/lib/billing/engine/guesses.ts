/** Calls with which somebody can find something out by trying: each is counted, and given back when it was no wrong guess. */

import type { Session } from '../../accounts/service.ts';
import { tooManyTries } from '../../accounts/waiting.ts';
import type { Limiter } from '../../limits/limiter.server.ts';
import type { Billed } from '../service.ts';
import { no } from './errors.ts';

/** Stands for the address of a call that has none: its bound is the reader's. */
const nowhere = '::';

/** Who is counted. @param address network address; `null` where it is not known */
export const askerOf = (session: Session | null, address: string | null) => ({
  address: address ?? nowhere,
  ...(session && { email: session.email }),
});

/**
 * Runs a call that tries a card, and counts it when the card is refused.
 *
 * @returns what the call answers; 429 without having run it when too many cards were refused
 */
export async function tryingCard<T>(
  limiter: Limiter,
  who: ReturnType<typeof askerOf>,
  work: () => Promise<Billed<T>>,
): Promise<Billed<T>> {
  // Counted before Stripe is asked, so that many at once cannot slip through.
  const over = await limiter.count('card', who);
  if (over) return no(429, tooManyTries(over.retryAfter), { retryAfter: over.retryAfter });
  let refused = false;
  try {
    const answer = await work();
    refused = !answer.ok && answer.status === 402;
    return answer;
  } finally {
    if (!refused) await limiter.giveBack('card', who);
  }
}
