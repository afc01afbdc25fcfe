import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countWords, parseId, plainText, readingMinutes, truncateAtWord } from './text.ts';

test('plainText decodes entities, and adds spaces between blocks but not around inline elements', () => {
  const html =
    '<p>The <a href="/x">bridge</a>, H<sub>2</sub>O &amp; <em>“why”</em>.</p><ul><li>One</li><li>Two<br>three</li></ul>';
  expect(plainText(html)).toBe('The bridge, H2O & “why”. One Two three');
  expect(plainText('It is <strong>t<em>w</em>o</strong>, not&nbsp;ten.')).toBe('It is two, not ten.');
});

describe('truncateAtWord', () => {
  test('leaves text that fits unchanged except for white space', () => {
    expect(truncateAtWord('  One\n two ', 7)).toBe('One two');
  });
  test('cuts at a word and drops a trailing comma', () => {
    expect(truncateAtWord('The harbor, at last, is open again', 13)).toBe('The harbor…');
  });
  test('cuts a word that is longer than the limit', () => expect(truncateAtWord('Donaudampfschiff', 6)).toBe('Donau…'));
  test('keeps as much of a text that has few spaces', () => {
    expect(truncateAtWord(`新华社 ${'北京市政府'.repeat(20)}`, 20)).toBe(`新华社 ${'北京市政府'.repeat(3)}…`);
    expect(truncateAtWord(`See https://example.com/${'a'.repeat(100)}`, 30)).toBe('See https://example.com/aaaaa…');
  });
  test('counts an emoji as one character, and does not split its surrogate pair', () => {
    expect(truncateAtWord('😀😀😀😀', 4)).toBe('😀😀😀😀');
    expect(truncateAtWord('😀😀😀😀😀', 4)).toBe('😀😀😀…');
  });
  test('does not split an emoji, a letter or a flag that consists of several code points', () => {
    expect(truncateAtWord('👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 13)).toBe('👩‍👩‍👧👩‍👩‍👧…');
    expect(truncateAtWord('🇺🇸🇺🇸🇺🇸', 4)).toBe('🇺🇸…');
    expect(truncateAtWord('e\u0301e\u0301e\u0301', 4)).toBe('e\u0301…');
    expect(truncateAtWord(`e${'\u0301'.repeat(9)}`, 4)).toBe('e\u0301\u0301…');
  });
  test('never returns more characters than the limit, and cuts inside a word only without a space in the half before the cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' })),
        fc.integer({ min: 2, max: 200 }),
        (words, limit) => {
          const text = truncateAtWord(words.join(' '), Number.POSITIVE_INFINITY);
          const cut = truncateAtWord(words.join(' '), limit);
          expect([...cut].length).toBeLessThanOrEqual(limit);
          if (cut === text) return;
          const kept = cut.slice(0, -1);
          expect(cut).toBe(`${kept}…`);
          expect(text.startsWith(kept)).toBe(true);
          const half = [...text].slice(0, limit - 1).join('');
          // Punctuation before the cut is dropped.
          if (half.lastIndexOf(' ') > half.length / 2) expect(text.slice(kept.length)).toMatch(/^[\s,;:.–—-]*\s/u);
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

test.each([
  ['1', 1],
  // An old newspaper has millions of comments.
  ['12345678', 12_345_678],
  ['', null],
  ['0', null],
  ['07', null],
  ['-1', null],
  ['1.5', null],
  ['1e3', null],
  ['9'.repeat(16), null],
  ['x', null],
  [' 1', null],
  [null, null],
  [undefined, null],
])('the id %j is read as %j', (given, id) => expect(parseId(given)).toBe(id));
