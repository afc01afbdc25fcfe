import { describe, expect, it } from 'vitest';
import { limitOf, parseTracked, withTracked } from './model.ts';

describe('the articles that a browser has counted', () => {
  it.each([null, '', 'no json', '{"1":2}', '5'])('are none if %o is stored', (text) => {
    expect(parseTracked(text)).toEqual([]);
  });

  it('are listed once each, newest last, and at most 500', () => {
    expect(parseTracked('[3,"4",null,"x",1.5]')).toEqual([3, 4]);
    expect(withTracked([1, 2, 3], 2)).toEqual([1, 3, 2]);
    const many = Array.from({ length: 500 }, (_, index) => index);
    expect(withTracked(many, 900)).toHaveLength(500);
    expect(withTracked(many, 900).at(-1)).toBe(900);
  });
});

describe('request parameters', () => {
  it('are accepted as a limit only if they are whole numbers above 0', () => {
    expect(['4', 'many', '0', '-1', '1e3', null].map(limitOf)).toEqual([4, ...Array(5)]);
  });
});
