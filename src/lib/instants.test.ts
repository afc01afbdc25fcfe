import { describe, expect, test } from 'vitest';
import { isDay } from './instants.ts';

describe('a day of the calendar', () => {
  test.each(['2026-11-29', '2024-02-29', '0001-01-01'])('%s is one', (text) => expect(isDay(text)).toBe(true));
  test.each(['2026-02-29', '2026-13-01', '2026-1-1', '2026-11-29T00:00', ' 2026-11-29', '2026-11-29\n', ''])(
    '%j is none',
    (text) => expect(isDay(text)).toBe(false),
  );
});
