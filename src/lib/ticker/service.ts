/** Prices of the market ticker as routes and pages see them; `market.server.ts` makes the service. */
import type { TickerItem } from './wire.ts';

/** One price, as a provider says it. */
export interface Quote {
  readonly price: number;
  /** Since the last closing price. */
  readonly change: number;
  readonly percent: number;
}

/** Where prices come from. Another vendor is another one of these. */
export interface QuoteProvider {
  /**
   * Prices by symbol; what it does not know is left out.
   *
   * @throws QuotesAway
   */
  quotes(symbols: readonly string[]): Promise<ReadonlyMap<string, Quote>>;
}

/** The provider did not give prices. */
export class QuotesAway extends Error {
  /** Milliseconds that it wants to be left alone; `null`: it does not say. */
  readonly restMs: number | null;

  constructor(message: string, restMs: number | null = null) {
    super(message);
    this.name = 'QuotesAway';
    this.restMs = restMs;
  }
}

export interface MarketRules {
  readonly symbols: readonly { readonly symbol: string; readonly name: string }[];
  /** Seconds between two questions to the provider, while anybody asks. */
  readonly everySeconds: number;
}

export interface Market {
  /** The newest prices; the last good ones, with their age, while the provider is away. Never rejects. */
  quotes(): Promise<readonly TickerItem[]>;
  /** What is known without asking anybody. */
  known(): readonly TickerItem[];
}
