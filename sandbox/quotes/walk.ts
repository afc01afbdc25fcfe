/**
 * Prices that move: each symbol follows a random walk around yesterday's closing price, slightly drawn back to it, so that prices stay
 * believable even after a week.
 */

/** A random number from 0 to below 1. */
export type Chance = () => number;

export interface Walk {
  /** The price now, and yesterday's closing price. */
  readonly price: number;
  readonly close: number;
}

/** Start prices of well-known symbols; others get one of their own. */
const starts: Readonly<Record<string, number>> = {
  SPX: 6731.4,
  DJI: 47_112.8,
  IXIC: 22_870.3,
  'XAU/USD': 4121.6,
  'WTI/USD': 61.84,
  'EUR/USD': 1.1583,
  'BTC/USD': 96_420,
};

/** Largest step, and how strongly the price is drawn to yesterday's, both as parts of the price. */
const step = 0.0012;
const pull = 0.02;

function startOf(symbol: string): number {
  let sum = 7;
  for (const sign of symbol) sum = (sum * 31 + (sign.codePointAt(0) ?? 0)) % 9973;
  return 20 + sum / 20;
}

/** Prices of all symbols, which move one step with each request. */
export function createWalks(chance: Chance = Math.random): (symbol: string) => Walk {
  const walks = new Map<string, Walk>();
  return (symbol) => {
    const close = walks.get(symbol)?.close ?? starts[symbol] ?? startOf(symbol);
    // The day's first price differs somewhat from yesterday's last.
    const before = walks.get(symbol)?.price ?? close * (1 + (chance() - 0.5) * 0.02);
    const price = before * (1 + (chance() - 0.5) * 2 * step) + (close - before) * pull;
    const walk = { price, close };
    walks.set(symbol, walk);
    return walk;
  };
}
