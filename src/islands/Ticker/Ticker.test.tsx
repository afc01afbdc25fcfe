// @vitest-environment jsdom
import { act } from 'react';
import { renderToString } from 'react-dom/server';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { TickerItem } from '../../lib/ticker/model.ts';
import { button, click, type Drawn, draw } from '../shared/testing.tsx';
import Ticker from './Ticker.island.tsx';

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
/** The prices that the page was rendered with, at two o'clock in New York. */
const old = (symbol: string, price: number) => item(symbol, { price, asOf: '2026-11-20T19:00:00.000Z' });

let drawn: Drawn;
let answer: () => Promise<Response>;
const scrollTo = vi.fn();
const answers = (items: readonly TickerItem[]) => async () => Response.json(items);
const rows = () => [...drawn.host.querySelectorAll('li')].map(({ textContent }) => textContent);
const later = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

async function open(items: readonly TickerItem[] = [old('SPX', 6500), old('DJI', 47_000)]) {
  drawn = await draw(<Ticker items={items} />);
  await later(300);
}

beforeEach(() => {
  scrollTo.mockClear();
  // jsdom doesn't implement scrolling.
  Element.prototype.scrollTo = scrollTo;
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearInterval', 'performance'] });
  vi.stubGlobal('matchMedia', () => ({ matches: false }));
  vi.stubGlobal('fetch', () => answer());
  vi.stubGlobal(
    'DOMMatrix',
    class {
      readonly m41 = -20;
    },
  );
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
      disconnect(): void {}
    },
  );
});
afterEach(async () => {
  await drawn?.remove();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('the server renders the ticker with the prices of the page and their time', () => {
  const html = renderToString(<Ticker items={[old('SPX', 6500)]} />);
  expect(html).toContain('6,500.00');
  expect(html).toContain('As of 2:00 p.m. ET');
  expect(html).toContain('no price yet');
});

it('the ticker fetches prices at its start and every minute, and shows no time while all are fresh', async () => {
  answer = answers([item('SPX'), item('DJI')]);
  await open();
  expect(rows()[0]).toContain('6,740.28');
  expect(drawn.host.textContent).not.toContain('As of');
  answer = answers([item('SPX', { price: 1 }), item('DJI')]);
  await later(76_000);
  expect(rows()[0]).toContain('1.0000');
});

it('the ticker shows how old its prices are when none arrive: no provider, no network, a broken site', async () => {
  answer = answers([]);
  await open();
  expect(rows()[0]).toContain('6,500.00');
  expect(drawn.host.textContent).toContain('As of 2:00 p.m. ET');
  answer = () => Promise.reject(new TypeError('Failed to fetch'));
  await later(76_000);
  expect(drawn.host.textContent).toContain('As of 2:00 p.m. ET');
  answer = answers([item('SPX'), item('DJI')]);
  await later(76_000);
  expect(drawn.host.textContent).not.toContain('As of');
  answer = async () => new Response('<h1>Bad gateway</h1>', { status: 502 });
  await later(76_000);
  expect(rows()[0]).toContain('6,740.28');
  expect(drawn.host.textContent).toContain('As of 3:41 p.m. ET');
});

it('the ticker shows how old a single price is that is missing or stale', async () => {
  answer = answers([item('SPX')]);
  await open();
  expect(rows().slice(0, 2)).toEqual([expect.stringContaining('6,740.28'), expect.stringContaining('47,000.00')]);
  expect(drawn.host.textContent).toContain('As of 2:00 p.m. ET');
  answer = answers([item('SPX', { stale: true, asOf: '2026-11-20T18:30:00.000Z' })]);
  await later(76_000);
  expect(drawn.host.textContent).toContain('As of 1:30 p.m. ET');
});

it('the ticker shows no time when there has never been a price', async () => {
  answer = answers([]);
  await open([]);
  expect(drawn.host.textContent).not.toContain('As of');
});

it('the ticker continues from its CSS position, moves by itself, and stops when paused', async () => {
  answer = answers([]);
  await open();
  const strip = drawn.host.querySelector('[role="group"]') as HTMLElement;
  expect(strip.scrollLeft).toBe(20);
  await later(5000);
  expect(scrollTo).toHaveBeenCalledOnce();
  await click(button('Pause the ticker'));
  await later(20_000);
  expect(scrollTo).toHaveBeenCalledOnce();
});
