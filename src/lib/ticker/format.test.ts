import { describe, expect, it } from 'vitest';
import { changeText, directionOf, percentText, priceText } from './format.ts';

describe('numbers of the ticker', () => {
  it.each([
    [47_112.8, -12.345, '47,112.80', '−12.35', 'down'],
    [1.1583, 0.0012, '1.1583', '+0.0012', 'up'],
    [96.2, 0.001, '96.20', '0.00', 'same'],
    [96.2, 0, '96.20', '0.00', 'same'],
  ] as const)('%d with %d', (price, change, written, changed, direction) => {
    expect(priceText(price)).toBe(written);
    expect(changeText(change, price)).toBe(changed);
    expect(directionOf(change, price)).toBe(direction);
  });

  it('writes percentages with their sign in parentheses', () => {
    expect([0.5171, -0.5171, 0].map(percentText)).toEqual(['(+0.52%)', '(−0.52%)', '(0.00%)']);
  });
});
