/**
 * What Stripe's statuses of a subscription mean here; no other module lists them. A status alone never says that something is open:
 * Stripe calls a subscription whose first bill is 0 active before any card is confirmed (`isSettled` in state.ts is that rule).
 */

export type StripeStatus =
  | 'incomplete'
  | 'incomplete_expired'
  | 'trialing'
  | 'active'
  | 'past_due'
  | 'canceled'
  | 'unpaid'
  | 'paused';

interface HasStatus {
  readonly status: string;
}
const among =
  (...statuses: readonly StripeStatus[]) =>
  ({ status }: HasStatus): boolean =>
    (statuses as readonly string[]).includes(status);

/** Whether Stripe may bill it again: neither over, nor waiting for its first payment. */
export const isLive = among('trialing', 'active', 'past_due', 'unpaid', 'paused');

/** Whether nothing is owed: it renews at the end of its period, unless it is cancelled. */
export const isInGoodStanding = among('trialing', 'active');

/** Whether its last bill was not paid. */
export const isOverdue = among('past_due', 'unpaid');

/** Whether a renewal may still be paid by itself: it is on its way, or tried again. */
export const mayRenew = among('trialing', 'active', 'past_due');

/** Whether it has ended: no payment of it will be seen any more. */
export const isOver = among('canceled', 'incomplete_expired');

/** Whether the first bill was never paid. */
export const isUnpaid = among('incomplete', 'incomplete_expired');
