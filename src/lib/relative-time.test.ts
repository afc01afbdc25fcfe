import { describe, expect, it } from 'vitest';
import { relativeText } from './relative-time.ts';

const now = Date.parse('2026-11-21T12:00:00Z');

describe('relativeText', () => {
  it.each([
    ['2026-11-21T11:59:30Z', 'just now'],
    ['2026-11-21T11:55:00Z', '5 minutes ago'],
    ['2026-11-21T10:59:00Z', '1 hour ago'],
    ['2026-11-15T12:00:00Z', '6 days ago'],
  ])('says of %s “%s”', (instant, text) => {
    expect(relativeText(instant, now)).toBe(text);
  });

  it('leaves a week-old moment, a moment ahead and nonsense to the date', () => {
    expect(relativeText('2026-11-14T12:00:00Z', now)).toBeNull();
    expect(relativeText('2026-11-21T12:05:00Z', now)).toBeNull();
    expect(relativeText('soon', now)).toBeNull();
  });
});
