/** The market ticker: formats prices identically on the server and in the browser, and defines its service as pages see it. */

import { publication } from '../../publication.ts';

/** What `GET /api/v1/stocks/quote` responds with: an array, in the order of the publication. Empty if there is no ticker. */
export interface TickerItem {
  /** Spec section 3, "Market ticker item". */
  readonly name: string;
  readonly price: number;
  /** Since the last closing price, in the unit of `price`. */
  readonly change: number;
  /** With its sign and in parentheses, such as `(+0.52%)`. */
  readonly changePercent: string;
  /** An addition to the specification: the provider's symbol. */
  readonly symbol: string;
  /** When the provider gave the price, UTC. */
  readonly asOf: string;
  /** Whether the price is older than it should be, because the provider is unavailable. */
  readonly stale: boolean;
}

/** One price of a provider. */
export interface Quote {
  readonly price: number;
  /** Since the last closing price. */
  readonly change: number;
  readonly percent: number;
}

/** A source of prices: one for each vendor. */
export interface QuoteProvider {
  /** Prices by symbol, without the symbols that the provider doesn't know. @throws QuotesUnavailable */
  quotes(symbols: readonly string[]): Promise<ReadonlyMap<string, Quote>>;
}

/** The provider didn't give prices. */
export class QuotesUnavailable extends Error {
  /** Milliseconds to wait before the next request; `null`: the provider doesn't say. */
  readonly restMs: number | null;

  constructor(message: string, restMs: number | null = null) {
    super(message);
    this.name = 'QuotesUnavailable';
    this.restMs = restMs;
  }
}

interface NamedSymbol {
  readonly symbol: string;
  readonly name: string;
}

export interface TickerRules {
  readonly symbols: readonly NamedSymbol[];
  /** Seconds between two requests to the provider while readers ask for prices. */
  readonly everySeconds: number;
  /** Minutes after which pages are rendered again if prices have changed. */
  readonly pageMinutes: number;
}

/** The prices of the ticker as routes and pages see them. */
export interface Ticker {
  /** The newest prices; the last known ones, with their time, while the provider is unavailable. Never rejects. */
  quotes(): Promise<readonly TickerItem[]>;
  /** The prices that are known without a request to the provider. */
  known(): readonly TickerItem[];
}

const digits = (places: number) =>
  new Intl.NumberFormat('en-US', { minimumFractionDigits: places, maximumFractionDigits: places });
const formats = { 2: digits(2), 4: digits(4) };

/** Exchange rates have four places, everything else two. */
const placesOf = (price: number): 2 | 4 => (Math.abs(price) < 10 ? 4 : 2);

/** A price in its own unit. */
export const priceText = (price: number): string => formats[placesOf(price)].format(price);

/** A change with its sign; the minus is U+2212 and not a hyphen. */
export function changeText(change: number, price: number): string {
  const text = formats[placesOf(price)].format(Math.abs(change));
  return /[1-9]/.test(text) ? `${change < 0 ? '−' : '+'}${text}` : text;
}

/** `(+0.52%)` (spec section 3, "changePercent"). @param percent hundredths */
export const percentText = (percent: number): string => `(${changeText(percent, 100)}%)`;

export type Direction = 'up' | 'down' | 'same';

/** Direction of a change as it is displayed. */
export const directionOf = (change: number, price: number): Direction =>
  /[1-9]/.test(changeText(change, price)) ? (change < 0 ? 'down' : 'up') : 'same';

export interface TickerRow {
  readonly symbol: string;
  readonly name: string;
  readonly price: string;
  readonly direction: Direction;
  /** A triangle, because not every reader can see the color. */
  readonly sign: string;
  /** The direction as a word, for screen readers. */
  readonly spoken: string;
  /** Change and percentage. */
  readonly change: string;
}

const signs: Readonly<Record<Direction, readonly [sign: string, spoken: string]>> = {
  up: ['▲', 'up'],
  down: ['▼', 'down'],
  same: ['', 'unchanged'],
};

/** A row for every symbol, with or without a price, so that the strip has its size from the start. */
export function tickerRows(symbols: readonly NamedSymbol[], items: readonly TickerItem[]): TickerRow[] {
  const bySymbol = new Map(items.map((item) => [item.symbol, item]));
  return symbols.map(({ symbol, name }) => {
    const item = bySymbol.get(symbol);
    // Styles show a dash in place of the price.
    if (!item) return { symbol, name, price: '', direction: 'same', sign: '', spoken: 'no price yet', change: '' };
    const direction = directionOf(item.change, item.price);
    const [sign, spoken] = signs[direction];
    const change = `${changeText(item.change, item.price)} ${item.changePercent}`;
    return { symbol, name, price: priceText(item.price), direction, sign, spoken, change };
  });
}

/** Time of the oldest stale price; `null` while none is stale. */
export const staleSince = (items: readonly TickerItem[]): string | null =>
  items.reduce<string | null>(
    (oldest, { stale, asOf }) => (stale && (oldest === null || asOf < oldest) ? asOf : oldest),
    null,
  );

const hour = new Intl.DateTimeFormat('en-US', {
  timeZone: publication.timeZone,
  hour: 'numeric',
  minute: '2-digit',
});

/** Time of prices in the paper's zone, as bylines write it: `As of 3:41 p.m. ET`. */
export const asOfText = (instant: string): string =>
  `As of ${hour.format(new Date(instant)).replace('AM', 'a.m.').replace('PM', 'p.m.')} ${publication.timeZoneLabel}`;

/**
 * Styles that rotate the ticker until its island runs: each price is shown for `ms` milliseconds. The strip moves by `--step`
 * (Ticker.module.css), at most to its last price.
 */
export function rotationStyle(count: number, ms: number): string {
  const percent = (position: number): string => `${Number(((position / count) * 100).toFixed(2))}%`;
  const frames = Array.from({ length: count }, (_, at) => {
    const shift = `max(${-at}*var(--step),min(0px,100cqi - ${count}*var(--step)))`;
    return `${percent(at)},${percent(at + 0.9)}{transform:translateX(${shift})}`;
  });
  return (
    `@keyframes ticker{${frames.join('')}}` +
    '@media (scripting:enabled) and (prefers-reduced-motion:no-preference){' +
    `[data-ticker]:not([data-running]) ul{animation:ticker ${count * ms}ms infinite}` +
    '[data-ticker]:is(:hover,:focus-within) ul{animation-play-state:paused}}'
  );
}
