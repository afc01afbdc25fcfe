/** The ticker's prices, with the sandbox's provider and with one made of promises. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Quotes, startQuotes } from '../../../sandbox/quotes/quotes.ts';
import { publication } from '../../publication.ts';
import { type Logger, silent } from '../logging.ts';
import { type Quote, QuotesUnavailable } from './model.ts';
import { createTicker } from './ticker.server.ts';
import { twelveData } from './twelve-data.server.ts';

const rules = publication.ticker;
const symbols = rules.symbols.map(({ symbol }) => symbol);

describe('the Twelve Data client', () => {
  let sandbox: Quotes;
  beforeAll(async () => {
    // A random step is now and then too small for a price of two places.
    sandbox = await startQuotes({ random: () => 0.9 });
  });
  afterAll(() => sandbox.stop());
  beforeEach(() => fail('none'));

  const fail = (mode: string) =>
    fetch(`${sandbox.access.url}/_/failure`, { method: 'PUT', body: JSON.stringify({ mode }) });

  it('gets all prices in one request, and also reads a response with a single price', async () => {
    const provider = twelveData(sandbox.access);
    const quotes = await provider.quotes(symbols);
    expect([...quotes.keys()]).toEqual(symbols);
    for (const { price, change, percent } of quotes.values()) {
      expect(price).toBeGreaterThan(0);
      expect(percent).toBeCloseTo((change / (price - change)) * 100, 1);
    }
    const alone = await provider.quotes(['EUR/USD']);
    expect(alone.get('EUR/USD')?.price).toBeGreaterThan(0.5);
    // The price moves from its last value.
    const again = await provider.quotes(symbols);
    expect(again.get('SPX')).not.toEqual(quotes.get('SPX'));
    expect(Math.abs((again.get('SPX')?.price ?? 0) / (quotes.get('SPX')?.price ?? 1) - 1)).toBeLessThan(0.005);
  });

  it('omits an unknown symbol', async () => {
    await fail('partial');
    const quotes = await twelveData(sandbox.access).quotes(symbols);
    expect([...quotes.keys()]).toEqual(symbols.slice(1));
  });

  it.each([
    ['down', /503/, null],
    ['malformed', /isn't JSON/, null],
    ['limited', /429/, 60_000],
    ['hang', /in time/, null],
  ])('reports the problem when the provider is “%s”', async (mode, problem, restMs) => {
    await fail(mode);
    // Only what never answers is waited for until the limit: a busy machine may take longer for an answer.
    const asked = twelveData(sandbox.access, mode === 'hang' ? 200 : 20_000).quotes(symbols);
    const error = (await asked.catch((cause: unknown) => cause)) as QuotesUnavailable;
    expect(error).toBeInstanceOf(QuotesUnavailable);
    expect(error).toMatchObject({ message: expect.stringMatching(problem), restMs });
    expect(error.message).not.toContain(sandbox.access.key);
  });

  it('asks for a one-minute pause when a 200 response says that credits are used up', async () => {
    const said = { code: 429, message: 'You have run out of API credits.', status: 'error' };
    const fetched = vi.spyOn(globalThis, 'fetch').mockResolvedValueOnce(Response.json(said));
    const asked = twelveData(sandbox.access).quotes(symbols);
    await expect(asked).rejects.toMatchObject({ name: 'QuotesUnavailable', restMs: 60_000 });
    fetched.mockRestore();
  });

  it('reports a wrong key and an unreachable provider', async () => {
    const wrong = twelveData({ ...sandbox.access, key: 'wrong' }).quotes(symbols);
    await expect(wrong).rejects.toThrow(/401/);
    const unavailable = twelveData({ url: 'http://127.0.0.1:9', key: 'x' }).quotes(symbols);
    await expect(unavailable).rejects.toBeInstanceOf(QuotesUnavailable);
  });
});

describe('the ticker', () => {
  function open(log: Logger = silent) {
    const clock = { now: Date.UTC(2026, 10, 20, 20) };
    let answer: () => Promise<ReadonlyMap<string, Quote>> = async () => new Map();
    let asked = 0;
    const provider = {
      quotes: () => {
        asked++;
        return answer();
      },
    };
    const ticker = createTicker({ provider, rules, log, now: () => clock.now });
    const prices = (price: number) => async () =>
      new Map(symbols.map((symbol) => [symbol, { price, change: -0.5, percent: -0.517 }]));
    return {
      ticker,
      clock,
      prices,
      asked: () => asked,
      answers: (next: typeof answer) => {
        answer = next;
      },
    };
  }

  it('queries the provider once per interval for fifty readers', async () => {
    const { ticker, answers, prices, asked, clock } = open();
    answers(prices(96.2));
    const all = await Promise.all(Array.from({ length: 50 }, () => ticker.quotes()));
    expect(asked()).toBe(1);
    expect(all.every((items) => items.length === symbols.length)).toBe(true);
    clock.now += rules.everySeconds * 1000 - 1;
    await ticker.quotes();
    expect(asked()).toBe(1);
    clock.now += 1;
    await ticker.quotes();
    expect(asked()).toBe(2);
  });

  it('queries again after the clock was set back', async () => {
    const { ticker, answers, prices, asked, clock } = open();
    answers(prices(96.2));
    await ticker.quotes();
    clock.now -= 86_400_000;
    await ticker.quotes();
    expect(asked()).toBe(2);
  });

  it('returns price, change and percentage in the API’s format', async () => {
    const { ticker, answers, prices, clock } = open();
    answers(prices(96.2));
    const [first] = await ticker.quotes();
    expect(first).toEqual({
      name: 'S&P 500',
      symbol: 'SPX',
      price: 96.2,
      change: -0.5,
      changePercent: '(−0.52%)',
      asOf: new Date(clock.now).toISOString(),
      stale: false,
    });
  });

  it('keeps the last prices as stale while the provider is down, and tries less and less often', async () => {
    const { ticker, answers, prices, clock, asked } = open();
    answers(prices(96.2));
    await ticker.quotes();
    const asOf = new Date(clock.now).toISOString();
    answers(() => Promise.reject(new QuotesUnavailable('it answers 503')));
    clock.now += 60_000;
    expect((await ticker.quotes())[0]).toMatchObject({ stale: false, asOf });
    clock.now += 120_000;
    expect((await ticker.quotes())[0]).toMatchObject({ price: 96.2, stale: true, asOf });
    const before = asked();
    for (let minute = 0; minute < 60; minute++) {
      clock.now += 60_000;
      await ticker.quotes();
    }
    expect(asked() - before).toBeLessThan(10);
    answers(prices(97));
    clock.now += 600_000;
    // A reader waits for new prices instead of getting stale ones.
    expect((await ticker.quotes())[0]).toMatchObject({ price: 97, stale: false });
  });

  it('logs one warning per outage', async () => {
    const warn = vi.fn();
    const { ticker, answers, prices, clock } = open({ ...silent, warn });
    for (const outages of [1, 2]) {
      answers(() => Promise.reject(new QuotesUnavailable('it answers 503')));
      for (let times = 0; times < 3; times++) {
        clock.now += 600_000;
        await ticker.quotes();
      }
      expect(warn).toHaveBeenCalledTimes(outages);
      answers(prices(96.2));
      clock.now += 600_000;
      await ticker.quotes();
    }
  });

  it('keeps the last price of a symbol that the provider omits', async () => {
    const { ticker, answers, prices, clock } = open();
    answers(prices(96.2));
    await ticker.quotes();
    answers(async () => new Map([...(await prices(97)())].slice(1)));
    clock.now += 60_000;
    await ticker.quotes();
    await vi.waitFor(() => expect(ticker.known()[1]).toMatchObject({ price: 97 }));
    expect(ticker.known()[0]).toMatchObject({ price: 96.2, stale: false });
  });

  it('returns no prices if the provider has never responded', async () => {
    const { ticker, answers } = open();
    answers(() => Promise.reject(new Error('anything')));
    expect(ticker.known()).toEqual([]);
    expect(await ticker.quotes()).toEqual([]);
  });

  it('does not query the provider during the pause that it asked for', async () => {
    const { ticker, answers, clock, asked } = open();
    answers(() => Promise.reject(new QuotesUnavailable('it answers 429', 300_000)));
    await ticker.quotes();
    clock.now += 299_999;
    await ticker.quotes();
    expect(asked()).toBe(1);
    clock.now += 1;
    await ticker.quotes();
    expect(asked()).toBe(2);
  });

  it('causes pages to be rendered within five minutes of new prices, and not if prices are unchanged', async () => {
    vi.useFakeTimers();
    const onChange = vi.fn();
    let price = 96.2;
    const provider = { quotes: async () => new Map([['SPX', { price, change: 0, percent: 0 }]]) };
    const running = createTicker({ provider, rules, log: silent, onChange });
    running.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(onChange).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(onChange).toHaveBeenCalledTimes(1);
    price = 97;
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(onChange).toHaveBeenCalledTimes(2);
    expect(running.known()[0]).toMatchObject({ price: 97, stale: false });
    running.stop();
    price = 98;
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(onChange).toHaveBeenCalledTimes(2);
    vi.useRealTimers();
  });
});
