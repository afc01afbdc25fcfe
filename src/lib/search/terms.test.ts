import { expect, test } from 'vitest';
import { searchTerms } from './question.ts';

const of = (q: string) => searchTerms(new URLSearchParams({ q }));

test('what was typed, without white space at its ends', () => {
  expect(of('  harbor pilots ')).toBe('harbor pilots');
  expect(searchTerms(new URLSearchParams())).toBe('');
});

test('a long query is cut between characters, so that it can still be written into an address', () => {
  const cut = of(`${'a'.repeat(199)}😀😀`);
  expect(cut).toBe('a'.repeat(199));
  expect(() => encodeURIComponent(cut)).not.toThrow();
  expect(of('a'.repeat(300))).toHaveLength(200);
  expect(of(`${'a'.repeat(198)}😀`)).toBe(`${'a'.repeat(198)}😀`);
});
