import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readingsNow, scoreOf, together } from './scores.server.ts';

const day = 86_400_000;
const now = Date.UTC(2026, 10, 21);

describe('heat', () => {
  it('loses half of a reading’s weight in each half-life', () => {
    const heat = scoreOf(8, now, day);
    expect(readingsNow(heat, now, day)).toBeCloseTo(8, 6);
    expect(readingsNow(heat, now + day, day)).toBeCloseTo(4, 6);
    expect(readingsNow(heat, now + 3 * day, day)).toBeCloseTo(1, 6);
  });

  it('adds readings in any order to the same sum', () => {
    const reading = fc.record({ count: fc.integer({ min: 1, max: 1000 }), ago: fc.integer({ min: 0, max: 20 * day }) });
    fc.assert(
      fc.property(fc.array(reading, { minLength: 1, maxLength: 30 }), (readings) => {
        const heats = readings.map(({ count, ago }) => scoreOf(count, now - ago, day));
        const forwards = heats.reduce(together);
        const expected = readings.reduce((sum, { count, ago }) => sum + count / 2 ** (ago / day), 0);
        expect(readingsNow(forwards, now, day) / expected).toBeCloseTo(1, 5);
        expect(heats.toReversed().reduce(together)).toBeCloseTo(forwards, 6);
      }),
    );
  });

  it('takes nothing for nothing, and does not fail at what is long gone', () => {
    expect(together(Number.NEGATIVE_INFINITY, 5)).toBe(5);
    expect(together(scoreOf(1, now - 10_000 * day, day), scoreOf(1, now, day))).toBe(scoreOf(1, now, day));
  });
});
