/**
 * The sequential test: whether the counts so far prove that a headline is better than the story's own. It may be evaluated after every
 * reading: of tests with equally good headlines, the share that ever names a winner stays below {@link errorRate}.
 *
 * Readers are assigned at random and evenly. If two headlines are equally good, each reading of one of the two is the toss of a fair coin,
 * at any time and with any number of readers. The alternative is a mixture of all other coins, weighted by a symmetric beta distribution.
 * If the coin is fair, the ratio of the two likelihoods is a martingale, so the probability that it ever exceeds 1/α is at most α (Ville's
 * inequality; Robbins 1970; Johari and others, "Always Valid Inference", 2022). Each headline is compared with the story's own, and α is
 * divided by the number of these comparisons.
 */

/** The share of tests of equal headlines that may end with a winner. */
export const errorRate = 0.05;
/** Fewest readings before a test can end: the first readings come from the newspaper's most faithful readers. */
export const fewestReadings = 200;
/**
 * Concentration of the beta distribution: most of its weight is on headlines whose readings differ by up to a third. Larger and
 * smaller differences are found as well, a little later.
 */
const concentration = 60;

export type Verdict =
  | { readonly kind: 'open' }
  /** The headline with this number is better than the story's own; 0: the story's own is better than all others. */
  | { readonly kind: 'won'; readonly headline: number };

/** The natural logarithm of the likelihood ratio of two headlines' readings. */
export function evidence(first: number, second: number): number {
  const both = first + second;
  return (
    logBeta(concentration + first, concentration + second) - logBeta(concentration, concentration) + both * Math.LN2
  );
}

/** @param readings of each headline, the story's own first */
export function verdictOf(readings: readonly number[]): Verdict {
  const [own = 0, ...others] = readings;
  const total = readings.reduce((sum, count) => sum + count, 0);
  if (others.length === 0 || total < fewestReadings) return { kind: 'open' };
  const needed = Math.log(others.length / errorRate);
  const proven = others.map((count) => evidence(own, count) >= needed);
  const best = Math.max(...others);
  // If any headline is proven better, the one with the most readings is among them, because its evidence is the strongest.
  if (best > own && proven[others.indexOf(best)]) return { kind: 'won', headline: others.indexOf(best) + 1 };
  return others.every((count, at) => count < own && proven[at]) ? { kind: 'won', headline: 0 } : { kind: 'open' };
}

/**
 * How certain it is that a headline is better, or worse, than the story's own: from 0 to below 1. At 1 − {@link errorRate} the test ends.
 *
 * @param compared number of headlines in addition to the story's own
 */
export const certaintyOf = (own: number, other: number, compared: number): number =>
  Math.max(0, 1 - compared * Math.exp(-evidence(own, other)));

const logBeta = (a: number, b: number): number => logGamma(a) + logGamma(b) - logGamma(a + b);

/** The logarithm of the gamma function of a number of at least 10, by Stirling's series: exact to 13 digits. */
function logGamma(x: number): number {
  const inverse = 1 / x;
  const square = inverse * inverse;
  const series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))));
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series;
}
