/**
 * Prices for everybody out of one question: however many ask, the provider is asked once in an interval, and not at all while
 * nobody reads. While it is away the last good prices stand, each with its age, and it is left alone longer each time.
 */
import type { Logger } from '../logging.ts';
import { percentText } from './format.ts';
import { type Market, type MarketRules, type Quote, type QuoteProvider, QuotesAway } from './service.ts';
import { type QuotesAccess, twelveData } from './twelve-data.server.ts';
import type { TickerItem } from './wire.ts';

export interface MarketOptions {
  readonly provider: QuoteProvider;
  readonly rules: MarketRules;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

/** Longest rest of a provider that is away, in milliseconds. */
const longestRest = 600_000;
/** Prices older than so many intervals are called stale: one question may fail without anybody seeing it. */
const staleAfter = 2.5;

/** `null` where no provider is set. */
export const openMarket = (access: QuotesAccess | null, rules: MarketRules, log: Logger): Market | null =>
  access && createMarket({ provider: twelveData(access), rules, log });

export function createMarket({ provider, rules, log, now = Date.now }: MarketOptions): Market {
  const everyMs = rules.everySeconds * 1000;
  const symbols = rules.symbols.map(({ symbol }) => symbol);
  const last = new Map<string, Quote & { readonly at: number }>();
  let askAt = Number.NEGATIVE_INFINITY;
  let failures = 0;
  let asking: Promise<void> | null = null;

  async function ask(): Promise<void> {
    try {
      const quotes = await provider.quotes(symbols);
      const at = now();
      for (const [symbol, quote] of quotes) last.set(symbol, { ...quote, at });
      if (failures > 0) log.info({}, 'The provider of prices answers again');
      failures = 0;
      askAt = at + everyMs;
    } catch (error) {
      failures++;
      const rest = error instanceof QuotesAway ? (error.restMs ?? 0) : 0;
      askAt = now() + Math.min(longestRest, Math.max(rest, everyMs * 2 ** Math.min(failures - 1, 10)));
      // The message names neither the key nor the address.
      const problem = error instanceof QuotesAway ? error.message : (error as Error).name;
      if (failures === 1) log.warn({ problem }, 'The provider of prices does not answer; the last good ones stand');
    }
  }

  function known(): TickerItem[] {
    return rules.symbols.flatMap(({ symbol, name }) => {
      const quote = last.get(symbol);
      if (!quote) return [];
      const { price, change, percent, at } = quote;
      const age = now() - at;
      return {
        name,
        price,
        change,
        symbol,
        changePercent: percentText(percent),
        asOf: new Date(at).toISOString(),
        stale: age > staleAfter * everyMs,
      };
    });
  }

  return {
    known,
    async quotes() {
      const wait = askAt - now();
      // Longer than anybody waits: the clock was set back.
      if (!asking && (wait <= 0 || wait > longestRest + everyMs)) {
        asking = ask().finally(() => {
          asking = null;
        });
      }
      // Whoever can be told something does not wait for a provider that may be slow, unless it is too old to be told.
      const items = known();
      if (asking && (items.length === 0 || items.some(({ stale }) => stale))) {
        await asking;
        return known();
      }
      return items;
    },
  };
}
