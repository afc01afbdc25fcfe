/**
 * Coupons, by Stripe's promotion codes alone: a coupon's id would pass by the limits of its codes (how often, until when, for whom).
 * Restrictions are checked here, so that a reader is told what is wrong; Stripe checks them once more when it charges.
 */
import type Stripe from 'stripe';
import type { Session } from '../../accounts/service.ts';
import type { Limiter } from '../../http/limiter.server.ts';
import { tooManyTries } from '../../http/rate-limit.ts';
import { idOf } from '../read-state.ts';
import type { Price } from '../wire.ts';
import { no, Refused, refuse } from './errors.ts';
import { askerOf } from './guesses.ts';

export interface FoundCoupon {
  readonly coupon: Stripe.Coupon;
  /** As Stripe takes it. */
  readonly discount: { readonly promotion_code: string };
}

export interface Asker {
  readonly session: Session | null;
  /** Network address; `null` where it is not known. */
  readonly address: string | null;
  /** `cus_…`. */
  readonly customer: string | null;
  /** The code that an open purchase of the reader's has redeemed: it is used up by nobody else. */
  readonly redeemed?: string | null;
}

export const couponSaid = {
  unknown: 'We do not know this coupon. Please check how it is written.',
  expired: 'This coupon has expired.',
  used: 'This coupon has been used up.',
  otherPlan: 'This coupon is not for this plan.',
  otherReader: 'This coupon is for another reader.',
  firstTime: 'This coupon is for new subscribers.',
} as const;

/**
 * @returns the coupon, for this plan and this reader
 * @throws Refused, StripeError
 */
export type FindCoupon = (code: string, price: Price | null, who: Asker) => Promise<FoundCoupon>;

/** @param retention id of the coupon that is offered to readers who cancel; no code of it is good at checkout */
export function createCoupons(
  stripe: Stripe,
  limiter: Limiter,
  now: () => number,
  retention: string | null = null,
): FindCoupon {
  /** One code may have been given out several times: to this customer, to others, or to all. */
  async function promotionCode(code: string, customer: string | null): Promise<Stripe.PromotionCode | null> {
    const expand = ['data.promotion.coupon', 'data.promotion.coupon.applies_to'];
    const { data } = await stripe.promotionCodes.list({ code, limit: 10, expand });
    const active = data.filter((one) => one.active);
    const own = active.find((one) => customer !== null && idOf(one.customer) === customer);
    return own ?? active.find((one) => one.customer === null) ?? active[0] ?? data[0] ?? null;
  }

  async function isNew(customer: string | null): Promise<boolean> {
    if (customer === null) return true;
    const { data } = await stripe.charges.list({ customer, limit: 100 });
    return !data.some(({ paid }) => paid);
  }

  /** @throws Refused when it is used up or over */
  function stillGood(coupon: Stripe.Coupon, promotion: Stripe.PromotionCode): void {
    const at = now() / 1000;
    const over = (most: number | null, times: number): boolean => most !== null && times >= most;
    if (
      over(coupon.max_redemptions, coupon.times_redeemed) ||
      over(promotion.max_redemptions, promotion.times_redeemed)
    ) {
      refuse(400, couponSaid.used, { code: 'coupon_used' });
    }
    const ends = [coupon.redeem_by, promotion.expires_at].filter((end) => end !== null);
    if (!coupon.valid || !promotion.active || ends.some((end) => end <= at)) {
      refuse(400, couponSaid.expired, { code: 'coupon_expired' });
    }
  }

  async function look(code: string, price: Price | null, { customer, redeemed }: Asker): Promise<FoundCoupon> {
    const promotion = await promotionCode(code, customer);
    const coupon = promotion?.promotion.coupon;
    if (!promotion || !coupon || typeof coupon === 'string' || coupon.deleted || coupon.id === retention) {
      return refuse(404, couponSaid.unknown, { code: 'coupon_unknown' });
    }
    if (code !== redeemed) stillGood(coupon, promotion);
    if (price) restrict(coupon, promotion, price);
    const only = idOf(promotion.customer);
    if (only !== null && only !== customer) return refuse(400, couponSaid.otherReader, { code: 'coupon_customer' });
    if (promotion.restrictions.first_time_transaction && !(await isNew(customer))) {
      return refuse(400, couponSaid.firstTime, { code: 'coupon_first_time' });
    }
    return { coupon, discount: { promotion_code: promotion.id } };
  }

  return async (code, price, who) => {
    const counted = askerOf(who.session, who.address);
    // Counted before Stripe is asked, so that many at once cannot slip through; given back when it was no wrong guess.
    const over = await limiter.count('coupon', counted);
    if (over) return refuse(429, tooManyTries(over.retryAfter), { retryAfter: over.retryAfter });
    try {
      const found = await look(code, price, who);
      await limiter.giveBack('coupon', counted);
      return found;
    } catch (error) {
      if (!(error instanceof Refused)) await limiter.giveBack('coupon', counted);
      throw error;
    }
  };
}

function restrict(coupon: Stripe.Coupon, promotion: Stripe.PromotionCode, price: Price): void {
  const { unit_amount: amount, currency, product, promotion: promo } = price;
  const other = (): never => {
    throw new Refused(no(400, couponSaid.otherPlan, { code: 'coupon_plan' }));
  };
  const only = coupon.applies_to?.products ?? [];
  if (only.length > 0 && !only.includes(product.id)) other();
  if (coupon.amount_off !== null && coupon.currency !== currency && !coupon.currency_options?.[currency]) other();
  const least = promotion.restrictions.minimum_amount;
  const first = promo ? promo.amount : amount;
  if (least !== null && (promotion.restrictions.minimum_amount_currency !== currency || first < least)) other();
}
