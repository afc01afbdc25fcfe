/** Coupons and promotion codes: who may use them, what they take off which lines, and until when. */

import type { StripeAccount } from '../core/account.ts';
import { invalid, noSuch } from '../core/errors.ts';
import type { Coupon, Customer, Discount, Line, PromotionCode, Subscription } from '../core/model.ts';
import type { Params } from '../core/params.ts';
import { couponValid, promotionActive } from '../core/present.ts';
import { addIntervals } from './calendar.ts';

export interface Granted {
  readonly coupon: Coupon;
  readonly code: PromotionCode | null;
  /** A discount that the subscription already has and keeps. */
  readonly kept?: Discount;
}

/**
 * The discounts that `discounts[0][coupon]`, `[promotion_code]` or `[discount]` request.
 *
 * @returns `undefined` without the parameter, `[]` if all are removed
 * @throws {ApiError} 400 for codes that are unknown, expired, used up or another customer's
 */
export function readDiscounts(account: StripeAccount, params: Params, customer: Customer): Granted[] | undefined {
  const given = params.list('discounts');
  if (given === undefined) return undefined;
  return (given ?? []).map((one) => {
    const [couponId, codeId, kept] = [one.text('coupon'), one.text('promotion_code'), one.text('discount')];
    if (kept) {
      const discount = account.need('discount', kept, one.name('discount'));
      return { coupon: account.need('coupon', discount.source.coupon), code: null, kept: discount };
    }
    if (codeId) return { ...checkCode(account, codeId, customer, one.name('promotion_code')) };
    if (!couponId) throw invalid('A discount needs a coupon, a promotion code or a discount.', one.name('coupon'));
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

function checkCode(account: StripeAccount, id: string, customer: Customer, param: string): Granted {
  const code = account.store.find('promotion_code', id);
  const coupon = code && account.store.find('coupon', code.promotion.coupon);
  if (!code || !coupon) throw noSuch('promotion code', id, param, 400);
  const now = account.now(customer);
  if (!promotionActive(code, coupon, now)) {
    const over = code.expires_at !== null && now >= code.expires_at;
    // Stripe's message for used-up codes; no error code is documented for them (docs.stripe.com/error-codes).
    throw over
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
export function checkMinimum(granted: readonly Granted[] | undefined, subtotal: number, currency: string): void {
  for (const { code } of granted ?? []) {
    const { minimum_amount: own, minimum_amount_currency: of, _minimums: others } = code?.restrictions ?? {};
    if (own == null) continue;
    const least = of === currency ? own : others?.[currency];
    if (least !== undefined && subtotal >= least) continue;
    throw invalid(
      'This promotion code cannot be redeemed because the associated purchase does not meet the minimum amount requirement.',
      'discounts[0][promotion_code]',
    );
  }
}

const hasPaid = (account: StripeAccount, customer: Customer): boolean =>
  [...account.store.all('invoice')].some((invoice) => invoice.customer === customer.id && invoice.amount_paid > 0);

/** Replaces a subscription's discounts; each new one is a redemption. */
export function grantDiscounts(account: StripeAccount, subscription: Subscription, granted: readonly Granted[]): void {
  const kept = granted.flatMap((one) => one.kept?.id ?? []);
  for (const id of subscription.discounts) if (!kept.includes(id)) account.store.remove('discount', id);
  for (const { coupon } of granted) mustTakeOffIn(coupon, subscription.currency);
  account.store.touch(subscription);
  subscription.discounts = granted.map((one) => one.kept?.id ?? redeem(account, subscription, one).id);
}

/** @throws {ApiError} 400 for an amount in another currency (docs.stripe.com/billing/subscriptions/coupons, `currency_options`) */
function mustTakeOffIn(coupon: Coupon, currency: string): void {
  if (coupon.amount_off === null || amountOff(coupon, currency) !== undefined) return;
  throw invalid(
    `You cannot combine currencies on a single customer. The coupon \`${coupon.id}\` takes an amount in \`${coupon.currency}\` off, and the subscription's currency is \`${currency}\`.`,
    'discounts',
  );
}

function redeem(account: StripeAccount, subscription: Subscription, { coupon, code }: Granted): Discount {
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

/** What a coupon takes off in a currency; `undefined`: nothing. */
const amountOff = (
  { amount_off: own, currency: of, _amounts: others }: Coupon,
  currency: string,
): number | undefined => (of === currency ? (own ?? undefined) : others?.[currency]);

/** Takes the discounts off the lines one after another, each from what the previous ones left. */
export function applyDiscounts(account: StripeAccount, lines: readonly Line[], discounts: readonly Discount[]): void {
  const left = new Map(lines.map((line) => [line, line.discountable && line.amount > 0 ? line.amount : 0]));
  for (const line of lines) line.discount_amounts = [];
  for (const discount of discounts) {
    const coupon = account.store.find('coupon', discount.source.coupon);
    if (!coupon) continue;
    const fitting = lines.filter(
      (line) =>
        (left.get(line) ?? 0) > 0 &&
        (coupon._products.length === 0 || coupon._products.includes(line.pricing.price_details.product)) &&
        (coupon.percent_off !== null || amountOff(coupon, line.currency) !== undefined),
    );
    const whole = fitting.reduce((sum, line) => sum + (left.get(line) ?? 0), 0);
    let fixed = Math.min(amountOff(coupon, fitting[0]?.currency ?? '') ?? 0, whole);
    let rest = whole;
    for (const line of fitting) {
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
