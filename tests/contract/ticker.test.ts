/** The market ticker over HTTP, on the built site: with prices, with a provider that returns none, and without a provider. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Quotes, startQuotes } from '../../sandbox/quotes/quotes.ts';
import { silent } from '../../src/lib/logging.ts';
import { priceText, type TickerItem } from '../../src/lib/ticker/model.ts';
import { openTicker, type RunningTicker } from '../../src/lib/ticker/ticker.server.ts';
import { publication } from '../../src/publication.ts';
import { type AccountSite, startAccountSite } from '../fixtures/account-site.ts';

let provider: Quotes;
let ticker: RunningTicker | null;
let open: AccountSite;
let closed: AccountSite;
beforeAll(async () => {
  provider = await startQuotes();
  // Prices are as old at the end of the tests as at their start, so that they are requested once.
  const now = Date.now();
  ticker = openTicker(provider.access, { rules: publication.ticker, log: silent, now: () => now });
  open = await startAccountSite({ services: { ticker } });
  closed = await startAccountSite();
});
afterAll(async () => {
  await open.stop();
  await closed.stop();
  await provider.stop();
});

const tickerItem = z.strictObject({
  name: z.string(),
  price: z.number(),
  change: z.number(),
  changePercent: z.string(),
  symbol: z.string(),
  asOf: z.iso.datetime(),
  stale: z.boolean(),
} satisfies Record<keyof TickerItem, z.ZodType>);
const names = publication.ticker.symbols.map(({ name }) => name);
const pages = ['/', '/section/politics'];

describe('the ticker with a price provider', () => {
  it('serves prices that every cache may keep for 15 seconds', async () => {
    const answer = await open.browser().ask('/api/v1/stocks/quote');
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('public, max-age=15');
    expect(answer.cookies).toEqual([]);
    const items = tickerItem.array().parse(answer.json());
    expect(items.map(({ name }) => name)).toEqual(names);
    for (const { changePercent, change } of items) {
      expect(changePercent).toMatch(/^\([+−]?\d+\.\d\d%\)$/);
      if (Math.abs(change) > 1) expect(changePercent).toContain(change > 0 ? '+' : '−');
    }
    expect(answer.text).not.toContain(provider.access.key);
  });

  it.each(pages)('shows every symbol with its price on %s, without JavaScript', async (path) => {
    const prices = await ticker?.quotes();
    const { text } = await open.browser().ask(path);
    for (const name of names) expect(text).toContain(`>${name.replace('&', '&amp;')}</span>`);
    expect(prices).toHaveLength(names.length);
    for (const { price } of prices ?? []) expect(text).toContain(`>${priceText(price)}</span>`);
    expect(text).not.toContain(provider.access.url);
  });
});

describe('the ticker without a price provider', () => {
  it.each(pages)('is not on %s', async (path) => {
    const { text } = await closed.browser().ask(path);
    expect(text).not.toMatch(/data-ticker|class="ticker/);
  });

  it('serves an empty list', async () => {
    const answer = await closed.browser().ask('/api/v1/stocks/quote');
    expect([answer.status, answer.json()]).toEqual([200, []]);
  });
});
