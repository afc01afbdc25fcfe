/**
 * Retention: why, and what the paper offers before. Pure. Why is asked in one question that may be skipped; of an offer there is one,
 * and it says in figures what comes of it.
 */
import type Stripe from 'stripe';
import type { Tax } from './wire.ts';

/** What may be answered, in the order of the form; `feedback` is Stripe's word for the same. */
export const leavingReasons = [
  { id: 'too-expensive', words: 'It costs too much', feedback: 'too_expensive' },
  { id: 'no-time', words: 'I don’t find the time to read it', feedback: 'unused' },
  { id: 'missing', words: 'It doesn’t have what I look for', feedback: 'missing_features' },
  { id: 'reporting', words: 'I’m not happy with the reporting', feedback: 'low_quality' },
  { id: 'elsewhere', words: 'I read another paper instead', feedback: 'switched_service' },
  { id: 'service', words: 'Delivery or service went wrong', feedback: 'customer_service' },
  { id: 'site', words: 'The site is hard to use', feedback: 'too_complex' },
  { id: 'other', words: 'Something else', feedback: 'other' },
] as const;
export type LeavingReason = (typeof leavingReasons)[number]['id'];

/** Characters of a reader's own words that are kept. */
export const longestWords = 500;

/** One of {@link leavingReasons}; `null` for what is none. */
export const leavingReason = (given: string | null | undefined): LeavingReason | null =>
  leavingReasons.find(({ id }) => id === given)?.id ?? null;

/** Why, and in the reader's own words. Both may be missing. */
export interface Farewell {
  readonly reason: LeavingReason | null;
  readonly words: string | null;
}

/** What Stripe is told of it. */
export function detailsOf({ reason, words }: Farewell): {
  comment?: string;
  feedback?: Stripe.SubscriptionUpdateParams.CancellationDetails.Feedback;
} {
  const known = leavingReasons.find(({ id }) => id === reason);
  return { ...(words && { comment: words }), ...(known && { feedback: known.feedback }) };
}

/** Less money for a while. Amounts are minor units, times epoch milliseconds. */
export interface StayOffer {
  /** Stripe's id of the coupon. */
  readonly coupon: string;
  readonly currency: string;
  /** Each bill as it is, and as it would be. */
  readonly from: number;
  readonly to: number;
  /** Tax within the smaller one; absent from old rows. */
  readonly tax?: Tax | null;
  /** The first bill that costs less. */
  readonly at: number;
  /** How many bills do; `null`: all from then on. */
  readonly bills: number | null;
}
