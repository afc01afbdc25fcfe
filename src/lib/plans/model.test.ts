import { expect, test } from 'vitest';
import { pennyRate, pennyTerms, priceLabel, priceOf, tier, tiers, yearlySaving } from './model.ts';

test('the tiers are named as the spec names them, in order', () => {
  expect(tiers.map(({ id, name }) => [id, name])).toEqual([
    ['sun-reader', 'Sun Reader'],
    ['sun-member', 'Sun Member'],
    ['sun-founder', 'Sun Founder'],
  ]);
});

test('standard plans: $12 a month, $120 a year', () => {
  const reader = tier('sun-reader');
  expect(reader.prices.map(priceLabel)).toEqual(['$12/month', '$120/year']);
  expect(yearlySaving(reader)).toBe(16);
});

test('the penny promotion speaks the words of the spec', () => {
  expect(pennyRate()).toBe('$0.01/Day');
  expect(pennyTerms()).toBe('Full dues ($120/year) billed after 60 days');
});

test('a tier by arrangement has no price and saves nothing', () => {
  expect(priceOf(tier('sun-founder'), 'year')).toBeNull();
  expect(yearlySaving(tier('sun-founder'))).toBe(0);
});

test('print is a price of its own', () => {
  expect(priceOf(tier('sun-member'), 'year', true)?.print).toBe(true);
  expect(priceOf(tier('sun-reader'), 'year', true)).toBeNull();
});

test('an unknown tier is an error', () => {
  expect(() => tier('sun-king' as never)).toThrow(RangeError);
});
