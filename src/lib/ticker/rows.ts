/** How a price stands in the ticker, the same on the server and in the browser. */
import { changeText, type Direction, directionOf, priceText } from './format.ts';
import type { TickerItem } from './wire.ts';

export interface TickerRow {
  readonly symbol: string;
  readonly name: string;
  readonly price: string;
  readonly direction: Direction;
  /** A triangle; colours alone say nothing to many. */
  readonly sign: string;
  /** The same in a word. */
  readonly spoken: string;
  /** Change and percentage. */
  readonly change: string;
}

const signs: Readonly<Record<Direction, readonly [sign: string, spoken: string]>> = {
  up: ['▲', 'up'],
  down: ['▼', 'down'],
  same: ['', 'unchanged'],
};

export type TickerFace = Omit<TickerRow, 'symbol' | 'name'>;

/** A price as it is written. */
export function faceOf({ price, change, changePercent }: TickerItem): TickerFace {
  const direction = directionOf(change, price);
  const [sign, spoken] = signs[direction];
  return { price: priceText(price), direction, sign, spoken, change: `${changeText(change, price)} ${changePercent}` };
}

/** The dash in place of a price is the style's. */
const unknown: TickerFace = { price: '', direction: 'same', sign: '', spoken: 'no price yet', change: '' };

/** A row for every symbol, whether its price is known or not: the strip has its size from the start. */
export function tickerRows(
  symbols: readonly { readonly symbol: string; readonly name: string }[],
  items: readonly TickerItem[],
): TickerRow[] {
  const bySymbol = new Map(items.map((item) => [item.symbol, item]));
  return symbols.map(({ symbol, name }) => {
    const item = bySymbol.get(symbol);
    return { symbol, name, ...(item ? faceOf(item) : unknown) };
  });
}

/** When the oldest of the prices was true; `null` while all are fresh. */
export const staleSince = (items: readonly TickerItem[]): string | null =>
  items.reduce<string | null>(
    (oldest, { stale, asOf }) => (stale && (oldest === null || asOf < oldest) ? asOf : oldest),
    null,
  );

const hour = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
});

/** When prices were true, by New York's clock: `As of 3:41 PM EST`. */
export const asOfText = (instant: string): string => `As of ${hour.format(new Date(instant))}`;
