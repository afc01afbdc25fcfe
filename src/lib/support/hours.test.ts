import { describe, expect, it } from 'vitest';
import { supportHours } from './hours.ts';

const at = (instant: string) => supportHours(Date.parse(instant));

describe('support is open on weekdays from nine to five in New York', () => {
  it.each([
    // Winter: UTC-5. A Friday.
    ['2026-11-20T13:59:59Z', 'We’re offline until 9 a.m. ET today.'],
    ['2026-11-20T14:00:00Z', 'We’re online now, until 5 p.m. ET.'],
    ['2026-11-20T21:59:59Z', 'We’re online now, until 5 p.m. ET.'],
    ['2026-11-20T22:00:00Z', 'We’re offline until Monday at 9 a.m. ET.'],
    ['2026-11-21T13:00:00Z', 'We’re offline until Monday at 9 a.m. ET.'],
    ['2026-11-21T17:00:00Z', 'We’re offline until Monday at 9 a.m. ET.'],
    ['2026-11-22T17:00:00Z', 'We’re offline until tomorrow at 9 a.m. ET.'],
    // Still Sunday in New York although it is Monday in London.
    ['2026-11-23T04:00:00Z', 'We’re offline until tomorrow at 9 a.m. ET.'],
    // Summer: UTC-4.
    ['2026-07-07T12:59:59Z', 'We’re offline until 9 a.m. ET today.'],
    ['2026-07-07T13:00:00Z', 'We’re online now, until 5 p.m. ET.'],
    ['2026-07-07T21:00:00Z', 'We’re offline until tomorrow at 9 a.m. ET.'],
    // The clocks change on Sunday the 8th of March and on Sunday the 1st of November.
    ['2026-03-06T13:30:00Z', 'We’re offline until 9 a.m. ET today.'],
    ['2026-03-09T13:30:00Z', 'We’re online now, until 5 p.m. ET.'],
    ['2026-11-02T13:30:00Z', 'We’re offline until 9 a.m. ET today.'],
    // Midnight is the hour 0, not 24.
    ['2026-11-20T05:00:00Z', 'We’re offline until 9 a.m. ET today.'],
  ])('%s: %s', (instant, words) => expect(at(instant)).toEqual({ open: words.startsWith('We’re online'), words }));
});

describe('support is closed on holidays', () => {
  it.each([
    ['2026-11-26T16:00:00Z', 'tomorrow'], // Thanksgiving
    ['2026-12-25T16:00:00Z', 'Monday'],
    ['2027-01-01T16:00:00Z', 'Monday'],
    ['2026-01-19T16:00:00Z', 'tomorrow'], // the third Monday of January
    ['2026-02-16T16:00:00Z', 'tomorrow'],
    ['2026-05-25T16:00:00Z', 'tomorrow'], // the last Monday of May
    ['2026-06-19T16:00:00Z', 'Monday'],
    ['2026-07-03T16:00:00Z', 'Monday'], // the fourth is a Saturday
    ['2026-09-07T16:00:00Z', 'tomorrow'],
    ['2026-10-12T16:00:00Z', 'tomorrow'], // the second Monday of October
    ['2026-11-11T16:00:00Z', 'tomorrow'],
    ['2028-11-10T16:00:00Z', 'Monday'], // the eleventh is a Saturday
    ['2021-12-31T16:00:00Z', 'Monday'], // the first of January 2022 is a Saturday
    ['2023-01-02T16:00:00Z', 'tomorrow'], // the first is a Sunday
  ])('%s: back %s', (instant, when) => expect(at(instant).words).toBe(`We’re offline until ${when} at 9 a.m. ET.`));

  it('which are skipped when the next open day is named', () => {
    expect(at('2026-12-24T23:00:00Z').words).toBe('We’re offline until Monday at 9 a.m. ET.');
    expect(at('2026-11-25T23:00:00Z').words).toBe('We’re offline until Friday at 9 a.m. ET.');
  });
});
