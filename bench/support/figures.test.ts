import { expect, it } from 'vitest';
import { median, percentile, wholeFlag } from './figures.ts';

it('percentile accepts values in any order, and does not reorder them', () => {
  const values = [5, 1, 4, 2, 3];
  expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([1, 3, 5, 5]);
  expect(values[0]).toBe(5);
  expect(percentile([], 0.5)).toBe(0);
});

it('wholeFlag refuses a flag that is not a whole number', () => {
  expect(wholeFlag('edits', undefined, 200)).toBe(200);
  expect(wholeFlag('edits', '40', 200)).toBe(40);
  expect(() => wholeFlag('edits', '4o', 200)).toThrow('--edits 4o');
});

it('the median is the value in the middle, or the mean of the two', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1])).toBe(2.5);
  expect(median([])).toBeNaN();
});
