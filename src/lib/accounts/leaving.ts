/** What becomes of a running subscription when its account is deleted; said before, not after. */
import { isLive } from '../billing/status.ts';
import type { Subscription } from '../billing/wire.ts';

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
    const words =
      'Whether you have a subscription cannot be seen just now. If you have one, it ends at once, and nothing is refunded.';
    return { words: [words], cancelFirst: true };
  }
  if (subscription === null || !isLive(subscription) || Date.parse(subscription.paidUntil) <= now) {
    return { words: [], cancelFirst: false };
  }
  const until = day(subscription.paidUntil);
  const ends = `Your subscription, ${subscription.planName}, ends at once. Nothing more is charged, and what is left of the time you have paid for, until ${until}, is not refunded.`;
  const wait = subscription.cancelAtPeriodEnd
    ? `It is cancelled already. If you wait until ${until}, you keep everything that you have paid for.`
    : `If you would rather read on until ${until}, cancel it first, and delete your account when it has ended.`;
  return { words: [ends, wait], cancelFirst: !subscription.cancelAtPeriodEnd };
}
