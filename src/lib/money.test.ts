import { describe, expect, test } from 'vitest';
import { formatMoney, formatReceipt, formatSum, formatTaxed } from './money.ts';

describe('formatMoney', () => {
  test.each([
    [12_000, {}, '$120'],
    [1200, {}, '$12'],
    [1, { cents: true }, '$0.01'],
    [12_000, { cents: true }, '$120.00'],
    [123_456_789, { cents: true }, '$1,234,567.89'],
    [0, {}, '$0'],
    [-1200, {}, '-$12'],
    [1250, {}, '$13'],
    [500, { currency: 'eur' }, '€5'],
    [500, { currency: 'GBP', cents: true }, '£5.00'],
    [500, { currency: 'jpy' }, '¥500'],
    [500, { currency: 'jpy', cents: true }, '¥500'],
    [12_340, { currency: 'kwd', cents: true }, 'KWD\u00a012.340'],
    // Stripe uses two decimals, although the króna has none.
    [500, { currency: 'isk' }, 'ISK\u00a05'],
    // The same for a currency whose decimals people leave out.
    [490_000, { currency: 'huf' }, 'HUF\u00a04,900'],
    [490_050, { currency: 'huf', cents: true }, 'HUF\u00a04,900.50'],
    [5_900_000, { currency: 'cop' }, 'COP\u00a059,000'],
    [490_000, { currency: 'pkr', cents: true }, 'PKR\u00a04,900.00'],
  ])('formats %i with %o as %s', (minor, options, text) => expect(formatMoney(minor, options)).toBe(text));
  test('throws a RangeError for NaN and an unknown currency', () => {
    expect(() => formatMoney(Number.NaN)).toThrow(RangeError);
    expect(() => formatMoney(100, { currency: 'dollars' })).toThrow(RangeError);
  });
});

test.each([
  [12_000, 'usd', '$120'],
  [60, 'usd', '$0.60'],
  [1250, 'jpy', '¥1,250'],
  [12_345, 'kwd', 'KWD\u00a012.345'],
])('formatSum formats %i in %s as %s', (minor, currency, text) => expect(formatSum(minor, currency)).toBe(text));

test('formatReceipt always shows cents, and shows tax separately', () => {
  expect(formatReceipt(1200, null, 'usd')).toBe('$12.00');
  expect(formatReceipt(1299, { amount: 99, included: false }, 'usd')).toBe('$12.99 ($12.00 + $0.99 tax)');
});

describe('formatTaxed', () => {
  test.each([
    [1299, { amount: 99, included: false }, 'usd', '$12.00 + $0.99 tax'],
    [1000, { amount: 167, included: true }, 'gbp', '£10 including £1.67 tax'],
    [1200, null, 'usd', '$12'],
    [1200, { amount: 0, included: false }, 'usd', '$12'],
  ])('formats %i with %o in %s as %s', (total, tax, currency, text) =>
    expect(formatTaxed(total, tax, currency)).toBe(text),
  );
});
