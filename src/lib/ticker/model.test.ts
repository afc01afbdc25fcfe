import { describe, expect, it } from 'vitest';
import {
  asOfText,
  changeText,
  directionOf,
  percentText,
  priceText,
  rotationStyle,
  staleSince,
  type TickerItem,
  tickerRows,
} from './model.ts';

describe('prices in the ticker', () => {
  it.each([
    [47_112.8, -12.345, '47,112.80', '−12.35', 'down'],
    [1.1583, 0.0012, '1.1583', '+0.0012', 'up'],
    [96.2, 0.001, '96.20', '0.00', 'same'],
    [96.2, 0, '96.20', '0.00', 'same'],
  ] as const)(
    'of %d with a change of %d have the right decimals, sign and direction',
    (price, change, written, changed, direction) => {
      expect(priceText(price)).toBe(written);
      expect(changeText(change, price)).toBe(changed);
      expect(directionOf(change, price)).toBe(direction);
    },
  );

  it('have their percentage change in parentheses, with its sign', () => {
    expect([0.5171, -0.5171, 0].map(percentText)).toEqual(['(+0.52%)', '(−0.52%)', '(0.00%)']);
  });
});

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
  it('exist for every symbol, with or without a price', () => {
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

  it('show the time of the oldest stale price, and none while all are fresh', () => {
    expect(staleSince([item({})])).toBeNull();
    const old = '2026-11-20T19:00:00.000Z';
    expect(staleSince([item({ stale: true }), item({ stale: true, asOf: old }), item({ asOf: '2000-01-01' })])).toBe(
      old,
    );
    expect(asOfText(old)).toBe('As of 2:00 p.m. ET');
  });
});

describe('the ticker strip’s animation', () => {
  it('shows each price for its time, and stops at the last', () => {
    const style = rotationStyle(2, 5000);
    expect(style).toContain('animation:ticker 10000ms infinite');
    expect(style).toContain('0%,45%{transform:translateX(max(0*var(--step),min(0px,100cqi - 2*var(--step))))}');
    expect(style).toContain('50%,95%{transform:translateX(max(-1*var(--step),min(0px,100cqi - 2*var(--step))))}');
    expect(style).toContain('prefers-reduced-motion:no-preference');
  });
});
