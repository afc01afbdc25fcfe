import { describe, expect, it } from 'vitest';
import type { OrderState } from './order.ts';
import { penny, price, quoteOf, renewal, yearly } from './testing.ts';
import { lineItems, walletDetails } from './wallet-sheet.ts';

const total = (items: readonly { amount: number }[]) => items.reduce((sum, { amount }) => sum + amount, 0);
const line = (amount: number) => ({ lines: [{ description: '1 × Sun Reader', amount }] });
const tax = { amount: 990, included: false };

describe('line items', () => {
  it.each([
    ['a plan', quoteOf(12_000, line(12_000)), null, ['1 × Sun Reader']],
    ['a coupon', quoteOf(9600, line(12_000)), 'SUNSHINE20', ['1 × Sun Reader', 'Discount (SUNSHINE20)']],
    ['a credit', quoteOf(11_000, line(12_000)), null, ['1 × Sun Reader', 'Discount']],
    ['an open balance', quoteOf(12_500, line(12_000)), null, ['1 × Sun Reader', 'Balance']],
    [
      'tax on top',
      quoteOf(12_990, { ...line(12_000), tax: { today: tax, renewal: tax } }),
      null,
      ['1 × Sun Reader', 'Tax'],
    ],
    [
      'tax within the price',
      quoteOf(12_000, { ...line(12_000), tax: { today: { ...tax, included: true }, renewal: tax } }),
      null,
      ['1 × Sun Reader'],
    ],
  ] as const)('of %s come to what is due, to the cent', (_what, quote, coupon, names) => {
    const items = lineItems(quote, coupon);
    expect(items.map(({ name }) => name)).toEqual(names);
    expect(total(items)).toBe(quote.dueToday);
  });

  it('are none where nothing is due: Stripe.js refuses more than the amount', () => {
    expect(lineItems(quoteOf(0, line(12_000)), 'FREEYEAR')).toEqual([]);
  });
});

describe('what Apple Pay says of later', () => {
  const state = (of: typeof yearly): OrderState => ({
    price: of,
    coupon: { kind: 'none', code: '' },
    quote: null,
    place: null,
    asking: false,
    error: null,
  });
  const recurring = (of: typeof yearly, due: number, later = 12_000) =>
    walletDetails(state(of), quoteOf(due, { dueAfterRenewal: later }), 'https://thesun.example').applePay
      ?.recurringPaymentRequest;

  it('is the same sum at each renewal, and where to end it', () => {
    expect(recurring(yearly, 12_000)).toEqual({
      paymentDescription: 'The Sun: Sun Reader',
      managementURL: 'https://thesun.example/dashboard/account',
      regularBilling: {
        label: 'Sun Reader',
        amount: 12_000,
        recurringPaymentIntervalUnit: 'year',
        recurringPaymentIntervalCount: 1,
      },
    });
  });

  it('tells a first time at another price apart', () => {
    expect(recurring(penny, 60)).toMatchObject({
      trialBilling: { amount: 60, recurringPaymentEndDate: new Date(renewal) },
      regularBilling: { amount: 12_000, recurringPaymentStartDate: new Date(renewal) },
    });
  });

  it('counts a week in days', () => {
    const weekly = price('reader-weekly', 400, { recurring: { interval: 'week', interval_count: 2 } });
    expect(recurring(weekly, 400, 400)?.regularBilling).toMatchObject({
      recurringPaymentIntervalUnit: 'day',
      recurringPaymentIntervalCount: 14,
    });
  });
});
