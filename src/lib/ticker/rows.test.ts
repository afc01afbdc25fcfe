import { describe, expect, it } from 'vitest';
import { asOfText, staleSince, tickerRows } from './rows.ts';
import type { TickerItem } from './wire.ts';

const symbols = [
  { symbol: 'SPX', name: 'S&P 500' },
  { symbol: 'EUR/USD', name: 'Euro' },
];
const item = (part: Partial<TickerItem>): TickerItem => ({
  name: 'S&P 500',
  symbol: 'SPX',
  price: 6740.28,
  change: -35.1,
  changePercent: '(−0.52%)',
  asOf: '2026-11-20T20:41:00.000Z',
  stale: false,
  ...part,
});

describe('rows of the ticker', () => {
  it('stand for every symbol, with a price or without', () => {
    expect(tickerRows(symbols, [item({})])).toEqual([
      {
        symbol: 'SPX',
        name: 'S&P 500',
        price: '6,740.28',
        direction: 'down',
        sign: '▼',
        spoken: 'down',
        change: '−35.10 (−0.52%)',
      },
      {
        symbol: 'EUR/USD',
        name: 'Euro',
        price: '',
        direction: 'same',
        sign: '',
        spoken: 'no price yet',
        change: '',
      },
    ]);
  });

  it('say since when the oldest of stale prices has been true, and nothing while all are fresh', () => {
    expect(staleSince([item({})])).toBeNull();
    const old = '2026-11-20T19:00:00.000Z';
    expect(staleSince([item({ stale: true }), item({ stale: true, asOf: old }), item({ asOf: '2000-01-01' })])).toBe(
      old,
    );
    expect(asOfText(old)).toBe('As of 2:00 PM EST');
  });
});
