import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countWords, plainText, readingMinutes, truncateAtWord } from './text.ts';

test('plainText adds spaces between blocks, but not around inline elements', () => {
  const html =
    '<p>The <a href="/x">bridge</a>, H<sub>2</sub>O &amp; <em>“why”</em>.</p><ul><li>One</li><li>Two<br>three</li></ul>';
  expect(plainText(html)).toBe('The bridge, H2O & “why”. One Two three');
});

describe('truncateAtWord', () => {
  test('leaves text that fits unchanged except for white space', () => {
    expect(truncateAtWord('  One\n two ', 7)).toBe('One two');
  });
  test('cuts at a word and drops a trailing comma', () => {
    expect(truncateAtWord('The harbor, at last, is open again', 13)).toBe('The harbor…');
  });
  test('cuts a word that is longer than the limit', () => expect(truncateAtWord('Donaudampfschiff', 6)).toBe('Donau…'));
  test('does not split an emoji’s surrogate pair', () => {
    expect(truncateAtWord('🗞️🗞️🗞️🗞️🗞️', 4)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/u);
  });
  test('never returns more characters than the limit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 12 })),
        fc.integer({ min: 2, max: 200 }),
        (words, limit) => {
          const cut = truncateAtWord(words.join(' '), limit);
          expect([...cut].length).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });
});

test('words are counted, and reading time is at least one minute', () => {
  expect(countWords('')).toBe(0);
  expect(countWords(' a  b\nc ')).toBe(3);
  expect(readingMinutes(0)).toBe(1);
  expect(readingMinutes(2300)).toBe(10);
});
