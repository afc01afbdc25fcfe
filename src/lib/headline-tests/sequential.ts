/**
 * The sequential test: whether the counts so far prove a headline better than the story's own. It may be asked after every reading,
 * as often as editors like: the share of tests of equal headlines that ever name a winner stays below {@link errorRate}.
 *
 * Readers are shared out at random and evenly. If two headlines are equally good, each reading by a reader of one of both is the toss of a fair
 * coin, at any time and however many readers a page has. Against that stands a mixture of all other coins, weighted by a symmetric
 * beta distribution. The ratio of both likelihoods is a martingale while the coin is fair, and so exceeds 1/α at any time at all
 * with a probability of α at most (Ville's inequality; Robbins 1970; Johari and others, "Always Valid Inference", 2022). Each
 * headline is compared with the story's own, and α is divided by the number of these comparisons.
 */

/** The share of tests of equal headlines that may end with a winner. */
export const errorRate = 0.05;
/** Fewest readings of a test before it can end: the first ones are those of the newspaper's most faithful readers. */
export const fewestReadings = 200;
/**
 * Concentration of the beta distribution: most of its weight is on headlines whose readings differ by up to a third. Others are
 * found as well, a little later.
 */
const concentration = 60;

export type Verdict =
  | { readonly kind: 'open' }
  /** The headline with this number is better than the story's own; 0: all others are worse. */
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
  // Whatever headline has the most readings is among those that are proven better, if any is: its evidence is the largest.
  if (best > own && proven[others.indexOf(best)]) return { kind: 'won', headline: others.indexOf(best) + 1 };
  return others.every((count, at) => count < own && proven[at]) ? { kind: 'won', headline: 0 } : { kind: 'open' };
}

/**
 * How certain it is that a headline is better, or that it is worse, than the story's own: 0 to below 1. At 1 − {@link errorRate} the test ends.
 *
 * @param compared number of headlines beside the story's own
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
