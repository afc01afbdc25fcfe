/**
 * Coupons, only by Stripe's promotion codes: a coupon's id would bypass the limits of its codes (how often, until when, for whom).
 * Restrictions are checked here for the message to the reader; Stripe checks them again when it charges.
 */

import type Stripe from 'stripe';
import type { Session } from '../../accounts/service.ts';
import { tooManyTries } from '../../http/answer.ts';
import { couponMessages } from '../messages.ts';
import type { Price } from '../schema.ts';
import type { BillingDependencies } from './dependencies.ts';
import { idOf } from './fetch-subscription.server.ts';
import { limitSubject } from './limits.server.ts';
import { ifMissing, Refused, throwRefused } from './stripe.server.ts';

type Dependencies = Pick<BillingDependencies, 'stripe' | 'limiter' | 'rules' | 'now'>;

export interface FoundCoupon {
  readonly coupon: Stripe.Coupon;
  /** Parameter for Stripe. */
  readonly discount: { readonly promotion_code: string };
}

export interface CouponCaller {
  readonly session: Session | null;
  /** Network address; `null` where it is not known. */
  readonly clientAddress: string | null;
  /** `cus_…`. */
  readonly customer: string | null;
  /** The code that the reader's open purchase has redeemed: its limits don't apply to this reader. */
  readonly redeemed?: string | null;
}

/** The coupon of a code, for this plan and this reader. Wrong codes are counted. @throws Refused, StripeError */
export async function tryCoupon(
  dependencies: Dependencies,
  code: string,
  price: Price | null,
  caller: CouponCaller,
): Promise<FoundCoupon> {
  const { limiter } = dependencies;
  const subject = limitSubject(caller.session, caller.clientAddress);
  // Counted before the request to Stripe, so that parallel guesses count; for a valid code the count is removed.
  const over = await limiter.count('coupon', subject);
  if (over) return throwRefused(429, tooManyTries(over.retryAfter), { retryAfter: over.retryAfter });
  try {
    const found = await findCoupon(dependencies, code, price, caller);
    await limiter.release('coupon', subject);
    return found;
  } catch (error) {
    if (!(error instanceof Refused)) await limiter.release('coupon', subject);
    throw error;
  }
}

async function findCoupon(
  { stripe, rules, now }: Dependencies,
  code: string,
  price: Price | null,
  { customer, redeemed }: CouponCaller,
): Promise<FoundCoupon> {
  const promotion = await fetchPromotionCode(stripe, code, customer);
  const coupon = promotion?.promotion.coupon;
  // The coupon offered to readers who cancel isn't accepted at checkout.
  const isRetention = typeof coupon === 'object' && coupon?.id === rules.stay?.coupon;
  if (!promotion || !coupon || typeof coupon === 'string' || coupon.deleted || isRetention) {
    return throwRefused(404, couponMessages.unknown, { code: 'coupon_unknown' });
  }
  if (!isSameCode(code, redeemed)) refuseEnded(coupon, promotion, now());
  if (price) refuseOtherPlan(coupon, promotion, price);
  const only = idOf(promotion.customer);
  if (only !== null && only !== customer)
    return throwRefused(400, couponMessages.otherReader, { code: 'coupon_customer' });
  if (promotion.restrictions.first_time_transaction && !(await isNew(stripe, customer))) {
    return throwRefused(400, couponMessages.firstTime, { code: 'coupon_first_time' });
  }
  return { coupon, discount: { promotion_code: promotion.id } };
}

/** Whether two codes are one, or none is given: Stripe doesn't distinguish upper and lower case. */
export const isSameCode = (one: string | null | undefined, other: string | null | undefined): boolean =>
  one?.toLowerCase() === other?.toLowerCase();

/** The same code may exist many times: for all customers, or once for each of many. */
async function fetchPromotionCode(
  stripe: Stripe,
  code: string,
  customer: string | null,
): Promise<Stripe.PromotionCode | null> {
  const expand = [
    'data.promotion.coupon.applies_to',
    'data.promotion.coupon.currency_options',
    'data.restrictions.currency_options',
  ];
  const list = async (params: Stripe.PromotionCodeListParams): Promise<readonly Stripe.PromotionCode[]> =>
    (await stripe.promotionCodes.list({ code, expand, ...params })).data;
  const [owns, data] = await Promise.all([
    // Requested separately, because it may not be on the first page among other customers' codes.
    customer === null ? [] : list({ customer, active: true, limit: 1 }).catch(ifMissing([])),
    list({ limit: 10 }),
  ]);
  const active = data.filter((one) => one.active);
  return owns[0] ?? active.find((one) => one.customer === null) ?? active[0] ?? data[0] ?? null;
}

async function isNew(stripe: Stripe, customer: string | null): Promise<boolean> {
  if (customer === null) return true;
  const { data } = await stripe.charges.list({ customer, limit: 100 });
  return !data.some(({ paid }) => paid);
}

/** @param now epoch milliseconds @throws Refused if it is used up or has expired */
function refuseEnded(coupon: Stripe.Coupon, promotion: Stripe.PromotionCode, now: number): void {
  const isUsed = [coupon, promotion].some(
    ({ max_redemptions: most, times_redeemed: times }) => most !== null && times >= most,
  );
  if (isUsed) throwRefused(400, couponMessages.used, { code: 'coupon_used' });
  const ends = [coupon.redeem_by, promotion.expires_at].filter((end) => end !== null);
  if (!coupon.valid || !promotion.active || ends.some((end) => end * 1000 <= now)) {
    throwRefused(400, couponMessages.expired, { code: 'coupon_expired' });
  }
}

/** @throws Refused when it isn't for this plan */
function refuseOtherPlan(coupon: Stripe.Coupon, promotion: Stripe.PromotionCode, price: Price): void {
  const { unit_amount: amount, currency, product, promotion: promo } = price;
  const other = (): never => throwRefused(400, couponMessages.otherPlan, { code: 'coupon_plan' });
  const only = coupon.applies_to?.products ?? [];
  if (only.length > 0 && !only.includes(product.id)) other();
  if (coupon.amount_off !== null && amountOff(coupon, currency) === null) other();
  const { minimum_amount: least, minimum_amount_currency: of, currency_options: options } = promotion.restrictions;
  if (least === null) return;
  const own = of === currency ? least : options?.[currency]?.minimum_amount;
  const first = promo ? promo.amount : amount;
  if (own === undefined || first < own) other();
}

/** The amount that a coupon deducts in a currency, minor units; `null`: it isn't a fixed amount. */
export function amountOff(
  { amount_off: own, currency: of, currency_options: options }: Stripe.Coupon,
  currency: string,
): number | null {
  return of === currency ? own : (options?.[currency]?.amount_off ?? null);
}

/** By Stripe's calendar: a month after January 31 is the last day of February. @param at epoch milliseconds */
export function monthsAfter(at: number, months: number): number {
  const date = new Date(at);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  return date.setUTCDate(Math.min(day, lastDay));
}
