/** What is offered to somebody who is about to leave, from what Stripe says of a coupon and of the subscription. Pure. */
import type Stripe from 'stripe';
import type { StayOffer } from './leaving.ts';
import { lessCoupon } from './read-state.ts';
import { isEnding, type StripeState } from './state.ts';

type OfferedCoupon = Pick<
  Stripe.Coupon,
  'id' | 'valid' | 'duration' | 'duration_in_months' | 'amount_off' | 'percent_off' | 'currency' | 'applies_to'
>;

/**
 * What a coupon would come to for somebody who is about to leave; `null` where it would be nothing: nobody is kept with an offer
 * that takes nothing off, or that takes the place of a discount they have.
 */
export function offerOf(state: StripeState, coupon: OfferedCoupon, now: number): StayOffer | null {
  const { price, nextAmount: from, periodEnd, status } = state;
  const plain = status === 'active' && !isEnding(state) && state.schedule === null && state.next === null;
  if (!plain || !coupon.valid || from === 0 || from !== price.amount) return null;
  if (coupon.amount_off !== null && coupon.currency !== price.currency) return null;
  const bills = billsWithin(state, coupon, now);
  const to = lessCoupon(from, coupon);
  return bills === 0 || to >= from
    ? null
    : { coupon: coupon.id, currency: price.currency, from, to, at: periodEnd, bills };
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
