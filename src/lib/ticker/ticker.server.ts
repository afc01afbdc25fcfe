/**
 * Prices for all readers out of one request: the provider is asked once in an interval, however many readers ask. While it is
 * unavailable the last known prices stay, each with its time, and it is asked less and less often.
 */
import { type RepeatedTask, repeat } from '../jobs/tasks.ts';
import type { Logger } from '../logging.ts';
import {
  percentText,
  type Quote,
  type QuoteProvider,
  QuotesUnavailable,
  type Ticker,
  type TickerItem,
  type TickerRules,
} from './model.ts';

import { type QuotesAccess, twelveData } from './twelve-data.server.ts';

export interface TickerOptions {
  readonly provider: QuoteProvider;
  readonly rules: TickerRules;
  readonly log: Logger;
  /** Called when pages show other prices than the newest, at most every `rules.pageMinutes`. */
  readonly onChange?: () => void;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

export interface RunningTicker extends Ticker {
  /** Asks the provider now and every `rules.pageMinutes`, so that the prices of pages are never older. */
  start(): void;
  stop(): void;
}

/** Longest wait for a provider that is unavailable, in milliseconds. */
const longestRest = 600_000;
/** Prices older than so many intervals are stale: readers notice no single failed request. */
const staleAfter = 2.5;

/** `null` where no provider is set. */
export const openTicker = (
  access: QuotesAccess | null,
  options: Omit<TickerOptions, 'provider'>,
): RunningTicker | null => access && createTicker({ ...options, provider: twelveData(access) });

export function createTicker({ provider, rules, log, onChange, now = Date.now }: TickerOptions): RunningTicker {
  const everyMs = rules.everySeconds * 1000;
  const symbols = rules.symbols.map(({ symbol }) => symbol);
  const last = new Map<string, Quote & { readonly at: number }>();
  let askAt = Number.NEGATIVE_INFINITY;
  let failures = 0;
  let asking: Promise<void> | null = null;
  /** The prices that pages were last rendered with. */
  let onPages = '[]';
  let refreshing: RepeatedTask | undefined;

  async function ask(): Promise<void> {
    try {
      const quotes = await provider.quotes(symbols);
      const at = now();
      for (const [symbol, quote] of quotes) last.set(symbol, { ...quote, at });
      if (failures > 0) log.info({}, 'The provider of prices responds again');
      failures = 0;
      askAt = at + everyMs;
    } catch (error) {
      failures++;
      const rest = error instanceof QuotesUnavailable ? (error.restMs ?? 0) : 0;
      askAt = now() + Math.min(longestRest, Math.max(rest, everyMs * 2 ** Math.min(failures - 1, 10)));
      // The message names neither the key nor the address.
      const problem = error instanceof QuotesUnavailable ? error.message : (error as Error).name;
      if (failures === 1) log.warn({ problem }, 'The provider of prices does not respond; the last known prices stay');
    }
  }

  /** Asks unless the provider was asked within the interval. */
  function askIfDue(): void {
    const wait = askAt - now();
    // A longer wait than the longest means that the clock was set back.
    if (asking || (wait > 0 && wait <= longestRest + everyMs)) return;
    asking = ask().finally(() => {
      asking = null;
    });
  }

  function known(): TickerItem[] {
    return rules.symbols.flatMap(({ symbol, name }) => {
      const quote = last.get(symbol);
      if (!quote) return [];
      const { price, change, percent, at } = quote;
      const changePercent = percentText(percent);
      const stale = now() - at > staleAfter * everyMs;
      return { name, price, change, symbol, changePercent, asOf: new Date(at).toISOString(), stale };
    });
  }

  async function refreshPages(): Promise<void> {
    askIfDue();
    await asking;
    const newest = JSON.stringify([...last].map(([symbol, { price, change }]) => [symbol, price, change]));
    if (newest === onPages) return;
    onPages = newest;
    onChange?.();
  }

  return {
    known,
    async quotes() {
      askIfDue();
      const items = known();
      // Readers wait for the provider only if there are no fresh prices.
      if (!asking || (items.length > 0 && !items.some(({ stale }) => stale))) return items;
      await asking;
      return known();
    },
    start() {
      refreshing ??= repeat(rules.pageMinutes * 60_000, refreshPages, (error) =>
        log.error({ err: error }, 'Rendering pages with new prices failed'),
      );
      refreshing.runNow();
    },
    stop: () => void refreshing?.stop(),
  };
}
