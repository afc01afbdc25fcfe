/**
 * How readings add up while they lose half of their weight in every half-life. A reading at time t is worth 2^(t / halfLife); the
 * heat of an article is the binary logarithm of the sum of its readings' worth. So what was counted once never has to be
 * written again: as time goes by, new readings are worth more instead of old ones less, and the order by heat is right at
 * any moment. The logarithm keeps the number small for ever.
 */

/** Heat of so many readings that were made together. @param at epoch milliseconds @param halfLife milliseconds */
export const heatOf = (readings: number, at: number, halfLife: number): number => Math.log2(readings) + at / halfLife;

/** Heat of the readings of both. */
export function together(a: number, b: number): number {
  const difference = Math.abs(a - b);
  const larger = Math.max(a, b);
  return difference > 64 ? larger : larger + Math.log2(1 + 2 ** -difference);
}

/** How many readings made just now would be worth as much. */
export const readingsNow = (heat: number, now: number, halfLife: number): number => 2 ** (heat - now / halfLife);
