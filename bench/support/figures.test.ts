import { expect, it } from 'vitest';
import { percentile, wholeFlag } from './figures.ts';

it('takes percentiles of values in any order', () => {
  const values = [5, 1, 4, 2, 3];
  expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([1, 3, 5, 5]);
  expect(values[0]).toBe(5);
  expect(percentile([], 0.5)).toBe(0);
});

it('refuses flags that are no whole numbers', () => {
  expect(wholeFlag('edits', undefined, 200)).toBe(200);
  expect(wholeFlag('edits', '40', 200)).toBe(40);
  expect(() => wholeFlag('edits', '4o', 200)).toThrow('--edits 4o');
});
