/** What becomes of a running subscription when its account is deleted; said before, not after. */
import { isLive } from '../billing/status.ts';
import type { Subscription } from '../billing/wire.ts';
import { deletionWarnings } from './messages.ts';

export interface Leaving {
  /** Paragraphs. */
  readonly words: readonly string[];
  /** Whether there is a subscription that could be cancelled first, and kept until its end. */
  readonly cancelFirst: boolean;
}

/**
 * @param subscription `null`: there is none; `undefined`: it is not known now
 * @param day an instant as a day in words
 * @param now epoch milliseconds
 */
export function leaving(
  subscription: Subscription | null | undefined,
  day: (instant: string) => string,
  now: number,
): Leaving {
  if (subscription === undefined) {
    return { words: [deletionWarnings.unknown], cancelFirst: true };
  }
  if (subscription === null || !isLive(subscription) || Date.parse(subscription.paidUntil) <= now) {
    return { words: [], cancelFirst: false };
  }
  const until = day(subscription.paidUntil);
  const wait = subscription.cancelAtPeriodEnd ? deletionWarnings.waits(until) : deletionWarnings.cancelFirst(until);
  return {
    words: [deletionWarnings.ends(subscription.planName, until), wait],
    cancelFirst: !subscription.cancelAtPeriodEnd,
  };
}
