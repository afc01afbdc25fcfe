/** Coupons and promotion codes: who may redeem them, which lines they apply to, and until when. */

import type { StripeAccount } from '../core/account.ts';
import { invalid, noSuch } from '../core/errors.ts';
import type { Coupon, Customer, Discount, Line, PromotionCode, Subscription } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { couponValid, promotionActive } from '../core/present.ts';
import { addIntervals } from './calendar.ts';

export interface RequestedDiscount {
  readonly coupon: Coupon;
  readonly code: PromotionCode | null;
  /** A discount that the subscription already has. */
  readonly existing?: Discount;
}

/**
 * The discounts that `discounts[0][coupon]`, `[promotion_code]` or `[discount]` request.
 *
 * @returns `undefined` without the parameter, `[]` if all are removed
 * @throws {ApiError} 400 for codes that are unknown, expired, used up or another customer's
 */
export function readDiscounts(
  account: StripeAccount,
  params: Params,
  customer: Customer,
): RequestedDiscount[] | undefined {
  const given = params.list('discounts');
  if (given === undefined) return undefined;
  return (given ?? []).map((one) => {
    const [couponId, codeId, discountId] = [one.text('coupon'), one.text('promotion_code'), one.text('discount')];
    if (discountId) {
      const discount = account.need('discount', discountId, one.name('discount'));
      return { coupon: account.need('coupon', discount.source.coupon), code: null, existing: discount };
    }
    if (codeId) return { ...checkCode(account, codeId, customer, one.name('promotion_code')) };
    if (!couponId)
      throw invalid('Each discount must specify a coupon, a promotion code or a discount.', one.name('coupon'));
    const coupon = account.store.find('coupon', couponId);
    if (!coupon) throw noSuch('coupon', couponId, one.name('coupon'), 400);
    checkCoupon(account, coupon, customer, one.name('coupon'));
    return { coupon, code: null };
  });
}

function checkCoupon(account: StripeAccount, coupon: Coupon, customer: Customer, param: string): void {
  const now = account.now(customer);
  if (coupon.redeem_by !== null && now >= coupon.redeem_by) {
    throw invalid(`Coupon expired: ${coupon.id}`, param, 'coupon_expired');
  }
  if (!couponValid(coupon, now)) {
    throw invalid(`Coupon ${coupon.id} is used up and cannot be applied.`, param, 'coupon_expired');
  }
}

function checkCode(account: StripeAccount, id: string, customer: Customer, param: string): RequestedDiscount {
  const code = account.store.find('promotion_code', id);
  const coupon = code && account.store.find('coupon', code.promotion.coupon);
  if (!code || !coupon) throw noSuch('promotion code', id, param, 400);
  const now = account.now(customer);
  if (!promotionActive(code, coupon, now)) {
    const expired = code.expires_at !== null && now >= code.expires_at;
    // Stripe's message for used-up codes; no error code is documented for them (docs.stripe.com/error-codes).
    throw expired
      ? invalid('This promotion code is expired.', param, 'coupon_expired')
      : invalid('This promotion code is inactive.', param);
  }
  if (code.customer !== null && code.customer !== customer.id) {
    throw invalid('This promotion code cannot be redeemed because it belongs to a different customer.', param);
  }
  if (code.restrictions.first_time_transaction && hasPaid(account, customer)) {
    throw invalid(
      'This promotion code cannot be redeemed because the associated customer has prior transactions.',
      param,
      'promotion_code_customer_not_first_time',
    );
  }
  return { coupon, code };
}

/** Checks that a purchase reaches the code's minimum amount, before discounts. @throws {ApiError} 400 */
export function checkMinimum(
  requested: readonly RequestedDiscount[] | undefined,
  subtotal: number,
  currency: string,
): void {
  for (const { code } of requested ?? []) {
    const { minimum_amount: own, minimum_amount_currency: of, _minimums: others } = code?.restrictions ?? {};
    if (own == null) continue;
    const minimum = of === currency ? own : others?.[currency];
    if (minimum !== undefined && subtotal >= minimum) continue;
    throw invalid(
      'This promotion code cannot be redeemed because the associated purchase does not meet the minimum amount requirement.',
      'discounts[0][promotion_code]',
    );
  }
}

const hasPaid = (account: StripeAccount, customer: Customer): boolean =>
  [...account.store.all('invoice')].some((invoice) => invoice.customer === customer.id && invoice.amount_paid > 0);

/** Replaces a subscription's discounts; each new one is a redemption. */
export function setDiscounts(
  account: StripeAccount,
  subscription: Subscription,
  requested: readonly RequestedDiscount[],
): void {
  const kept = requested.flatMap((one) => one.existing?.id ?? []);
  for (const id of subscription.discounts) if (!kept.includes(id)) account.store.remove('discount', id);
  for (const { coupon } of requested) checkCouponCurrency(coupon, subscription.currency);
  account.store.touch(subscription);
  subscription.discounts = requested.map((one) => one.existing?.id ?? redeem(account, subscription, one).id);
}

/** @throws {ApiError} 400 for an amount in another currency (docs.stripe.com/billing/subscriptions/coupons, `currency_options`) */
function checkCouponCurrency(coupon: Coupon, currency: string): void {
  if (coupon.amount_off === null || amountOff(coupon, currency) !== undefined) return;
  throw invalid(
    `You cannot combine currencies on a single customer. The coupon \`${coupon.id}\` takes an amount in \`${coupon.currency}\` off, and the subscription's currency is \`${currency}\`.`,
    'discounts',
  );
}

function redeem(account: StripeAccount, subscription: Subscription, { coupon, code }: RequestedDiscount): Discount {
  const start = account.now(subscription);
  coupon.times_redeemed += 1;
  account.store.touch(coupon);
  if (code) {
    code.times_redeemed += 1;
    account.store.touch(code);
  }
  const months = coupon.duration === 'repeating' ? (coupon.duration_in_months ?? 1) : null;
  return account.add('discount', {
    object: 'discount',
    checkout_session: null,
    customer: subscription.customer,
    customer_account: null,
    end: months === null ? null : addIntervals(start, { interval: 'month', interval_count: months }),
    invoice: null,
    invoice_item: null,
    promotion_code: code?.id ?? null,
    source: { type: 'coupon', coupon: coupon.id },
    start,
    subscription: subscription.id,
    subscription_item: null,
  });
}

/** Discounts of a subscription that apply at a moment. */
export const activeDiscounts = (account: StripeAccount, ids: readonly string[], moment: number): Discount[] =>
  ids.flatMap((id) => {
    const discount = account.store.find('discount', id);
    return discount && !discount._usedUp && (discount.end === null || moment < discount.end) ? discount : [];
  });

/** Rounds to minor units, halves away from zero, as Stripe does. */
export const round = (amount: number): number => Math.sign(amount) * Math.round(Math.abs(amount));

/** The amount off of a coupon in a currency; `undefined` if it has none. */
const amountOff = (
  { amount_off: own, currency: of, _amounts: others }: Coupon,
  currency: string,
): number | undefined => (of === currency ? (own ?? undefined) : others?.[currency]);

/** Applies the discounts to the lines one after another, each to the amounts that the previous ones left. */
export function applyDiscounts(account: StripeAccount, lines: readonly Line[], discounts: readonly Discount[]): void {
  const left = new Map(lines.map((line) => [line, line.discountable && line.amount > 0 ? line.amount : 0]));
  for (const line of lines) line.discount_amounts = [];
  for (const discount of discounts) {
    const coupon = account.store.find('coupon', discount.source.coupon);
    if (!coupon) continue;
    const eligible = lines.filter(
      (line) =>
        (left.get(line) ?? 0) > 0 &&
        (coupon._products.length === 0 || coupon._products.includes(line.pricing.price_details.product)) &&
        (coupon.percent_off !== null || amountOff(coupon, line.currency) !== undefined),
    );
    const whole = eligible.reduce((sum, line) => sum + (left.get(line) ?? 0), 0);
    let fixed = Math.min(amountOff(coupon, eligible[0]?.currency ?? '') ?? 0, whole);
    let rest = whole;
    for (const line of eligible) {
      const own = left.get(line) ?? 0;
      const amount =
        coupon.percent_off === null ? round((fixed * own) / rest) : round((own * coupon.percent_off) / 100);
      if (coupon.percent_off === null) fixed -= amount;
      rest -= own;
      if (amount <= 0) continue;
      line.discount_amounts.push({ amount, discount: discount.id });
      left.set(line, own - amount);
    }
  }
  for (const line of lines) line.discounts = [];
}

/** What a line costs after discounts. */
export const net = (line: Line): number =>
  line.amount - line.discount_amounts.reduce((sum, { amount }) => sum + amount, 0);
