import { afterEach, describe, expect, it, vi } from 'vitest';
import { profileProblems } from './messages.ts';
import { formatUsPhone, profileProblem, readProfileForm, usPhoneDigits } from './profile.ts';

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

describe('a date of birth', () => {
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['', true],
    ['1990-02-03', true],
    ['2026-11-20', true],
    ['2026-11-21', false],
    ['2990-01-01', false],
    ['1990-02-30', false],
  ])('%o is accepted: %s', (day, isAccepted) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20, 12) });
    expect(profileProblem({ date_of_birth: day })).toBe(isAccepted ? null : profileProblems.invalidBirthday);
    const read = readProfileForm((name) => (name === 'birthday' ? day : null));
    expect('profile' in read).toBe(isAccepted);
  });
});

it('a pasted tab or another control character in a form becomes a space', () => {
  const pasted: Readonly<Record<string, string>> = { first_name: '\tAda\u0007', address: '12 Main St\t\r\nApt 4' };
  const read = readProfileForm((name) => pasted[name] ?? null);
  expect(read).toEqual({ profile: { first_name: 'Ada', address: '12 Main St \nApt 4' } });
  expect(profileProblem('profile' in read ? read.profile : {})).toBeNull();
});
