import { describe, expect, it, test } from 'vitest';
import {
  asMarkup,
  cleanComment,
  cleanName,
  commentsPath,
  countText,
  initialsOf,
  lengthOf,
  longestName,
  nameProblem,
  threadPath,
  tintOf,
} from './model.ts';
import { commentLabels } from './schema.ts';

describe('a comment', () => {
  it('keeps its paragraphs and loses invisible characters', () => {
    expect(cleanComment('  One\t two \r\n three\r\n\r\n\r\n\r\nfour\u2028five  ')).toBe('One two\nthree\n\nfour\nfive');
    expect(cleanComment('pass\u200bword \u202eevil\u202c \u2066x\u2069 \ufeff\u00ad\u0007y')).toBe('password evil x y');
    expect(cleanComment('\u{e0041}flag')).toBe('flag');
    // Letters and signs that are blank: Hangul fillers, a combining joiner, the end of a musical beam, Braille without dots.
    expect(cleanComment('a\u3164\u115f\u1160\uffa0\u034f\u{1d174}b\u2800c')).toBe('ab c');
    expect(cleanComment('\u3164\n\u2800')).toBe('');
  });

  it('keeps emoji, other scripts and combining marks, but limits stacked marks', () => {
    const family = '👩‍👩‍👧';
    expect(cleanComment(`${family} שלום می‌خواهم é`)).toBe(`${family} שלום می‌خواهم é`.normalize('NFC'));
    expect(cleanComment(`Z${'\u0301'.repeat(40)}`).length).toBeLessThan(8);
    expect(cleanComment('a\u200d\u200d\u200db')).toBe('a\u200db');
    const scotland = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}';
    expect(cleanComment(`${scotland}\u200b\u{e0067}`)).toBe(scotland);
    // Which form of an emoji or of a Han character is shown.
    expect(cleanComment('❤\ufe0f 葛\u{e0100}')).toBe('❤\ufe0f 葛\u{e0100}');
    expect(cleanComment('half \ud83d')).toBe('half \ufffd');
  });

  it('is escaped so that markup is shown as typed', () => {
    expect(asMarkup('<script>alert(1)</script> & "so"')).toBe('&lt;script&gt;alert(1)&lt;/script&gt; &amp; "so"');
    expect(asMarkup('&amp; &lt;')).toBe('&amp;amp; &amp;lt;');
  });

  it('has its length counted in visible characters', () => expect(lengthOf('👍🏽é')).toBe(3));
});

test.each([
  ['Ada Lovelace', null],
  ['  Jörg \u202eO’Neil ', null],
  ['李小龍', null],
  ['', /enter the name/],
  ['\u3164\u3164', /enter the name/],
  ['A', /two letters/],
  ['1234', /two letters/],
  ['ada@example.com', /not an address/],
  ['buy at www.example.com', /not an address/],
  ['https://x.example', /not an address/],
  ['x'.repeat(longestName + 1), /at most 50/],
])('the name %j is accepted, or rejected with the right message', (given, problem) => {
  const found = nameProblem(cleanName(given));
  if (problem === null) expect(found).toBeNull();
  else expect(found).toMatch(problem);
});

test('a name has initials, and always the same tint', () => {
  expect(['Ada Lovelace', 'cleo', 'Jean-Luc van der Berg', '李小龍', '🙂'].map(initialsOf)).toEqual([
    'AL',
    'C',
    'JB',
    '李',
    '',
  ]);
  expect(tintOf('Ada', 4)).toBe(tintOf('Ada', 4));
  const tints = new Set(['Ada', 'Ben', 'Cleo', 'Dan', 'Eve', 'Fay', 'Gus', 'Hal'].map((name) => tintOf(name, 4)));
  expect(tints.size).toBeGreaterThan(2);
});

test('the address of the first page of comments has no page parameter', () => {
  expect(commentsPath('a-slug')).toBe('/article/a-slug/comments');
  expect(commentsPath('a-slug', 3)).toBe('/article/a-slug/comments?page=3');
  expect(threadPath('a-slug', 7)).toBe('/article/a-slug/comments/7');
  expect(threadPath('a-slug', 7, 2)).toBe('/article/a-slug/comments/7?page=2');
});

test('counts are written with singular, plural and thousands separator', () => {
  expect([countText(0, 'comment'), countText(1, 'reply', 'replies'), countText(1204, 'comment')]).toEqual([
    '0 comments',
    '1 reply',
    '1,204 comments',
  ]);
});

it.each([
  [2, '2 characters left.'],
  [1, '1 character left.'],
  [0, '0 characters left.'],
  [-1, '1 character too many.'],
  [-2, '2 characters too many.'],
])('the form says how many characters are left or too many: %i', (count, words) => {
  expect(commentLabels.left(count)).toBe(words);
});
