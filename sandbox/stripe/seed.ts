/** The first content of the sandbox's account: products, prices, Trial Offers and coupons, with the metadata of the newspaper's plans. */
import type { StripeAccount } from './core/account.ts';
import type { Coupon, Interval } from './core/model.ts';
import { addCoupon, addPrice, addProduct, addPromotionCode } from './resources/catalog.ts';
import { addTrialOffer } from './resources/trial-offers.ts';
import { registerDomain } from './wallets.ts';

const products = [
  ['prod_reader', 'Sun Reader', 'sun-reader'],
  ['prod_member', 'Sun Member', 'sun-member'],
  ['prod_founder', 'Sun Founder', 'sun-founder'],
] as const;

interface Plan {
  readonly id: string;
  readonly product: string;
  readonly name: string;
  readonly amount: number;
  readonly interval: Interval;
  /** Intervals between two bills; 1 unless given. */
  readonly count?: number;
  /** Amounts in pounds and in euros. */
  readonly otherAmounts: readonly [gbp: number, eur: number];
  readonly metadata?: Record<string, string>;
}

const plans: readonly Plan[] = [
  {
    id: 'reader-monthly',
    product: 'prod_reader',
    name: 'Monthly',
    amount: 1200,
    interval: 'month',
    otherAmounts: [1000, 1100],
  },
  {
    id: 'reader-yearly',
    product: 'prod_reader',
    name: 'Yearly',
    amount: 12_000,
    interval: 'year',
    otherAmounts: [10_000, 11_000],
  },
  {
    id: 'reader-penny',
    product: 'prod_reader',
    name: 'A penny a day',
    amount: 60,
    interval: 'day',
    count: 60,
    otherAmounts: [60, 60],
    metadata: {
      pennyHeading: 'Read the Sun for a PENNY A DAY',
      pennySubheading: 'Full dues ($120/year) billed after 60 days',
    },
  },
  {
    id: 'member-monthly',
    product: 'prod_member',
    name: 'Monthly',
    amount: 2000,
    interval: 'month',
    otherAmounts: [1600, 1800],
  },
  {
    id: 'member-yearly',
    product: 'prod_member',
    name: 'Yearly',
    amount: 20_000,
    interval: 'year',
    otherAmounts: [16_000, 18_000],
  },
  {
    id: 'member-print-yearly',
    product: 'prod_member',
    name: 'Yearly with print',
    amount: 28_000,
    interval: 'year' as const,
    otherAmounts: [22_000, 25_000],
    metadata: { print: 'true' },
  },
];

/** Trial Offers: the price of each, and the price after it. */
const offers = [['to_reader_penny', 'price_reader_penny', 'price_reader_yearly']] as const;

type CouponSeed = Partial<Coupon> & {
  readonly id: string;
  readonly name: string;
  readonly code?: { readonly expires_at?: number; readonly max_redemptions?: number };
};

/** EXPIRED ended on January 1, 2026. */
const ended = Date.UTC(2026, 0, 1) / 1000;

const coupons: readonly CouponSeed[] = [
  { id: 'sunshine-20', name: 'SUNSHINE20', percent_off: 20, duration: 'once' },
  { id: 'ten-off', name: 'TENOFF', amount_off: 1000, currency: 'usd', duration: 'forever' },
  { id: 'free-year', name: 'FREEYEAR', percent_off: 100, duration: 'once' },
  { id: 'expired', name: 'EXPIRED', percent_off: 50, duration: 'once', code: { expires_at: ended } },
  { id: 'once-only', name: 'ONCEONLY', percent_off: 25, duration: 'once', code: { max_redemptions: 1 } },
  // The newspaper's offer to readers who cancel (`billing.stay` in its publication.ts).
  { id: 'stay', name: 'STAY', percent_off: 50, duration: 'repeating', duration_in_months: 12 },
  { id: 'reader-only', name: 'READERONLY', percent_off: 30, duration: 'once', _products: ['prod_reader'] },
];

/** Fills an empty account. Ids are the same in every sandbox. */
export function seed(account: StripeAccount): void {
  if (account.store.count('product') > 0) return;
  account.transaction(() => {
    for (const [id, name, key] of products) addProduct(account, { id, name, metadata: { zephr_product_id: key } });
    for (const { id, product, name, amount, interval, count, otherAmounts, metadata } of plans) {
      addPrice(account, {
        id: `price_${id.replaceAll('-', '_')}`,
        currency: 'usd',
        lookup_key: id,
        metadata: { zephrPlanId: id, ...metadata },
        nickname: name,
        product,
        recurring: { interval, interval_count: count ?? 1 },
        unit_amount: amount,
        _amounts: { gbp: otherAmounts[0], eur: otherAmounts[1] },
      });
    }
    for (const [id, price, next] of offers) addTrialOffer(account, { id, price, next, iterations: 1 });
    for (const coupon of coupons) addCouponWithCode(account, coupon);
  });
  // The sandbox's site is at one of these; the real Stripe accepts only public names.
  for (const name of ['127.0.0.1', 'localhost']) registerDomain(account, name);
  // The seed sends no events.
  account.transaction(() => {
    for (const { id } of [...account.store.all('event')]) account.store.remove('event', id);
  });
}

/** Adds a coupon with the promotion code that readers type. */
function addCouponWithCode(account: StripeAccount, { code, ...coupon }: CouponSeed): void {
  addCoupon(account, coupon);
  addPromotionCode(account, {
    id: `promo_${coupon.id.replaceAll('-', '_')}`,
    code: coupon.name,
    promotion: { coupon: coupon.id, type: 'coupon' },
    ...code,
  });
}
