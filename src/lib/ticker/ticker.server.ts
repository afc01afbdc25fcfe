/**
 * One request gets the prices for all readers: the provider is called at most once in an interval. While it is unavailable the last
 * known prices stay, each with its time, and the pauses between requests get longer. In a cluster one node requests prices for all.
 */
import { tag } from '../content/tags.ts';
import { type RepeatedTask, repeat } from '../jobs/tasks.ts';
import { createFailureLog, type FailureLog, type Logger } from '../logging.ts';
import type { SharedValue } from '../shared-value.ts';
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
  /** Called when pages show outdated prices, at most every `rules.pageMinutes`. */
  readonly onChange?: () => void;
  /** Prices shared by a cluster; without it, this process calls the provider itself. */
  readonly shared?: SharedQuotes | undefined;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

export interface SharedQuotes extends SharedValue {
  /** Tells the node that calls the provider that readers want newer prices. */
  want(): void;
}

/** The prices of a cluster, and those that its pages show. */
interface SharedState {
  readonly quotes: readonly (readonly [symbol: string, quote: KnownQuote])[];
  readonly onPages: string;
}

type KnownQuote = Quote & { readonly at: number };

export interface RunningTicker extends Ticker {
  /** In a cluster, on the node that calls the provider: readers of another node want newer prices. */
  wanted(): void;
  /** In a cluster: from now on this node calls the provider. */
  lead(): void;
  /** Requests prices now and every `rules.pageMinutes`, so that the prices on pages are never older. */
  start(): void;
  stop(): void;
}

/** Longest wait for a provider that is unavailable, in milliseconds. */
const longestRest = 600_000;
/** Prices older than this many intervals are stale: a single failed request doesn't make them stale. */
const staleAfter = 2.5;

/** `null` where no provider is set. */
export const openTicker = (
  access: QuotesAccess | null,
  options: Omit<TickerOptions, 'provider'>,
): RunningTicker | null => access && createTicker({ ...options, provider: twelveData(access) });

interface State extends Required<Pick<TickerOptions, 'provider' | 'rules' | 'log' | 'now'>> {
  readonly onChange: TickerOptions['onChange'];
  readonly shared: SharedQuotes | undefined;
  /** The cluster's prices as last read. */
  sharedText: string | null;
  readonly everyMs: number;
  /** The last known prices by symbol. */
  readonly last: Map<string, KnownQuote>;
  nextRequestAt: number;
  failures: number;
  readonly provided: FailureLog;
  request: Promise<void> | null;
  /** The prices that pages were last rendered with. */
  onPages: string;
}

export function createTicker({ provider, rules, log, onChange, shared, now = Date.now }: TickerOptions): RunningTicker {
  const state: State = {
    provider,
    rules,
    log,
    onChange,
    shared,
    sharedText: null,
    now,
    everyMs: rules.everySeconds * 1000,
    last: new Map(),
    nextRequestAt: Number.NEGATIVE_INFINITY,
    failures: 0,
    provided: createFailureLog(log, 'The provider of prices responds again'),
    request: null,
    onPages: '[]',
  };
  let refreshing: RepeatedTask | undefined;
  return {
    known: () => known(state),
    async quotes() {
      readShared(state);
      requestIfDue(state);
      const items = known(state);
      // Readers wait for the provider only if there are no fresh prices.
      if (!state.request || (items.length > 0 && !items.some(({ stale }) => stale))) return items;
      await state.request;
      return known(state);
    },
    start() {
      refreshing ??= repeat(
        rules.pageMinutes * 60_000,
        () => refreshPages(state),
        (error) => log.error({ err: error }, 'Rendering pages with new prices failed'),
      );
      void refreshing.runNow();
    },
    stop: () => void refreshing?.stop(),
    wanted() {
      readShared(state);
      requestIfDue(state);
    },
    lead: () => void refreshing?.runNow(),
  };
}

/** Requests prices unless they were requested within the interval. */
function requestIfDue(state: State): void {
  const wait = state.nextRequestAt - state.now();
  // If the wait is longer than the maximum, the clock was set back.
  if (state.request || (wait > 0 && wait <= longestRest + state.everyMs)) return;
  if (state.shared && !state.shared.leads()) {
    state.nextRequestAt = state.now() + state.everyMs;
    state.shared.want();
    return;
  }
  state.request = requestQuotes(state).finally(() => {
    state.request = null;
  });
}

async function requestQuotes(state: State): Promise<void> {
  const { provider, rules, now, everyMs, last } = state;
  try {
    const quotes = await provider.quotes(rules.symbols.map(({ symbol }) => symbol));
    const at = now();
    for (const [symbol, quote] of quotes) last.set(symbol, { ...quote, at });
    state.provided.worked();
    state.failures = 0;
    state.nextRequestAt = at + everyMs;
    await share(state, false);
  } catch (error) {
    state.failures++;
    const rest = error instanceof QuotesUnavailable ? (error.restMs ?? 0) : 0;
    const backOffMs = everyMs * 2 ** Math.min(state.failures - 1, 10);
    state.nextRequestAt = now() + Math.min(longestRest, Math.max(rest, backOffMs));
    // The message names neither the key nor the address.
    const problem = error instanceof QuotesUnavailable ? error.message : (error as Error).name;
    state.provided.failed({ problem }, 'The provider of prices does not respond; the last known prices stay');
  }
}

/** Reads the prices that the node that calls the provider has written. */
function readShared(state: State): void {
  const text = state.shared?.read() ?? null;
  if (text === null || text === state.sharedText) return;
  state.sharedText = text;
  const { quotes, onPages } = JSON.parse(text) as SharedState;
  state.onPages = onPages;
  for (const [symbol, quote] of quotes) {
    if (quote.at >= (state.last.get(symbol)?.at ?? Number.NEGATIVE_INFINITY)) state.last.set(symbol, quote);
    // Another node may have requested them.
    state.nextRequestAt = Math.max(state.nextRequestAt, quote.at + state.everyMs);
  }
}

/** Gives the prices to all nodes of a cluster. */
async function share({ shared, last, onPages, log }: State, changed: boolean): Promise<boolean> {
  const value: SharedState = { quotes: [...last], onPages };
  try {
    await shared?.write(JSON.stringify(value), changed ? [tag.ticker] : []);
    return true;
  } catch (error) {
    log.warn({ problem: (error as Error).message }, "Prices couldn't be given to the other nodes");
    return false;
  }
}

function known(state: State): TickerItem[] {
  readShared(state);
  const { rules, last, now, everyMs } = state;
  return rules.symbols.flatMap(({ symbol, name }) => {
    const quote = last.get(symbol);
    if (!quote) return [];
    const { price, change, percent, at } = quote;
    const changePercent = percentText(percent);
    const stale = now() - at > staleAfter * everyMs;
    return { name, price, change, symbol, changePercent, asOf: new Date(at).toISOString(), stale };
  });
}

async function refreshPages(state: State): Promise<void> {
  if (state.shared && !state.shared.leads()) return;
  readShared(state);
  requestIfDue(state);
  await state.request;
  const newest = JSON.stringify([...state.last].map(([symbol, { price, change }]) => [symbol, price, change]));
  if (newest === state.onPages) return;
  const { onPages } = state;
  state.onPages = newest;
  if (await share(state, true)) state.onChange?.();
  else state.onPages = onPages;
}
