import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTypeAhead, findByPrefix, typeAheadReset } from './type-ahead.ts';

const names = ['Editorials', 'National', 'Foreign', 'Politics', 'Arts+', 'Economy', 'Education', 'Events'];

describe('findByPrefix', () => {
  it('finds the first name with the letter, in either case', () => {
    expect(findByPrefix(names, 'P', -1)).toBe(3);
  });

  it('steps through the names that start with a repeated letter', () => {
    expect(findByPrefix(names, 'e', -1)).toBe(0);
    expect(findByPrefix(names, 'ee', 0)).toBe(5);
    expect(findByPrefix(names, 'eee', 5)).toBe(6);
    expect(findByPrefix(names, 'e', 7)).toBe(0);
  });

  it('narrows the search with more letters, and keeps the current name if it still matches', () => {
    expect(findByPrefix(names, 'ed', 0)).toBe(0);
    expect(findByPrefix(names, 'edu', 0)).toBe(6);
  });

  it('returns -1 if no name matches', () => {
    expect(findByPrefix(names, 'z', 2)).toBe(-1);
    expect(findByPrefix([], 'a', -1)).toBe(-1);
  });
});

describe('createTypeAhead', () => {
  afterEach(() => void vi.useRealTimers());

  it('joins letters typed in succession, and starts over after 350 ms', () => {
    vi.useFakeTimers();
    const find = createTypeAhead();
    expect(find('e', names, -1)).toBe(0);
    expect(find('c', names, 0)).toBe(5);
    vi.advanceTimersByTime(typeAheadReset - 1);
    expect(find('o', names, 5)).toBe(5);
    vi.advanceTimersByTime(typeAheadReset);
    expect(find('n', names, 5)).toBe(1);
    expect(typeAheadReset).toBe(350);
  });
});
