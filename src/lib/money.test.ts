import { describe, expect, test } from 'vitest';
import { formatMoney } from './money.ts';

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
  ])('%i %o is %s', (minor, options, text) => expect(formatMoney(minor, options)).toBe(text));
  test('refuses what is no amount', () => {
    expect(() => formatMoney(Number.NaN)).toThrow(RangeError);
    expect(() => formatMoney(100, { currency: 'dollars' })).toThrow(RangeError);
  });
});
