import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { dateAndTime, isoInZone, longDate, mastheadDay } from './dates.ts';
import { dayInZone, longDayInZone } from './day-in-zone.ts';
import { ago } from './relative-time.ts';

describe('dates in New York', () => {
  test('change at midnight in New York, not in UTC', () => {
    expect(mastheadDay('2026-11-22T04:59:59Z')).toBe('Saturday, November 21, 2026');
    expect(mastheadDay('2026-11-22T05:00:00Z')).toBe('Sunday, November 22, 2026');
    expect(longDate('2026-01-01T04:00:00Z')).toBe('December 31, 2025');
    expect(dayInZone('2026-07-01T03:59:59Z')).toBe('2026-06-30');
    expect(longDayInZone('2026-07-01T03:59:59Z')).toBe('June 30, 2026');
  });
  test('jump over the hour that daylight saving skips', () => {
    expect(dateAndTime('2026-03-08T06:59:00Z')).toBe('March 8, 2026, 1:59 a.m. ET');
    expect(dateAndTime('2026-03-08T07:00:00Z')).toBe('March 8, 2026, 3:00 a.m. ET');
    expect(isoInZone('2026-03-08T07:00:00Z')).toBe('2026-03-08T03:00:00-04:00');
  });
  test('keep their offset in the hour that occurs twice', () => {
    expect(isoInZone('2026-11-01T05:30:00Z')).toBe('2026-11-01T01:30:00-04:00');
    expect(isoInZone('2026-11-01T06:30:00Z')).toBe('2026-11-01T01:30:00-05:00');
  });
  test('are in UTC before the zone had an offset of whole minutes', () => {
    expect(isoInZone('1850-07-04T12:00:00Z')).toBe('1850-07-04T12:00:00Z');
    expect(isoInZone('1890-07-04T12:00:00Z')).toBe('1890-07-04T07:00:00-05:00');
  });
  test.each(['UTC', 'Europe/London', 'Asia/Beirut'])(
    'are the same on a server in the zone %s, even in the hour that its zone skips',
    (TZ) => {
      const code = `import { dateAndTime, isoInZone } from ${JSON.stringify(new URL('./dates.ts', import.meta.url).href)};
      for (const hour of ['04', '05']) console.log(dateAndTime(\`2026-03-29T\${hour}:30:00Z\`), isoInZone(\`2026-03-29T\${hour}:30:00Z\`));`;
      const env = { PATH: process.env.PATH, TZ };
      const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', env });
      expect(printed.trim().split('\n')).toEqual([
        'March 29, 2026, 12:30 a.m. ET 2026-03-29T00:30:00-04:00',
        'March 29, 2026, 1:30 a.m. ET 2026-03-29T01:30:00-04:00',
      ]);
    },
  );
});

describe('a relative time', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  test.each([
    [0, 'just now'],
    [59, 'just now'],
    [-3600, 'just now'],
    [60, '1 minute ago'],
    [119, '1 minute ago'],
    [3599, '59 minutes ago'],
    [3600, '1 hour ago'],
    [86_399, '23 hours ago'],
    [86_400, '1 day ago'],
    [29 * 86_400, '29 days ago'],
    [30 * 86_400, '1 month ago'],
    [365 * 86_400, '1 year ago'],
    [800 * 86_400, '2 years ago'],
  ])('writes %i seconds as “%s”', (seconds, text) => expect(ago(now - seconds * 1000, now)).toBe(text));
  test('writes an invalid date as “just now”', () => expect(ago('nonsense', now)).toBe('just now'));
});
