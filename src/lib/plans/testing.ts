/** A catalog as the payment provider's, for tests. */
import type { Price } from '../billing/schema.ts';

/** Makes a price; tests pass only the fields that matter to them. */
export const price = (zephrPlanId: string, product: string, part: Partial<Price> = {}): Price => ({
  id: `price_${zephrPlanId}`,
  name: zephrPlanId,
  unit_amount: 12_000,
  currency: 'usd',
  recurring: { interval: 'year', interval_count: 1 },
  zephrPlanId,
  pennyHeading: null,
  pennySubheading: null,
  promotion: null,
  print: false,
  product: { id: `prod_${product}`, name: product, metadata: { zephr_product_id: product } },
  ...part,
});

const month = { interval: 'month', interval_count: 1 } as const;

export const catalog: readonly Price[] = [
  price('member-print-yearly', 'sun-member', { unit_amount: 28_000, print: true }),
  price('reader-yearly', 'sun-reader'),
  price('reader-monthly', 'sun-reader', { unit_amount: 1200, recurring: month }),
  price('reader-penny', 'sun-reader', {
    pennyHeading: 'Read the Sun for a PENNY A DAY',
    pennySubheading: 'Full dues ($120/year) billed after 60 days',
    promotion: { offer: 'to_reader_penny', next: 'price_reader-yearly', days: 60, amount: 60 },
  }),
  price('member-monthly', 'sun-member', { unit_amount: 2000, recurring: month }),
  price('member-yearly', 'sun-member', { unit_amount: 20_000 }),
];
