import { describe, expect, it } from 'vitest';
import { certaintyOf, errorRate, evidence, fewestReadings, verdictOf } from './sequential.ts';

/**
 * The logarithm of the ratio, computed by adding up the predictions one reading at a time: exact, and independent of the gamma
 * function.
 */
function evidenceBySteps(first: number, second: number): number {
  let [a, b, sum] = [60, 60, 0];
  for (let at = 0; at < first + second; at++) {
    const isFirst = at < first;
    sum += Math.log((isFirst ? a : b) / (a + b)) + Math.LN2;
    if (isFirst) a++;
    else b++;
  }
  return sum;
}

/** Random numbers that are the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('the evidence for one of two headlines', () => {
  it.each([
    [0, 0],
    [1, 0],
    [100, 100],
    [400, 300],
    [10, 5000],
    [100_000, 101_000],
  ])('for %i and %i readings equals the sum computed one reading at a time', (first, second) => {
    expect(evidence(first, second)).toBeCloseTo(evidenceBySteps(first, second), 6);
    expect(evidence(second, first)).toBeCloseTo(evidence(first, second), 9);
  });

  it('is a martingale: one more reading leaves its expected value unchanged', () => {
    for (const [a, b] of [
      [0, 0],
      [50, 80],
      [900, 850],
    ] as const) {
      const next = (Math.exp(evidence(a + 1, b)) + Math.exp(evidence(a, b + 1))) / 2;
      expect(next / Math.exp(evidence(a, b))).toBeCloseTo(1, 9);
    }
  });
});

describe('the verdict of a headline test', () => {
  it('stays open below 200 readings, however clear they are', () => {
    expect(verdictOf([0, fewestReadings - 1])).toEqual({ kind: 'open' });
    expect(verdictOf([0, fewestReadings])).toEqual({ kind: 'won', headline: 1 });
  });

  it('names the best of the headlines that are proven better than the story’s own', () => {
    expect(verdictOf([1000, 1300, 1350, 900])).toEqual({ kind: 'won', headline: 2 });
    expect(verdictOf([1000, 1010, 1020])).toEqual({ kind: 'open' });
  });

  it('names the story’s own headline only when all others are proven worse', () => {
    expect(verdictOf([1400, 1000])).toEqual({ kind: 'won', headline: 0 });
    expect(verdictOf([1400, 1000, 1390])).toEqual({ kind: 'open' });
  });

  it('needs stronger evidence the more headlines are compared', () => {
    const [own, other] = [1000, 1147];
    expect(verdictOf([own, other]).kind).toBe('won');
    expect(verdictOf([own, other, own, own]).kind).toBe('open');
  });

  it('stays open without a second headline', () => {
    expect(verdictOf([])).toEqual({ kind: 'open' });
    expect(verdictOf([5000])).toEqual({ kind: 'open' });
  });

  it('is a win exactly when the certainty reaches 95%', () => {
    for (const [own, other] of [
      [1000, 1100],
      [1000, 1200],
      [5000, 5200],
      [900, 700],
    ] as const) {
      expect(verdictOf([own, other]).kind === 'won').toBe(certaintyOf(own, other, 1) >= 1 - errorRate);
    }
    expect(certaintyOf(0, 0, 3)).toBe(0);
  });

  it.each([2, 3, 4])(
    'names a winner among %i equally good headlines in at most 5% of tests, even if checked every ten readings',
    (headlines) => {
      const random = randomFrom(headlines);
      const tests = 1000;
      let winners = 0;
      for (let test = 0; test < tests; test++) {
        const readings = new Array<number>(headlines).fill(0);
        for (let total = 1; total <= 2000; total++) {
          const headline = Math.floor(random() * headlines);
          readings[headline] = (readings[headline] ?? 0) + 1;
          if (total % 10 === 0 && verdictOf(readings).kind === 'won') {
            winners++;
            break;
          }
        }
      }
      expect(winners / tests).toBeLessThanOrEqual(errorRate);
    },
  );
});
