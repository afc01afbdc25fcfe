/**
 * Prices that move: each symbol follows a random walk around yesterday's closing price, with a slight reversion to it, so that prices stay
 * realistic even after a week.
 */

/** A random number from 0 to below 1, as `Math.random`. */
export type Random = () => number;

export interface SymbolPrice {
  /** The price now, and yesterday's closing price. */
  readonly price: number;
  readonly close: number;
}

/** Start prices of well-known symbols; those of others are computed from their names. */
const startPrices: Readonly<Record<string, number>> = {
  SPX: 6731.4,
  DJI: 47_112.8,
  IXIC: 22_870.3,
  'XAU/USD': 4121.6,
  'WTI/USD': 61.84,
  'EUR/USD': 1.1583,
  'BTC/USD': 96_420,
};

/** The largest step, as a fraction of the price, and the fraction of the distance to yesterday's price that each step closes. */
const maxStep = 0.0012;
const meanReversion = 0.02;

function startPriceOf(symbol: string): number {
  let sum = 7;
  for (const character of symbol) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973;
  return 20 + sum / 20;
}

/** Prices of all symbols, which move one step with each request. */
export function createPrices(random: Random = Math.random): (symbol: string) => SymbolPrice {
  const prices = new Map<string, SymbolPrice>();
  return (symbol) => {
    const close = prices.get(symbol)?.close ?? startPrices[symbol] ?? startPriceOf(symbol);
    // The day's first price differs somewhat from yesterday's last.
    const before = prices.get(symbol)?.price ?? close * (1 + (random() - 0.5) * 0.02);
    const price = before * (1 + (random() - 0.5) * 2 * maxStep) + (close - before) * meanReversion;
    const moved = { price, close };
    prices.set(symbol, moved);
    return moved;
  };
}
