// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { TickerItem } from '../lib/ticker/wire.ts';

const item = (symbol: string, more: Partial<TickerItem> = {}): TickerItem => ({
  name: symbol,
  symbol,
  price: 6740.28,
  change: 35.1,
  changePercent: '(+0.52%)',
  asOf: '2026-11-20T20:41:00.000Z',
  stale: false,
  ...more,
});
const row = (symbol: string, price: string) =>
  `<li data-symbol="${symbol}"><span data-part="price">${price}</span><span data-part="change"></span></li>`;

let answer: () => Promise<Response>;
const asOf = () => document.querySelector('[data-as-of]')?.textContent;
const priceOf = (symbol: string) =>
  document.querySelector(`[data-symbol="${symbol}"] [data-part="price"]`)?.textContent;
const answers = (items: readonly TickerItem[]) => async () => Response.json(items);

/** Opens a page that was stored with these prices at two in New York. */
async function open(prices: Readonly<Record<string, string>> = { SPX: '6,500.00', DJI: '47,000.00' }) {
  const rows = Object.entries(prices).map(([symbol, price]) => row(symbol, price));
  document.body.innerHTML = `<section data-ticker="5000"><div class="strip"><ul>${rows.join('')}</ul></div>
    <p data-as-of="2026-11-20T19:00:00.000Z"></p><div class="keys" hidden><button data-ticker-pause></button></div></section>`;
  await import('./ticker.ts');
  await later(300);
}
const later = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.resetModules();
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'performance'] });
  vi.stubGlobal('matchMedia', () => ({ matches: true }));
  vi.stubGlobal('requestIdleCallback', undefined);
  vi.stubGlobal('fetch', () => answer());
  vi.stubGlobal('CSS', { escape: (text: string) => text });
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      readonly seen: (entries: readonly { isIntersecting: boolean }[]) => void;
      constructor(seen: (entries: readonly { isIntersecting: boolean }[]) => void) {
        this.seen = seen;
      }
      observe(): void {
        this.seen([{ isIntersecting: true }]);
      }
    },
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('says no age while all prices are fresh', async () => {
  answer = answers([item('SPX'), item('DJI')]);
  await open();
  expect([priceOf('SPX'), asOf()]).toEqual(['6,740.28', '']);
});

it('says how old the prices of the page are where none come: no provider, no network, a broken site', async () => {
  answer = answers([]);
  await open();
  expect([priceOf('SPX'), asOf()]).toEqual(['6,500.00', 'As of 2:00 PM EST']);
  answer = () => Promise.reject(new TypeError('Failed to fetch'));
  await later(76_000);
  expect(asOf()).toBe('As of 2:00 PM EST');
  answer = answers([item('SPX'), item('DJI')]);
  await later(76_000);
  expect(asOf()).toBe('');
  // From now on it is these that are known.
  answer = async () => new Response('<h1>Bad gateway</h1>', { status: 502 });
  await later(76_000);
  expect([priceOf('SPX'), asOf()]).toEqual(['6,740.28', 'As of 3:41 PM EST']);
});

it('says how old the one price is that nothing came for', async () => {
  answer = answers([item('SPX')]);
  await open();
  expect([priceOf('SPX'), priceOf('DJI'), asOf()]).toEqual(['6,740.28', '47,000.00', 'As of 2:00 PM EST']);
  answer = answers([item('SPX', { stale: true, asOf: '2026-11-20T18:30:00.000Z' })]);
  await later(76_000);
  expect(asOf()).toBe('As of 1:30 PM EST');
});

it('says nothing where there has never been a price', async () => {
  answer = answers([]);
  await open({ SPX: '', DJI: '' });
  expect(asOf()).toBe('');
});
