import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../lib/access/decide.ts';
import { countReading, parseReadings, type Reading } from './meter.ts';

const rules = { days: 30, anonymous: 2 };
const now = Date.UTC(2026, 10, 21);
const day = 86_400_000;

describe('countReading', () => {
  test('counts an article once, and stops counting at the limit', () => {
    const first = countReading([], 1, now, rules);
    expect(first).toEqual({ readings: [[1, now]], over: false });
    expect(countReading(first.readings, 1, now + 5, rules)).toEqual(first);
    const second = countReading(first.readings, 2, now + 6, rules);
    expect(second.over).toBe(false);
    const third = countReading(second.readings, 3, now + 7, rules);
    expect(third).toEqual({ readings: second.readings, over: true });
    expect(countReading(third.readings, 2, now + 8, rules).over).toBe(false);
  });
  test('forgets readings that are too old, or dated in the future', () => {
    const kept: Reading[] = [
      [1, now - 30 * day],
      [2, now - 30 * day + 1],
      [3, now + day],
    ];
    expect(countReading(kept, 4, now, rules)).toEqual({
      readings: [
        [2, now - 30 * day + 1],
        [4, now],
      ],
      over: false,
    });
  });
  test('agrees with the table of access rules', () => {
    const facts = { authenticated: false, paying: false, promotion: false, timed: false, gift: false } as const;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 12 }), (articles) => {
        let kept: readonly Reading[] = [];
        for (const [at, article] of articles.entries()) {
          const seen = new Set(kept.map(([id]) => id));
          const meter = seen.has(article) ? 'counted' : seen.size < rules.anonymous ? 'left' : 'over';
          const { outcome } = decide({ ...facts, subject: 'default', meter });
          const counted = countReading(kept, article, now + at, rules);
          expect(counted.over).toBe(outcome.paywall === 'soft');
          expect(counted.readings.length > kept.length).toBe(outcome.count);
          kept = counted.readings;
        }
      }),
    );
  });
});

describe('parseReadings', () => {
  test.each([
    [null, []],
    ['', []],
    ['{', []],
    ['{}', []],
    [
      '[[1,2],[3],["a",4],null,[5,6,7],[8,9]]',
      [
        [1, 2],
        [8, 9],
      ],
    ],
  ])('drops what is not a reading from %s', (text, expected) => expect(parseReadings(text)).toEqual(expected));
});
