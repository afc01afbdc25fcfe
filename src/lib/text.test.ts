import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countWords, plainText, readingMinutes, truncateAtWord } from './text.ts';

test('the words of markup have no space that a reader doesn’t see', () => {
  const html =
    '<p>The <a href="/x">bridge</a>, H<sub>2</sub>O &amp; <em>“why”</em>.</p><ul><li>One</li><li>Two<br>three</li></ul>';
  expect(plainText(html)).toBe('The bridge, H2O & “why”. One Two three');
});

describe('truncateAtWord', () => {
  test('what fits is left alone but for white space', () => {
    expect(truncateAtWord('  One\n two ', 7)).toBe('One two');
  });
  test('it cuts at a word and drops a trailing comma', () => {
    expect(truncateAtWord('The harbor, at last, is open again', 13)).toBe('The harbor…');
  });
  test('a word longer than the limit is cut', () => expect(truncateAtWord('Donaudampfschiff', 6)).toBe('Donau…'));
  test('it counts characters as a reader does and tears none', () => {
    expect(truncateAtWord('🗞️🗞️🗞️🗞️🗞️', 4)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/u);
  });
  test('never longer than asked, never in the middle of a word that a space precedes', () => {
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

test('words and minutes', () => {
  expect(countWords('')).toBe(0);
  expect(countWords(' a  b\nc ')).toBe(3);
  expect(readingMinutes(0)).toBe(1);
  expect(readingMinutes(2300)).toBe(10);
});
