/** The prices of a page's ticker, as a store: those of the page first, then those that the server is asked for. */
import { map, type ReadableAtom } from 'nanostores';
import type { TickerItem } from '../../lib/ticker/schema.ts';

export interface Prices {
  readonly $prices: ReadableAtom<{
    readonly shown: readonly TickerItem[];
    /** Whether the server has been asked. */
    readonly live: boolean;
  }>;
  /** Asks for the newest prices. Those that don't come stay, and are marked as stale. */
  refresh(): Promise<void>;
}

async function askPrices(): Promise<readonly TickerItem[]> {
  try {
    const response = await fetch('/api/v1/stocks/quote');
    return response.ok ? ((await response.json()) as TickerItem[]) : [];
  } catch {
    return [];
  }
}

/** @param first prices of the page */
export function createPrices(first: readonly TickerItem[]): Prices {
  const $prices = map({ shown: first, live: false });
  return {
    $prices,
    async refresh() {
      const fresh = await askPrices();
      const known = new Set(fresh.map(({ symbol }) => symbol));
      const left = $prices.get().shown.filter(({ symbol }) => !known.has(symbol));
      $prices.set({ shown: [...fresh, ...left.map((item) => ({ ...item, stale: true }))], live: true });
    },
  };
}
