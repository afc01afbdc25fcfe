import { describe, expect, it } from 'vitest';
import { relativeText } from './relative-time.ts';

const now = Date.parse('2026-11-21T12:00:00Z');

describe('relativeText', () => {
  it.each([
    ['2026-11-21T11:59:30Z', 'just now'],
    ['2026-11-21T11:55:00Z', '5 minutes ago'],
    ['2026-11-21T10:59:00Z', '1 hour ago'],
    ['2026-11-15T12:00:00Z', '6 days ago'],
  ])('describes %s as “%s”', (instant, text) => {
    expect(relativeText(instant, now)).toBe(text);
  });

  it('is null for a time a week ago, a future time and invalid text', () => {
    expect(relativeText('2026-11-14T12:00:00Z', now)).toBeNull();
    expect(relativeText('2026-11-21T12:05:00Z', now)).toBeNull();
    expect(relativeText('soon', now)).toBeNull();
  });
});
