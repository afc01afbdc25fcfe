/** What is offered to somebody who is about to leave, from what Stripe says of a coupon and of the subscription. Pure. */
import type Stripe from 'stripe';
import type { StayOffer } from './leaving.ts';
import { taxOf } from './read-state.ts';
import { isEnding, isInTrial, isPaused, type StripeState } from './state.ts';

type OfferedCoupon = Pick<
  Stripe.Coupon,
  'id' | 'valid' | 'duration' | 'duration_in_months' | 'amount_off' | 'currency' | 'currency_options'
>;

/**
 * Bills that a coupon would make smaller for somebody who is about to leave, `null` for all; 0 where it is not offered: nobody is
 * kept with an offer that takes the place of a discount they have.
 */
export function billsOffered(state: StripeState, coupon: OfferedCoupon, now: number): number | null {
  const { price, nextAmount, status } = state;
  const running = status === 'active' && !isInTrial(state, now) && !isPaused(state);
  const plain = running && !isEnding(state) && state.schedule === null;
  if (!plain || !coupon.valid || nextAmount === 0 || (state.discounts ?? []).length > 0) return 0;
  if (coupon.amount_off !== null && coupon.currency !== price.currency && !coupon.currency_options?.[price.currency])
    return 0;
  return billsWithin(state, coupon, now);
}

/** What an offer comes to by Stripe's preview of the next bill with it; `null` where it takes nothing off. */
export function offerOf(
  { price, nextAmount: from, periodEnd }: StripeState,
  { id: coupon }: Pick<OfferedCoupon, 'id'>,
  bills: number | null,
  preview: Pick<Stripe.Invoice, 'amount_due' | 'total_taxes'>,
): StayOffer | null {
  const { amount_due: to } = preview;
  return to >= from ? null : { coupon, currency: price.currency, from, to, tax: taxOf(preview), at: periodEnd, bills };
}

/** Bills that come while a coupon lasts which begins now. */
function billsWithin({ price, periodEnd }: StripeState, coupon: OfferedCoupon, now: number): number | null {
  if (coupon.duration === 'forever') return null;
  if (coupon.duration === 'once') return 1;
  const end = later(now, 'month', coupon.duration_in_months ?? 0);
  let count = 0;
  while (later(periodEnd, price.interval, count * price.count) < end) count++;
  return count;
}

function later(at: number, interval: StripeState['price']['interval'], count: number): number {
  const date = new Date(at);
  if (interval === 'month' || interval === 'year') {
    date.setUTCMonth(date.getUTCMonth() + count * (interval === 'year' ? 12 : 1));
    return date.getTime();
  }
  return at + count * (interval === 'week' ? 7 : 1) * 86_400_000;
}
