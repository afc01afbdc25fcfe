import { describe, expect, it } from 'vitest';
import { formatUsPhone, usPhoneDigits } from './profile.ts';

describe('a US phone number as it is typed', () => {
  it.each([
    ['', ''],
    ['+', '+1 '],
    ['+1 ', '+1 '],
    ['1', '+1 '],
    ['2', '+1 (2'],
    ['12', '+1 (2'],
    ['212', '+1 (212)'],
    ['1212555', '+1 (212) 555'],
    ['2125550183', '+1 (212) 555-0183'],
    ['12125550183', '+1 (212) 555-0183'],
    ['1 212.555.0183', '+1 (212) 555-0183'],
    ['+1 (212) 555-01834', '+1 (212) 555-0183'],
    ['+44 20 7946 0000', '+44 20 7946 0000'],
  ])('%o becomes %o', (typed, formed) => {
    expect(formatUsPhone(typed)).toBe(formed);
    // Formatting the result again changes nothing: the field may be formatted at every key.
    expect(formatUsPhone(formed)).toBe(formed);
  });
});

describe('the digits of a US phone number', () => {
  it.each([
    ['', ''],
    ['+1 ', ''],
    ['+1 (212) 555-0183', '12125550183'],
    ['12125550183', '12125550183'],
    ['2125550183', null],
    ['+1 (212) 555-018', null],
    ['22125550183', null],
    ['+44 20 7946 0000', null],
    ['12125550183 ext', null],
  ])('typed as %o are %o', (typed, digits) => expect(usPhoneDigits(typed)).toBe(digits));
});
